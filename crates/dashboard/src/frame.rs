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

/// What a role may do, as a sentence that needs none before it.
pub(crate) const fn role_sentence(role: Role) -> &'static str {
    match role {
        Role::Viewer => TEXTS.role_viewer_can,
        Role::Editor => TEXTS.role_editor_does,
        Role::Owner => TEXTS.role_owner_does,
    }
}

/// What an invitation gives to the person who accepts it, in sentences.
pub(crate) fn invitation_gives(joins: Option<(&Account, Role)>, is_operator: bool) -> String {
    let words = TEXTS.operator;
    let member = joins.map(|(account, role)| {
        (words.invitation_makes_member)(account_name(account), role_name(role), role_sentence(role))
    });
    let operator = is_operator.then(|| words.invitation_makes_operator.to_owned());
    member.into_iter().chain(operator).collect::<Vec<_>>().join(" ")
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
        accounts: visit.own_accounts(),
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
const SAID: [(&str, &str); 32] = [
    ("connect-now", TEXTS.provider.connect_now),
    ("connected", TEXTS.provider.said_connected),
    ("disconnected", TEXTS.provider.said_disconnected),
    ("domain-checked", TEXTS.domains.said_checked),
    ("domain-deleted", TEXTS.domains.said_deleted),
    ("domain-saved", TEXTS.domains.said_saved),
    ("code-too-late", TEXTS.second_factor.said_too_late),
    ("factor-needed", TEXTS.second_factor.needed_here),
    ("factor-optional", TEXTS.second_factor.said_optional),
    ("factor-removed", TEXTS.second_factor.said_removed),
    ("factor-required", TEXTS.second_factor.said_required),
    ("own-factor-first", TEXTS.second_factor.said_own_first),
    ("group-created", TEXTS.said.group_created),
    ("group-deleted", TEXTS.said.group_deleted),
    ("group-renamed", TEXTS.said.group_renamed),
    ("invitation-withdrawn", TEXTS.said.invitation_withdrawn),
    ("key-revoked", TEXTS.said.key_revoked),
    ("left", TEXTS.said.left),
    ("link-deleted", TEXTS.said.link_deleted),
    ("member-removed", TEXTS.said.member_removed),
    ("none-selected", TEXTS.said.none_selected),
    ("page-created", TEXTS.editor.said_created),
    ("password-changed", TEXTS.said.password_changed),
    ("pixel-created", TEXTS.said.pixel_created),
    ("pixel-deleted", TEXTS.said.pixel_deleted),
    ("role-changed", TEXTS.said.role_changed),
    ("saved", TEXTS.said.saved),
    ("session-ended", TEXTS.said.session_ended),
    ("sessions-ended", TEXTS.said.sessions_ended),
    ("signed-out", TEXTS.said.signed_out),
    ("tag-deleted", TEXTS.tags.said_deleted),
    ("tag-renamed", TEXTS.tags.said_renamed),
];

/// The same for operators.
const SAID_TO_OPERATORS: [(&str, &str); 11] = [
    ("account-deleted", TEXTS.operator.said_account_deleted),
    ("account-resumed", TEXTS.operator.said_account_resumed),
    ("account-suspended", TEXTS.operator.said_account_suspended),
    ("deletion-goes-on", TEXTS.operator.deletion_goes_on),
    ("failures-forgotten", TEXTS.operator.said_failures_forgotten),
    ("plan-changed", TEXTS.operator.said_plan_changed),
    ("user-disabled", TEXTS.operator.said_user_disabled),
    ("user-disconnected", TEXTS.provider.said_user_disconnected),
    ("user-factor-removed", TEXTS.second_factor.said_user_removed),
    ("user-enabled", TEXTS.operator.said_user_enabled),
    ("user-signed-out", TEXTS.operator.said_user_signed_out),
];

/// Those of them that ask for something.
const WARNINGS: [&str; 5] =
    ["none-selected", "deletion-goes-on", "code-too-late", "factor-needed", "own-factor-first"];

/// The sentence about the request before this one, which the query names.
pub(crate) fn notice_of(visit: &Visit) -> Option<Notice> {
    let query = visit.query();
    let said = query.given("said")?;
    let (name, sentence) = SAID.iter().chain(&SAID_TO_OPERATORS).find(|(name, _)| *name == said)?;
    let text = (*sentence).to_owned();
    Some(if WARNINGS.contains(name) { Notice::warning(text) } else { Notice::ok(text) })
}
