//! What surrounds pages: the frame of an account, and the card of short pages.

use signpost_app::Actor;
use signpost_domain::{Account, Name, Permission, Role, Theme, User};

use crate::texts::{ENGLISH, Texts};
use crate::views::{AccountRef, Card, CurlExample, NavItem, Notice, Shell, UserRef};
use crate::visit::{Member, Visit};

const PRODUCT: &str = "Signpost";

/// The texts of every page.
pub(crate) const TEXTS: &Texts = &ENGLISH;

const LANGUAGE: &str = "en";

/// The card of somebody who is not signed in.
pub(crate) fn card() -> Card {
    Card {
        t: TEXTS,
        product: PRODUCT.to_owned(),
        theme: Theme::Auto,
        language: LANGUAGE.to_owned(),
        notice: None,
    }
}

/// The card of a user.
pub(crate) fn card_of(user: &User) -> Card {
    Card { theme: user.preferences.theme, ..card() }
}

/// A user as pages name it.
pub(crate) fn user_ref(user: &User) -> UserRef {
    let name = user.name.as_ref().map(|name| name.as_str().to_owned()).unwrap_or_default();
    UserRef { name, email: user.email.as_str().to_owned(), is_operator: user.is_operator }
}

/// An account as pages name it.
pub(crate) fn account_ref(account: &Account) -> AccountRef {
    AccountRef { id: account.id.to_string(), name: account_name(account).to_owned() }
}

/// The name of an account, or its e-mail address.
pub(crate) fn account_name(account: &Account) -> &str {
    account.name.as_ref().map_or(account.email.as_str(), Name::as_str)
}

/// A role in words.
pub(crate) const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Viewer => TEXTS.role_viewer,
        Role::Editor => TEXTS.role_editor,
        Role::Owner => TEXTS.role_owner,
    }
}

/// What a role may do, as a sentence.
pub(crate) const fn role_sentence(role: Role) -> &'static str {
    match role {
        Role::Viewer => TEXTS.role_viewer_can,
        Role::Editor => TEXTS.role_editor_can,
        Role::Owner => TEXTS.role_owner_can,
    }
}

/// The frame of a page of an account.
pub(crate) fn shell(
    visit: &Visit,
    member: &Member,
    nav: NavItem,
    title: &str,
    curl: Vec<CurlExample>,
) -> Shell {
    let Member { signed_in, caller } = member;
    let role = match caller.actor() {
        Actor::User { user: _, role } => role_name(role),
        Actor::Key(_) => "",
    };
    let account = caller.account();
    let is_suspended = account.is_suspended();
    Shell {
        account: Some(account_ref(account)),
        role: role.to_owned(),
        is_read_only: !caller.may(Permission::WriteLinks) && !is_suspended,
        reads_audit: caller.may(Permission::ReadAudit),
        suspended: is_suspended.then(String::new),
        curl,
        ..own_shell(visit, signed_in.user(), nav, title)
    }
}

/// The frame of a page of a user without an account.
pub(crate) fn own_shell(visit: &Visit, user: &User, nav: NavItem, title: &str) -> Shell {
    Shell {
        t: TEXTS,
        product: PRODUCT.to_owned(),
        title: title.to_owned(),
        theme: user.preferences.theme,
        language: LANGUAGE.to_owned(),
        user: user_ref(user),
        account: None,
        role: String::new(),
        nav,
        is_read_only: false,
        reads_audit: false,
        suspended: None,
        notice: notice_of(visit),
        shortcuts: user.preferences.has_shortcuts,
        sign_out_key: visit.new_key(),
        curl: vec![],
    }
}

/// The names of outcomes in the query parameter `said`, with their sentences. Nothing else is shown, so a link
/// cannot put words of its own into a page.
const SAID: [(&str, &str); 19] = [
    ("domain-checked", TEXTS.domains.said_checked),
    ("domain-deleted", TEXTS.domains.said_deleted),
    ("group-created", TEXTS.said_group_created),
    ("group-deleted", TEXTS.said_group_deleted),
    ("group-renamed", TEXTS.said_group_renamed),
    ("key-revoked", TEXTS.said_key_revoked),
    ("left", TEXTS.said_left),
    ("link-deleted", TEXTS.said_link_deleted),
    ("member-removed", TEXTS.said_member_removed),
    ("none-selected", TEXTS.said_none_selected),
    ("page-created", TEXTS.editor.said_created),
    ("password-changed", TEXTS.said_password_changed),
    ("pixel-created", TEXTS.said_pixel_created),
    ("pixel-deleted", TEXTS.said_pixel_deleted),
    ("role-changed", TEXTS.said_role_changed),
    ("saved", TEXTS.said_saved),
    ("session-ended", TEXTS.said_session_ended),
    ("sessions-ended", TEXTS.said_sessions_ended),
    ("signed-out", TEXTS.said_signed_out),
];

/// The same for operators.
const SAID_TO_OPERATORS: [(&str, &str); 8] = [
    ("account-deleted", TEXTS.operator.said_account_deleted),
    ("account-resumed", TEXTS.operator.said_account_resumed),
    ("account-suspended", TEXTS.operator.said_account_suspended),
    ("deletion-goes-on", TEXTS.operator.deletion_goes_on),
    ("plan-changed", TEXTS.operator.said_plan_changed),
    ("user-disabled", TEXTS.operator.said_user_disabled),
    ("user-enabled", TEXTS.operator.said_user_enabled),
    ("user-signed-out", TEXTS.operator.said_user_signed_out),
];

/// The sentence about the request before this one, which the query names.
pub(crate) fn notice_of(visit: &Visit) -> Option<Notice> {
    let query = visit.query();
    let said = query.given("said")?;
    let (name, sentence) = SAID.iter().chain(&SAID_TO_OPERATORS).find(|(name, _)| *name == said)?;
    let text = (*sentence).to_owned();
    Some(if ["none-selected", "deletion-goes-on"].contains(name) {
        Notice::warning(text)
    } else {
        Notice::ok(text)
    })
}
