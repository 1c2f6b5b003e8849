//! Ports: what the use cases need from the outside, as traits.
//!
//! # Adding a port
//!
//! A port uses domain types, and offers what a use case needs rather than what a table has.
//!
//! - Absence is `Ok(None)` or `Ok(false)`. The use case decides whether that is a 404 or an empty list.
//! - What a store *decided* (an address is taken, a limit is reached) is a variant of the method's own error. What *broke*
//!   is a [`StoreError`].
//! - Every obligation in the docs of a method has a case in the contract suite of the port. The suite runs
//!   against every implementation, including the in-memory one. Write the case first.
//! - Every method that reads or writes data of an account takes the [`AccountId`](signpost_domain::AccountId), and must not
//!   see data of other accounts.

pub mod accounts;
pub mod audit_filter;
pub mod certificate_authority;
pub mod certificates;
pub mod change_log;
pub mod click_credits;
pub mod click_store;
pub mod clicks;
pub mod custom_domains;
pub mod domain_schedule;
pub mod environment;
pub mod groups;
pub mod identities;
pub mod identity_provider;
pub mod insert_resource;
pub mod leases;
pub mod link_passwords;
pub mod links;
pub mod lookups;
pub mod node_reports;
pub mod passwords;
pub mod people;
pub mod pixels;
pub mod published_links;
pub mod quota_store;
pub mod refusal_counts;
pub mod remembered_answers;
pub mod room_for_answers;
pub mod sealed_secrets;
mod sealing;
pub mod store;
pub mod store_error;
pub mod tags;
pub mod visit_explainer;

pub use crate::click_batch::ClickBatch;
pub use accounts::{AccountReads, AccountWrites, KeyHolder, WriteAccountError};
pub use audit_filter::{AUDIT_CLOCKS_DIFFER, AUDIT_ENTRIES_SEARCHED, AuditFilter};
pub use certificate_authority::{
    AuthorityAccount, AuthorityError, CertificateAuthority, CertificateKey, Challenge, IssuedCertificate,
    OrderProgress, OrderUrl, RenewalAdvice, RenewalId, WaitScope,
};
pub use certificates::{
    CERTIFICATES_LEFT_ALONE_FOR, CLAIM_OF_A_CERTIFICATE, CertificateClaim, CertificateReads,
    CertificateSummary, CertificateWork, CertificateWrites, KeepOrder, MAX_CLAIMS_OF_A_CERTIFICATE,
    NO_ACCOUNT, ORDER_EVENTS_KEPT, RunningOrder, ServedCertificate, StoredAuthorityAccount,
    StoredCertificate, StoredChallenge, WorkPlan,
};
pub use change_log::{
    Affected, ChangeId, ChangeLog, ChangePosition, ChangesMade, LoggedChange, ReadChanges, VisibleChange,
};
pub use click_credits::{ClickCredits, ClickTaking, TakenClicks, UnusedClicks};
pub use click_store::{Appended, ClickStore, EncodedClicks, OldClicks, Packed, Upkeep};
pub use clicks::{Click, ClickKind, ClickSink};

pub use custom_domains::{
    Claims, ConcludedCheck, CustomDomainReads, CustomDomainWrites, DomainChecks, DueCheck,
    InsertCustomDomainError, LinksOf, UpdateCustomDomainError,
};

pub use domain_schedule::{
    CHECKS_LEFT_ALONE_FOR, CLAIM_OF_A_CHECK, CheckSchedule, MAX_CLAIMS_OF_A_CHECK, ScheduledDomain,
};
pub use environment::{Clock, IdSource, Randomness, RandomnessUnavailable};
pub use groups::{GroupReads, GroupWrites, InsertGroupError};
pub use identities::{Binding, BoundIdentity, IdentityReads, IdentityWrites};
pub use identity_provider::{
    AuthorizationRequest, IdentityClaims, IdentityProvider, ProviderError, Redemption, TokenFault,
};
pub use insert_resource::InsertResourceError;
pub use leases::{LeaseHolder, Leases};
pub use link_passwords::{LinkPasswordReads, LinkPasswordWrites};
pub use links::{InsertLinksError, Insertion, LinkReads, LinkWrites, UpdateLinkError};
pub use lookups::{
    AgentFacts, AgentReader, BotDetector, CountryLookup, DnsProvider, DnsUnavailable, NoAgents, NoBots,
    NoCountries, TargetBlocklist,
};
pub use node_reports::{
    FAILING_PARTS_REPORTED, FailingPart, HeardReport, HeardReports, LONGEST_REPORT_TEXT, NodeId, NodeReport,
    NodeReports, ReportText, WaitingClicks,
};
pub use passwords::{Asker, HashingError, HashingPlace, NoPasswords, PasswordHasher, Verdict};
pub use people::{
    AccountMember, AuditScope, INVITATIONS_LISTED, Member, MemberChange, PeopleReads, PeopleUpkeep,
    PeopleWrites, SessionHolder, SignInTurn, WriteUserError,
};
pub use pixels::{PixelReads, PixelWrites};
pub use published_links::{
    PublishedContent, PublishedFile, PublishedLanding, PublishedLink, PublishedRedirect, PublishedSite,
};
pub use quota_store::{CountId, CountedElsewhere, MergingQuotaStore, QuotaStore, SharedQuotaStore};

pub use refusal_counts::{RefusalCount, RefusalCounts, Refused};
pub use remembered_answers::{
    ANSWERS_KEPT, AnswerOwner, AnswerReads, AnswerWrites, RememberedAnswer, RememberedRequest,
    RequestFingerprint,
};
pub use room_for_answers::{
    ANSWERS_KEPT_AT_LEAST, ROOM_FOR_ANSWERS, Remembering, RoomForAnswers, SizedAnswer,
};
pub use sealed_secrets::SealedSecrets;
pub use sealing::Sealer;
pub use store::{SearchUpkeep, Store, UnitOfWork};
pub use store_error::StoreError;
pub use tags::{NeededTags, RenameTagError, TagReads, TagWrites, tags_to_create};
pub use visit_explainer::{ExplainedVisit, ExplainerSlot, OpenedUrl, VisitExplainer};
