//! What the use cases need from the world, as traits.
//!
//! # Adding one
//!
//! A port speaks in domain types and says what a use case needs, not what a table offers. Absence is
//! `Ok(None)` or `Ok(false)`; whether that is a 404 or an empty list is the use case's business. What a store
//! *decided* (an address is taken, a limit is reached) is a variant of the method's own error, apart from what
//! *broke* ([`StoreError`]). Every obligation that the docs of a method state has a case in the contract suite
//! of the port, which runs against every implementation, the in-memory one included. Write the case first.
//!
//! Every method that touches what an account owns takes the [`AccountId`](signpost_domain::AccountId) and
//! must not see anything of another account.

pub mod accounts;
pub mod change_log;
pub mod click_store;
pub mod clicks;
pub mod clock;
pub mod country_lookup;
pub mod custom_domains;
pub mod dns_provider;
pub mod domain_schedule;
pub mod groups;
pub mod id_source;
pub mod leases;
pub mod links;
pub mod pixels;
pub mod published_links;
pub mod quota_store;
pub mod randomness;
pub mod remembered_answers;
pub mod room_for_answers;
pub mod store;
pub mod store_error;
pub mod target_blocklist;

pub use accounts::{AccountReads, AccountWrites, InsertAccountError, KeyHolder};
pub use change_log::{
    Affected, ChangeId, ChangeLog, ChangePosition, ChangesMade, LoggedChange, ReadChanges, VisibleChange,
};
pub use click_store::{Appended, ClickStore, EncodedClicks, Upkeep};
pub use clicks::{Click, ClickBatch, ClickKind, ClickSink};
pub use clock::Clock;
pub use country_lookup::{CountryLookup, NoCountries};
pub use custom_domains::{
    CHECKS_LEFT_ALONE_FOR, Claims, ConcludedCheck, CustomDomainReads, CustomDomainWrites, DomainChecks,
    DueCheck, InsertCustomDomainError, LinksOf, MAX_CLAIMS_OF_A_CHECK, UpdateCustomDomainError,
};
pub use dns_provider::{DnsProvider, DnsUnavailable};
pub use domain_schedule::{CLAIM_OF_A_CHECK, CheckSchedule, ScheduledDomain};
pub use groups::{GroupReads, GroupWrites, InsertGroupError};
pub use id_source::IdSource;
pub use leases::{LeaseHolder, Leases};
pub use links::{InsertLinksError, Insertion, LinkReads, LinkWrites, UpdateLinkError};
pub use pixels::{InsertPixelError, PixelReads, PixelWrites};
pub use published_links::{PublishedContent, PublishedLanding, PublishedLink, PublishedRedirect};
pub use quota_store::{CountId, CountedElsewhere, MergingQuotaStore, QuotaStore, SharedQuotaStore};
pub use randomness::{Randomness, RandomnessUnavailable};
pub use remembered_answers::{
    ANSWERS_KEPT, AnswerReads, AnswerWrites, RememberedAnswer, RememberedRequest, RequestFingerprint,
};
pub use room_for_answers::{
    ANSWERS_KEPT_AT_LEAST, ROOM_FOR_ANSWERS, Remembering, RoomForAnswers, SizedAnswer,
};
pub use store::{SearchUpkeep, Store, UnitOfWork};
pub use store_error::StoreError;
pub use target_blocklist::TargetBlocklist;
