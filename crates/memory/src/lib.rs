//! Signpost's ports in memory: use cases run on them in microseconds, without a file, a socket or a real clock.
//!
//! They keep every promise of the ports' documentation except durability: committed data does not survive the process. The
//! contract suites run on them as on every other adapter. Unlike a database, tests can control them: set the time, choose
//! random bytes, and make calls fail.
//!
//! # Using them in tests
//!
//! [`InMemory`] holds the fakes and creates an [`Application`](signpost_app::Application) on them, on which every use case
//! runs. This example issues a key, admits a request with it, and creates a redirect:
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! use signpost_app::accounts::{self, CreateAccount};
//! use signpost_app::idempotency::Idempotency;
//! use signpost_app::visits::{self, Resolution};
//! use signpost_app::{Operator, admission, keys, links};
//! use signpost_domain::{
//!     Change, Email, Hostname, Name, PlanName, RedirectContent, RedirectRequest, Slug, Submitted, TargetUrl,
//! };
//! use signpost_memory::InMemory;
//!
//! let memory = InMemory::default();
//! let app = memory.application();
//!
//! // As the operator: create an account and a key.
//! let command = CreateAccount {
//!     email: Email::parse("ada@example.com").unwrap(),
//!     name: None,
//!     plan: PlanName::parse("agency").unwrap(),
//! };
//! let account = accounts::create(&app, &Operator::COMMAND, command).await.unwrap();
//! let (_record, secret) = keys::issue(&app, account.id, None).await.unwrap();
//!
//! // Each request starts with admission: the key identifies the caller, and costs one request of the budget.
//! let address = "203.0.113.9".parse().unwrap();
//! let admitted = admission::admit(&app, Some(&secret), address, None).await.unwrap();
//! assert_eq!(admitted.rate_limits.remaining.minute, 119);
//!
//! // As the caller: create a redirect.
//! let slug = Slug::parse("autumn-sale").unwrap();
//! let target = TargetUrl::parse("https://example.com/sale").unwrap();
//! let request = RedirectRequest {
//!     slug: Change::Set(slug.clone()),
//!     ..RedirectRequest::new(Name::parse("Autumn sale").unwrap(), target.clone())
//! };
//! let request = Submitted::valid(request);
//! let created = links::create::<RedirectContent>(&app, &admitted.caller, request, Idempotency::disabled());
//! let url = created.await.unwrap().redirect.placement.url(&app.system, app.custom_domain_scheme);
//! assert_eq!(url.as_deref(), Some("https://go.example.com/autumn-sale"));
//!
//! // As a visitor: open it.
//! let address = visits::address_of(&app, Hostname::parse("go.example.com").unwrap(), Some(slug));
//! let resolved = visits::resolve(&app, address).await.unwrap();
//! assert_eq!(resolved.resolution, Resolution::Redirect(target));
//! # });
//! ```
//!
//! # Injecting failures
//!
//! [`MemoryStore::faults`], [`MemoryQuotaStore::set_unavailable`] and [`SeededRandomness::set_unavailable`] make calls fail.
//! [`MemoryClickStore`] can also delay answers. [`SeededRandomness::queue`] makes a slug repeat. [`FakeDns`] fails, waits or
//! panics by the name that is looked up. [`FakeCertificateAuthority`] refuses, is slow, loses its answers or forgets its orders.
//! [`FakeIdentityProvider`] fails, and holds answers back.

mod account_writes;
mod agents;
mod answers;
mod blocklist;
mod bots;
mod certificate_authority;
mod certificate_work;
mod certificates;
mod change_log;
mod click_counting;
mod click_credits;
mod click_store;
mod clicks;
mod clock;
mod countries;
mod custom_domain_writes;
mod custom_domains;
mod dns;
mod domain_checks;
mod explainer;
mod faults;
mod group_writes;
mod identities;
mod identity_provider;
mod ids;
mod in_memory;
mod leases;
mod link_passwords;
mod link_reads;
mod link_writes;
mod node_reports;
mod passwords;
mod people;
mod people_upkeep;
mod people_writes;
mod pixel_writes;
mod published_links;
mod quota;
mod randomness;
mod reads;
mod sealed_secrets;
mod sealer;
mod state;
mod store;
mod tag_writes;
mod unit_of_work;

pub use agents::FixedAgents;
pub use blocklist::FixedBlocklist;
pub use bots::FixedBots;
pub use certificate_authority::{AuthorityCall, FakeCertificateAuthority, HeldAuthority};
pub use click_store::{HeldAnswers, MemoryClickStore};
pub use clicks::{KeptClick, KeptClicks};
pub use clock::ManualClock;
pub use countries::FixedCountries;
pub use dns::{FakeDns, HeldLookups};
pub use explainer::FakeExplainer;
pub use faults::{Fault, Faults, Step};
pub use identity_provider::{FakeIdentityProvider, SentRequest};
pub use ids::SequentialIds;
pub use in_memory::InMemory;
pub use link_reads::{HeldLinkReads, LinkReadGate};
pub use passwords::PlainPasswords;
pub use quota::MemoryQuotaStore;
pub use randomness::SeededRandomness;
pub use sealer::MarkingSealer;
pub use store::MemoryStore;
