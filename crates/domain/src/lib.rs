//! Signpost's entities and rules: no I/O, no clock, no randomness, no framework. Time and random bytes are
//! arguments, so any tool can use the rules, and a test takes a millisecond.
//!
//! Values are parsed once into types that are always valid. Mistakes of a caller are [`Violations`] (one for
//! each field) or a [`Refusal`] (of the operation as a whole).
//!
//! # Features
//!
//! All features are on by default. A tool that checks slugs, targets, hostnames and the states of custom domains needs none
//! of them, and then builds fewer than 30 crates: `examples/link-checker` is such a tool.
//!
//! | feature | what it adds | what it needs |
//! | --- | --- | --- |
//! | `analytics` | [`analytics`]: clicks, questions about them, time zones | `jiff` with all time zones |
//! | `api-keys` | [`ApiKey`] and its secret | hashes and checksums |
//! | `json` | landing pages, what links do, and what DNS was seen to have, as stored JSON | `serde_json` |
//! | `people` | [`User`], [`Session`], [`Ticket`]: who signs in to the dashboard | hashes, one-time codes, time zones |
//! | `routing` | which rule of a redirect a visit gets, and rules as JSON of requests | `analytics`, `json`, a hash |
//! | `public-suffix` | [`CustomDomain`]: which hostnames can be connected, with which records, and what DNS says about them | the public suffix list, hashes |
//!
//! # What is stable
//!
//! - What a value may be, what an operation does to an entity, and the names of codes and states follow the contract of the
//!   API (`docs/contract`). A version of Signpost that changes them says so in its change log.
//! - Whatever one version stores, all later versions read (`from_stored`), and they show the same verification records and
//!   recognise the same keys.
//! - Names of Rust types and functions, and messages for people, may change in every version: use the crate from a fixed
//!   revision of the repository.
//!
//! # Using it from another tool
//!
//! Check a slug, build a redirect, and apply a PATCH to it, all without a server:
//!
//! ```
//! use std::collections::BTreeSet;
//!
//! use signpost_domain::{
//!     Change, CustomDomainScheme, FeatureSet, HostBlocklist, Id, LinkContext, Name, NamedDomains, PartIds,
//!     Redirect, RedirectRequest, Refusal, Rejection, RuleId, Slug, SplitKey, Submitted, SystemDomain, TargetUrl,
//!     Timestamp, ViolationCode, WidgetId,
//! };
//!
//! // A slug is checked by its type (D21).
//! assert_eq!(Slug::parse("autumn sale").unwrap_err().code(), ViolationCode::InvalidFormat);
//! let slug = Slug::parse("autumn-sale").unwrap();
//!
//! // Neither landing pages nor rules are made here, whose widgets and rules would need ids.
//! struct NoParts;
//!
//! impl PartIds for NoParts {
//!     fn next_widget_id(&self) -> WidgetId {
//!         WidgetId::from_bytes([0; 16])
//!     }
//!
//!     fn next_rule_id(&self) -> RuleId {
//!         RuleId::from_bytes([0; 16])
//!     }
//!
//!     fn next_split_key(&self) -> SplitKey {
//!         SplitKey::default()
//!     }
//! }
//!
//! // What the rules need to know about the installation and the caller's plan.
//! let system = SystemDomain::new("https://go.example.com", vec![]).unwrap();
//! let blocklist = HostBlocklist::default();
//! let context = LinkContext {
//!     system: &system,
//!     features: FeatureSet::all(),
//!     blocklist: &blocklist,
//!     named_domains: &NamedDomains::default(),
//!     known_pixels: &BTreeSet::new(),
//!     part_ids: &NoParts,
//!     now: Timestamp::from_unix_millis(1_767_225_600_000).unwrap(),
//! };
//!
//! // Build a redirect on the system domain.
//! let mut request =
//!     RedirectRequest::new(Name::parse("Autumn").unwrap(), TargetUrl::parse("https://example.com/sale").unwrap());
//! request.slug = Change::Set(slug);
//! let redirect = Redirect::create(Id::from_bytes([7; 16]), &Submitted::valid(request), None, &context).unwrap();
//! assert_eq!(
//!     redirect.placement.url(&system, CustomDomainScheme::Https).as_deref(),
//!     Some("https://go.example.com/autumn-sale"),
//! );
//!
//! // An update that empties the slug would leave the system domain without an address.
//! let update = Submitted::valid(RedirectRequest { slug: Change::Clear, ..RedirectRequest::default() });
//! assert_eq!(redirect.apply(&update, &context), Err(Rejection::Refused(Refusal::SlugRequiredForSystemDomain)));
//!
//! // An empty update is the identity: not even `updated_at` moves (D33).
//! assert_eq!(redirect.apply(&Submitted::default(), &context), Ok(redirect));
//! ```

pub mod account;
#[cfg(feature = "analytics")]
pub mod analytics;
#[cfg(feature = "api-keys")]
pub mod api_key;
#[cfg(feature = "people")]
pub mod audit_entry;
pub mod batch;
#[cfg(feature = "json")]
pub mod behaviour;
pub mod certificate;
pub mod change;
pub mod check_schedule;
pub mod click_limit;
pub mod client_address;
#[cfg(feature = "public-suffix")]
pub mod custom_domain;
pub mod custom_domain_status;
mod destination;
#[cfg(feature = "public-suffix")]
pub mod dns_diagnosis;
#[cfg(feature = "public-suffix")]
pub mod dns_instruction;
#[cfg(feature = "public-suffix")]
pub mod dns_observation;
#[cfg(all(feature = "json", feature = "public-suffix"))]
mod dns_observation_json;
#[cfg(feature = "public-suffix")]
mod dns_proxies;
#[cfg(feature = "public-suffix")]
pub mod domain_settings;
pub mod edge;
pub mod error_code;
pub mod external_id;
#[cfg(feature = "people")]
pub mod external_identity;
pub mod failure_reason;
pub mod group;
pub mod id;
pub mod landing;
pub mod life;
pub mod link;
pub mod link_context;
pub mod link_filter;
pub mod link_id;
pub mod link_password;
pub mod link_preview;
pub mod link_request;
pub mod page;
pub mod page_content;
#[cfg(feature = "json")]
mod page_content_json;
pub mod password;
pub mod permission;
pub mod pixel;
pub mod placement;
pub mod plan;
pub mod plan_resource;
pub mod quota_window;
pub mod redirect;
pub mod redirect_patch;
pub mod reference;
pub mod refusal;
pub mod revision;
pub mod role;
pub mod routing;
pub mod sealed_secret;
#[cfg(feature = "people")]
pub mod second_factor;
#[cfg(feature = "people")]
pub mod secret_token;
#[cfg(feature = "people")]
pub mod session;
#[cfg(feature = "people")]
pub mod sign_in_wait;
pub mod status_history;
#[cfg(feature = "people")]
pub mod ticket;
pub mod timestamp;
pub mod url_query;
#[cfg(feature = "people")]
pub mod user;
pub mod verification_token;
pub mod violation;
pub mod visitor_headers;
pub mod way;
// Value types of single fields.
pub mod contact;
pub mod country_code;
pub mod email;
pub mod geo_blocklist;
pub mod host_blocklist;
pub mod host_resolution;
pub mod hostname;
#[cfg(feature = "public-suffix")]
pub mod hostname_rules;
pub mod idempotency_key;
pub mod language_tag;
pub mod page_appearance;
pub mod page_text;
pub mod pixel_type;
pub mod public_address;
#[cfg(feature = "public-suffix")]
mod public_suffix;
pub mod search_text;
pub mod slug;
pub mod state_filter;
pub mod stored;
pub mod tag;
pub mod target_host;
pub mod target_url;
pub mod text;
pub mod utm;
pub mod web_url;
pub mod widget;

pub use account::Account;
#[cfg(feature = "api-keys")]
pub use api_key::{ApiKey, ApiKeySecret, KeyHash, MalformedApiKey};
#[cfg(feature = "people")]
pub use audit_entry::{AUDIT_KEPT, AuditAction, AuditActor, AuditEntry};
pub use batch::Batch;
#[cfg(feature = "json")]
pub use behaviour::{Behaviour, MalformedBehaviour};
#[cfg(feature = "public-suffix")]
pub use certificate::registered_domain;
pub use certificate::{
    AuthorityMessage, BudgetDecision, CaaIssuer, CaaRecord, CaaVerdict, CertificateFailure,
    CertificateFailureReason, CertificateStatus, OrderBudget, OrderKind, OrderUse,
    RENEWAL_WINDOW_ASKED_EVERY, RenewalWindow, RetryPlan, Spent, ValidationMethod, Validity,
    ask_window_again_at, caa_names, caa_verdict,
};
pub use change::Change;
pub use check_schedule::CheckPlan;
pub use click_limit::{ClickLimit, ClickLimitRequest, MaxClicks};
pub use client_address::TrustedProxies;
pub use contact::{ContactMethod, PhoneNumber};
pub use country_code::CountryCode;
#[cfg(feature = "public-suffix")]
pub use custom_domain::CustomDomain;
pub use custom_domain_status::{CustomDomainStatus, DomainEvent};
#[cfg(feature = "public-suffix")]
pub use dns_diagnosis::{Misplaced, seen_pointing, seen_proof, with_the_zone_twice};
#[cfg(feature = "public-suffix")]
pub use dns_instruction::{DnsInstruction, DnsRecordType, dns_instructions};
#[cfg(feature = "public-suffix")]
pub use dns_observation::{
    DnsObservation, ObservedText, RecordFinding, RecordMistake, RecordStatus, SeenRecord,
};
#[cfg(feature = "public-suffix")]
pub use domain_settings::{AppFile, AppFileKind, DomainFiles, DomainRequest, DomainUrls};
pub use edge::Edge;
pub use email::Email;
pub use error_code::ErrorCode;
pub use external_id::ExternalId;
#[cfg(feature = "people")]
pub use external_identity::{EmailDomain, ExternalIdentity, Issuer, Subject};
pub use failure_reason::FailureReason;
pub use geo_blocklist::GeoBlocklist;
pub use group::Group;
pub use host_blocklist::HostBlocklist;
pub use host_resolution::{HostResolution, TextResolution};
pub use hostname::Hostname;
#[cfg(feature = "public-suffix")]
pub use hostname_rules::{HostnameRules, SpecialUseName, can_be_in_public_dns};
pub use id::{
    AccountId, ApiKeyId, AuditEntryId, DomainId, GroupId, Id, IdKind, LandingId, MalformedId, PixelId,
    RedirectId, RequestId, RuleId, SessionId, TagId, UserId, WidgetId,
};
pub use idempotency_key::IdempotencyKey;
pub use landing::{Landing, LandingPage, LandingRequest, NoContent};
pub use language_tag::LanguageTag;
pub use life::{Life, LifeRequest, LinkState, Schedule};
pub use link::{AnyContent, Content, Link};
pub use link_context::{LinkContext, PartIds};
pub use link_filter::{GroupFilter, InstantRange, LinkFilter, TagFilter};
pub use link_id::{LinkId, LinkIdKind, LinkKind};
pub use link_password::LinkPassword;
pub use link_preview::{LinkPreview, PreviewTitle};
pub use link_request::{ContentRules, Judgement, LinkRequest, Submitted};
pub use page::{Page, PageLimit, PagePosition};
pub use page_appearance::{Background, ButtonStyle, Font, Theme};
pub use page_content::{AccentColor, PageContent, PageContentRequest};
#[cfg(feature = "json")]
pub use page_content_json::MalformedPageContent;
pub use page_text::{AltText, Description, SocialNetwork, WidgetText};
pub use password::Password;
pub use permission::{Permission, PermissionSet};
pub use pixel::{Pixel, PixelCode, PixelIds};
pub use pixel_type::PixelType;
pub use placement::{
    Address, NamedDomain, NamedDomains, Placement, PlacementChange, Site, site_for_new_link,
};
pub use plan::{Feature, FeatureSet, Plan, PlanName, Plans};
pub use plan_resource::{PlanLimits, PlanResource, Usage};
pub use public_address::{CustomDomainScheme, SystemDomain};
pub use quota_window::{QuotaDecision, QuotaRemaining, QuotaUse, QuotaWindow, RequestBudget};
pub use redirect::{Redirect, RedirectContent, RedirectContentRequest, RedirectRequest};
pub use redirect_patch::{PrefixReplacement, RedirectPatch, TargetPrefix};
pub use reference::{HostReference, IdReference};
pub use refusal::{Refusal, Rejection};
pub use revision::{Precondition, Revision, Unmet};
pub use role::Role;
pub use routing::{Rule, RuleTarget, Rules, RulesRequest, SplitKey};
pub use sealed_secret::SealedSecret;
pub use search_text::SearchText;
#[cfg(feature = "people")]
pub use second_factor::{RECOVERY_CODES, RecoveryCode, SecondFactor, TotpSeed, TotpStep};
#[cfg(feature = "people")]
pub use secret_token::{MalformedToken, SecretToken, TokenHash};
#[cfg(feature = "people")]
pub use session::{AgentName, CONFIRMED_FOR, SESSION_IDLE, SESSION_KEPT, SESSION_SHORT, Session};
#[cfg(feature = "people")]
pub use sign_in_wait::{FAILURE_COUNTS_KEPT, FAILURES_KEPT, SignInFailures, SignInKey, wait_after};
pub use slug::Slug;
pub use state_filter::{LinkStates, StateFilter, StateRange};
pub use status_history::{StatusChange, StatusHistory, StatusKind};
pub use stored::MalformedStored;
pub use tag::{Tag, TagChange, TagName, Tags};
pub use target_host::{HostEnd, TargetHost};
pub use target_url::TargetUrl;
pub use text::{Name, Note};
#[cfg(feature = "people")]
pub use ticket::{INVITATION_VALID, Invitation, TICKET_VALID, Ticket, TicketKind, TicketPurpose};
pub use timestamp::Timestamp;
pub use url_query::{behind_path, forward_query, query_of};
#[cfg(feature = "people")]
pub use user::{ClientNetwork, DateLanguage, Membership, PasswordHash, Preferences, User};
pub use utm::{Utm, UtmPart, UtmValue};
pub use verification_token::VerificationRecord;
pub use violation::{FieldError, Violation, ViolationCode, Violations};
pub use way::{RedirectStatus, Way, WayRequest};
pub use web_url::{VideoUrl, WebUrl};
pub use widget::{UnknownWidget, Widget, WidgetBody, WidgetContent, WidgetDraft, Widgets};
