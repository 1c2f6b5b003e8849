//! What surrounds a page: navigation, notices, examples of the API.

use signpost_domain::Theme;

use crate::texts::Texts;

/// The frame of every page of signed-in people.
#[derive(Debug, Clone)]
pub struct Shell {
    /// The texts of the page.
    pub t: &'static Texts,
    /// The name of the product, such as `Signpost`.
    pub product: String,
    /// The title of the page: its heading, and the first part of the document's title.
    pub title: String,
    /// The theme that the user chose.
    pub theme: Theme,
    /// The language of the texts, such as `en`.
    pub language: String,
    /// Who is signed in.
    pub user: UserRef,
    /// The account whose page it is. `None` hides the navigation.
    pub account: Option<AccountRef>,
    /// The accounts to go to, on a page without an account.
    pub accounts: Vec<AccountRef>,
    /// The user's role in the account, in words, such as `Editor`. Empty without an account.
    pub role: String,
    /// The marked item of the navigation.
    pub nav: NavItem,
    /// The user may change nothing here because of the role. The page says so.
    pub is_read_only: bool,
    /// Whether the user may read the audit of the account.
    pub reads_audit: bool,
    /// The account is suspended. The page says so, with this reason unless it is empty.
    pub suspended: Option<String>,
    /// The outcome of the request before this page.
    pub notice: Option<Notice>,
    /// Whether keyboard shortcuts are on.
    pub shortcuts: bool,
    /// The idempotency key of the form that signs out.
    pub sign_out_key: String,
    /// How to do with the API what this page does.
    pub curl: Vec<CurlExample>,
}

impl Shell {
    /// The first part of the paths of the account's pages: `/acc_…`. Empty without an account.
    #[must_use]
    pub fn base(&self) -> String {
        self.account.as_ref().map(|account| format!("/{}", account.id)).unwrap_or_default()
    }

    /// Whether it is a page for operators, which has a navigation of its own, and commands in place of requests to the API.
    pub(crate) fn is_for_operators(&self) -> bool {
        let is_theirs = match self.nav {
            NavItem::Accounts | NavItem::Users | NavItem::SignIns | NavItem::Health | NavItem::Audit => true,
            NavItem::None
            | NavItem::Links
            | NavItem::Analytics
            | NavItem::Domains
            | NavItem::Groups
            | NavItem::Pixels
            | NavItem::Keys
            | NavItem::Usage
            | NavItem::Members
            | NavItem::Settings
            | NavItem::Me => false,
        };
        self.account.is_none() && is_theirs
    }
}

/// The frame of pages for people who are not signed in, and of short questions: one card in the middle.
#[derive(Debug, Clone)]
pub struct Card {
    /// The texts of the page.
    pub t: &'static Texts,
    /// The name of the product, such as `Signpost`.
    pub product: String,
    /// The theme: the user's, or `Auto`.
    pub theme: Theme,
    /// The language of the texts, such as `en`.
    pub language: String,
    /// The outcome of the request before this page.
    pub notice: Option<Notice>,
}

/// Who is signed in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserRef {
    /// The name, or empty.
    pub name: String,
    /// The e-mail address.
    pub email: String,
    /// Whether the user administers the installation.
    pub is_operator: bool,
}

impl UserRef {
    /// The name, or the e-mail address without one.
    #[must_use]
    pub fn label(&self) -> &str {
        if self.name.is_empty() { &self.email } else { &self.name }
    }
}

/// An account in the switcher.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountRef {
    /// The id, with its prefix `acc_`.
    pub id: String,
    /// The name, or the e-mail address without one.
    pub name: String,
}

/// The items of the navigation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NavItem {
    /// None of them, as on error pages.
    #[default]
    None,
    /// Links.
    Links,
    /// Statistics of the account.
    Analytics,
    /// Custom domains.
    Domains,
    /// Groups.
    Groups,
    /// Pixels.
    Pixels,
    /// API keys.
    Keys,
    /// Usage.
    Usage,
    /// Members.
    Members,
    /// The settings of the account.
    Settings,
    /// The audit.
    Audit,
    /// The user's own settings.
    Me,
    /// All accounts, for operators.
    Accounts,
    /// All users, for operators.
    Users,
    /// The limits of sign-ins, for operators.
    SignIns,
    /// The health of the node, for operators.
    Health,
}

impl NavItem {
    /// The value of `aria-current`, or nothing, for the item `other`.
    #[must_use]
    pub fn is(self, other: &str) -> bool {
        let name = match self {
            Self::None => "",
            Self::Links => "links",
            Self::Analytics => "analytics",
            Self::Domains => "domains",
            Self::Groups => "groups",
            Self::Pixels => "pixels",
            Self::Keys => "keys",
            Self::Usage => "usage",
            Self::Members => "members",
            Self::Settings => "settings",
            Self::Audit => "audit",
            Self::Me => "me",
            Self::Accounts => "accounts",
            Self::Users => "users",
            Self::SignIns => "sign-ins",
            Self::Health => "health",
        };
        name == other
    }
}

/// A sentence above the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Its kind.
    pub kind: NoticeKind,
    /// The sentence.
    pub text: String,
}

impl Notice {
    /// Something succeeded.
    #[must_use]
    pub const fn ok(text: String) -> Self {
        Self { kind: NoticeKind::Ok, text }
    }

    /// Something needs attention.
    #[must_use]
    pub const fn warning(text: String) -> Self {
        Self { kind: NoticeKind::Warning, text }
    }

    /// Something failed.
    #[must_use]
    pub const fn error(text: String) -> Self {
        Self { kind: NoticeKind::Error, text }
    }
}

/// The kind of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    /// Something succeeded.
    Ok,
    /// Something needs attention.
    Warning,
    /// Something failed.
    Error,
}

impl NoticeKind {
    /// The class of the notice.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warn",
            Self::Error => "bad",
        }
    }

    /// Whether assistive technology interrupts to read it.
    #[must_use]
    pub const fn is_error(self) -> bool {
        matches!(self, Self::Error)
    }
}

/// A command that does with the API what the page does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CurlExample {
    /// What it does, such as `Create a redirect`.
    pub title: String,
    /// The command, of one or more lines.
    pub command: String,
}

/// Links to the neighbours of one part of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pager {
    /// The address of the first part, unless this is it.
    pub newest: Option<String>,
    /// The address of the next part, unless this is the last.
    pub older: Option<String>,
}
