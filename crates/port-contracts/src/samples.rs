//! Sample values. A test sets only the fields that it checks:
//!
//! ```
//! use signpost_domain::{LinkKind, Redirect};
//! use signpost_port_contracts::samples;
//!
//! let group = samples::group("Spring");
//! let redirect = Redirect { group_id: Some(group.id), is_active: false, ..samples::redirect("sale") };
//! assert_eq!(redirect.name, samples::name("sale"));
//! assert!(redirect.id < samples::redirect("other").id);
//! assert_eq!(samples::link(LinkKind::Landing, "menu").name, samples::name("menu"));
//! ```
//!
//! These functions panic on invalid texts.

mod pages;
mod rules;

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};

use signpost_domain::analytics::TimeZone;
use signpost_domain::{
    Account, AccountId, AgentName, ApiKey, ApiKeySecret, AuditAction, AuditActor, AuditEntry, ClientNetwork,
    Content, CustomDomain, Description, Email, Group, Hostname, Id, IdKind, Landing, Life, Link, LinkKind,
    LinkPreview, Name, NoContent, Note, PasswordHash, Pixel, PixelCode, PixelId, PixelIds, PixelType,
    Placement, PlanName, Preferences, PreviewTitle, Redirect, RedirectContent, Revision, SealedSecret,
    SecondFactor, SecretToken, Session, Slug, Tags, TargetUrl, Ticket, TicketPurpose, Timestamp, TokenHash,
    TotpStep, User, UserId, WebUrl,
};

pub use pages::{one_of_each_type, page_content, phone_number, widgets};
pub use rules::rules;

static NEXT: AtomicU64 = AtomicU64::new(1);

fn next_number() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The instant of the samples, 2026-01-31T09:05:07.042Z, plus `millis` milliseconds.
#[must_use]
pub fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(1_769_850_307_042 + millis).expect("an instant between 1970 and 9999")
}

/// A new identifier. Identifiers of one process are unique and increase.
#[must_use]
pub fn id<K: IdKind>() -> Id<K> {
    let mut bytes = [0; 16];
    let time = u64::try_from(at(0).unix_millis()).unwrap() << 16;
    bytes[..8].copy_from_slice(&time.to_be_bytes());
    bytes[8..].copy_from_slice(&next_number().to_be_bytes());
    Id::from_bytes(bytes)
}

/// A name.
#[must_use]
pub fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

/// A note.
#[must_use]
pub fn note(text: &str) -> Note {
    Note::parse(text).expect("a note")
}

/// A slug.
#[must_use]
pub fn slug(text: &str) -> Slug {
    Slug::parse(text).expect("a slug")
}

/// A hostname.
#[must_use]
pub fn hostname(text: &str) -> Hostname {
    Hostname::parse(text).expect("a hostname")
}

/// A target.
#[must_use]
pub fn target(text: &str) -> TargetUrl {
    TargetUrl::parse(text).expect("a target")
}

/// An e-mail address.
#[must_use]
pub fn email(text: &str) -> Email {
    Email::parse(text).expect("an e-mail address")
}

/// A plan's name.
#[must_use]
pub fn plan(text: &str) -> PlanName {
    PlanName::parse(text).expect("a plan's name")
}

/// A URL for a page.
#[must_use]
pub fn web_url(text: &str) -> WebUrl {
    WebUrl::parse(text).expect("a URL")
}

/// A card.
#[must_use]
pub fn preview(title: &str, description: Option<&str>, image_url: Option<&str>) -> LinkPreview {
    let title = PreviewTitle::parse(title).expect("a title");
    let description = description.map(|text| Description::parse(text).expect("a description"));
    LinkPreview::new(title, description, image_url.map(web_url))
}

/// A placement on the system domain.
#[must_use]
pub fn on_system(text: &str) -> Placement {
    Placement::System { slug: slug(text) }
}

/// A placement on a custom domain; without a slug, at its root.
#[must_use]
pub fn on_custom(host: &str, text: Option<&str>) -> Placement {
    Placement::Custom { hostname: hostname(host), slug: text.map(slug) }
}

/// A placement without an address, as after the removal of its domain.
#[must_use]
pub fn lost(text: Option<&str>) -> Placement {
    Placement::Lost { slug: text.map(slug) }
}

/// An account on the `agency` plan, with a unique e-mail address.
#[must_use]
pub fn account() -> Account {
    Account {
        id: id(),
        email: email(&format!("owner{}@example.com", next_number())),
        name: Some(name("Example & Sons")),
        plan: plan("agency"),
        suspended_at: None,
        requires_second_factor: false,
        created_at: at(0),
    }
}

/// An API key of an account, and its secret.
#[must_use]
pub fn key(account: AccountId) -> (ApiKey, ApiKeySecret) {
    let mut random = [0; 32];
    random[24..].copy_from_slice(&next_number().to_be_bytes());
    let secret = ApiKeySecret::from_random(random);
    let key = ApiKey {
        id: id(),
        account_id: account,
        name: None,
        hash: secret.hash(),
        last_four: secret.last_four().to_owned(),
        created_at: at(0),
        revoked_at: None,
        created_by: None,
        last_used_at: None,
        expires_at: None,
        scopes: None,
    };
    (key, secret)
}

/// A user with a password and a unique e-mail address, who is no operator.
#[must_use]
pub fn user() -> User {
    User {
        id: id(),
        email: email(&format!("user{}@example.com", next_number())),
        name: Some(name("Ada Example")),
        password: Some(PasswordHash::new("$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA".to_owned())),
        second_factor: None,
        is_operator: false,
        disabled_at: None,
        preferences: Preferences::in_zone(TimeZone::utc()),
        created_at: at(0),
    }
}

/// A second factor with two recovery codes.
#[must_use]
pub fn second_factor() -> SecondFactor {
    SecondFactor {
        seed: SealedSecret(vec![7; 57]),
        last_step: TotpStep(1),
        recovery_codes: vec![token_hash(), token_hash()],
        set_up_at: at(0),
    }
}

/// The hash of a unique token.
#[must_use]
pub fn token_hash() -> TokenHash {
    let mut random = [0; 32];
    random[24..].copy_from_slice(&next_number().to_be_bytes());
    SecretToken::from_random(random).hash()
}

/// A session of a user who asked to stay signed in.
#[must_use]
pub fn session(user: UserId) -> Session {
    Session {
        id: id(),
        hash: token_hash(),
        user_id: user,
        created_at: at(0),
        seen_at: at(0),
        confirmed_at: at(0),
        is_kept: true,
        agent: AgentName::of("Mozilla/5.0 (X11; Linux x86_64)"),
        network: Some(ClientNetwork::of(Ipv4Addr::new(192, 0, 2, 7).into())),
    }
}

/// A ticket that was made at the instant of the samples.
#[must_use]
pub fn ticket(purpose: TicketPurpose) -> Ticket {
    Ticket::new(token_hash(), purpose, at(0))
}

/// An entry of the audit: a command has issued a key of an account.
#[must_use]
pub fn audit_entry(account: AccountId) -> AuditEntry {
    AuditEntry {
        id: id(),
        account_id: Some(account),
        actor: AuditActor::Command,
        action: AuditAction::KeyIssued,
        object: "key_00 “first”".to_owned(),
        network: None,
        at: at(0),
    }
}

/// An empty group.
#[must_use]
pub fn group(text: &str) -> Group {
    Group::create(id(), name(text), at(0))
}

/// A Google tag pixel.
#[must_use]
pub fn pixel(text: &str) -> Pixel {
    Pixel { id: id(), code: pixel_code(PixelType::GoogleTag), name: Some(name(text)), created_at: at(0) }
}

/// A valid code for this pixel type.
#[must_use]
pub fn pixel_code(pixel_type: PixelType) -> PixelCode {
    let code = match pixel_type {
        PixelType::GoogleTag => "G-1A2BCD345E",
        PixelType::GoogleTagManager => "GTM-AB12CDE",
        PixelType::Meta => "123456789012345",
        PixelType::Tiktok => "C4A1B2C3D4E5F6G7H8I9",
        PixelType::Linkedin => "1234567",
        PixelType::X => "o1abc",
        PixelType::Pinterest => "2612345678901",
        PixelType::Snapchat => "1a2b3c4d-1234-5678-9abc-1a2b3c4d5e6f",
        PixelType::Reddit => "t2_1ab2cd3e",
        PixelType::MicrosoftAds => "12345678",
    };
    PixelCode::parse(pixel_type, code).expect("a code of this vendor")
}

/// The pixels of a redirect.
#[must_use]
pub fn pixel_ids(ids: Vec<PixelId>) -> PixelIds {
    PixelIds::new(ids).expect("at most ten pixels")
}

/// A custom domain that has been `pending` since it was connected at the instant of the samples.
#[must_use]
pub fn custom_domain(account: AccountId, host: &str) -> CustomDomain {
    CustomDomain::connect(id(), account, hostname(host), at(0))
}

/// An active redirect on the system domain, named after its slug.
#[must_use]
pub fn redirect(text: &str) -> Redirect {
    with_content(text, RedirectContent::to(target(&format!("https://example.com/{text}"))))
}

/// A redirect like [`redirect`] at another placement.
#[must_use]
pub fn redirect_at(placement: Placement) -> Redirect {
    let like = redirect(text_of(&placement));
    Redirect { placement, ..like }
}

/// An active landing page on the system domain, titled after its slug.
#[must_use]
pub fn landing(text: &str) -> Landing {
    with_content(text, NoContent)
}

fn with_content<C: Content>(text: &str, content: C) -> Link<C> {
    Link {
        id: id(),
        name: name(text),
        placement: on_system(text),
        is_active: true,
        is_domain_active: true,
        has_password: false,
        life: Life::default(),
        note: None,
        external_id: None,
        analytics_enabled: true,
        group_id: None,
        tags: Tags::default(),
        created_at: at(0),
        updated_at: at(0),
        revision: Revision::FIRST,
        content,
    }
}

/// A landing page like [`landing`] at another placement.
#[must_use]
pub fn landing_at(placement: Placement) -> Landing {
    let like = landing(text_of(&placement));
    Landing { placement, ..like }
}

/// A [`landing`] or a [`redirect`].
#[must_use]
pub fn link(kind: LinkKind, text: &str) -> Link {
    match kind {
        LinkKind::Landing => landing(text).into(),
        LinkKind::Redirect => redirect(text).into(),
    }
}

/// A link like [`link`] at another placement.
#[must_use]
pub fn link_at(kind: LinkKind, placement: Placement) -> Link {
    match kind {
        LinkKind::Landing => landing_at(placement).into(),
        LinkKind::Redirect => redirect_at(placement).into(),
    }
}

fn text_of(placement: &Placement) -> &str {
    placement.slug().map_or("root", Slug::as_str)
}
