//! One struct for each page. They hold only what the page shows, as display-ready text, and no rule of the service.
//!
//! A handler fills a struct and calls `askama::Template::render`. Pages of signed-in people begin with a [`Shell`], others
//! with a [`Card`].

mod account;
mod analytics;
mod audit;
mod chart;
mod domains;
mod editor;
mod entry;
mod errors;
mod explain;
mod form;
mod groups;
mod keys;
mod life;
mod link_forms;
mod link_list;
mod link_password;
mod link_preview;
mod members;
mod operator_accounts;
mod operator_health;
mod operator_users;
mod pixels;
mod provider_sign_in;
mod second_factor;
mod settings;
mod shell;
mod sign_in_elsewhere;
mod tags;
mod usage;
mod way;

pub use account::{MePage, PasswordForm, ProfileForm, SessionRow};
pub use analytics::{
    AnalyticsPage, AnalyticsReport, BucketRow, DimensionBars, LinkScopeFields, LiveFigures, RangeForm,
    StateLink, Total, ValueBar,
};
pub use audit::{AuditAccount, AuditFilterForm, AuditPage, AuditRow};
pub use chart::{Chart, Column, MAX_FOCUSABLE};
pub use domains::{
    CertificateFacts, DomainPage, DomainRow, DomainsPage, Label, ProofRecord, RecordRow, Tone, VisitorsForm,
};
pub use editor::{Control, EditorInput, EditorPage, EditorWidget, PreviewFailedPage};
pub use entry::{
    ChooserPage, ConfirmPage, InvitationPage, Invitee, Membership, ResetPage, SignInPage, StartPage,
};
pub use errors::{ErrorKind, ErrorPage, KeptFormPage};
pub use explain::{ExplainPage, ExplanationView, StepRow, VisitForm};
pub(crate) use form::with_code;
pub use form::{Choice, Field, Form, Select, Violation};
pub use groups::{GroupRow, GroupsPage};
pub use keys::{IssueKeyForm, IssuedKeyPage, KeyRow, KeyState, KeysPage};
pub use life::{LifeForm, LimitForm, TimeField};
pub use link_forms::{
    Conflict, ConflictField, EditLinkPage, LandingForm, LinkForm, NewLinkPage, RedirectForm,
};
pub use link_list::{
    BulkDeletePage, BulkFailure, BulkItem, BulkSummary, LinkFilter, LinkKind, LinkRow, LinkTag, LinksPage,
    NamedId, Tile,
};
pub use link_password::LinkPasswordForm;
pub use link_preview::{CardSketch, PreviewForm, PreviewInputs};
pub use members::{InvitationRow, InvitedPage, MemberRow, MembersPage, OpenInvitations};
pub use operator_accounts::{
    DeleteAccountPage, OperatorAccountPage, OperatorAccountRow, OperatorAccountsPage, OperatorMemberRow,
};
pub use operator_health::{
    FoundFailures, HealthRow, NodeList, NodeRow, OperatorHealthPage, OperatorSignInsPage,
};
pub use operator_users::{OperatorLinkPage, OperatorUserPage, OperatorUserRow, OperatorUsersPage};
pub use pixels::{PixelRow, PixelsPage};
pub use provider_sign_in::{AcceptIdentityPage, BindIdentityPage, IdentitySection, ProviderLink};
pub use second_factor::{
    PresentFactor, RecoveryCodesPage, SecondFactorPage, SetUpFactorPage, SignInCodePage,
};
pub use settings::SettingsPage;
pub use shell::{AccountRef, Card, CurlExample, NavItem, Notice, NoticeKind, Pager, Shell, UserRef};
pub use sign_in_elsewhere::{NotSignedIn, SignInElsewherePage};
pub use tags::{TagRow, TagsPage};
pub use usage::{Meter, PlanFeature, UsagePage};
pub use way::{RuleRow, RuleTargetRow, UtmField, WayForm};
