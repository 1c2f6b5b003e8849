//! The pages that say why a request failed.

use askama::Template;

use super::form::Field;
use super::shell::Card;

/// An error page. [`ErrorPage::of`] fills in the texts.
#[derive(Debug, Clone, Template)]
#[template(path = "error.html")]
pub struct ErrorPage {
    /// The frame.
    pub card: Card,
    /// The HTTP status.
    pub status: u16,
    /// The heading.
    pub heading: String,
    /// What happened.
    pub text: String,
    /// What to do next.
    pub advice: String,
    /// The path and the label of the one link. `None` shows no link.
    pub action: Option<(String, String)>,
}

/// Keeps a form that did not count when it was sent, and sends it again.
#[derive(Debug, Clone, Template)]
#[template(path = "kept-form.html")]
pub struct KeptFormPage<'a> {
    /// The frame.
    pub card: Card,
    /// The heading of the error.
    pub heading: &'a str,
    /// What happened.
    pub text: String,
    /// That the page keeps the form, unless the text says so.
    pub kept: Option<&'a str>,
    /// What to do next.
    pub advice: String,
    /// Where the form goes; `None` shows only what was typed.
    pub path: Option<&'a str>,
    /// The names and values of the form, without the password of a link.
    pub fields: Vec<&'a (String, String)>,
    /// Those of them that the person typed or chose.
    pub typed: Vec<&'a (String, String)>,
    /// `link_password`, empty, if one was typed.
    pub password: Option<Field>,
    /// The path and the label of what has to be done first, in another tab.
    pub first: Option<(&'a str, &'a str)>,
}

impl KeptFormPage<'_> {
    const fn heading(&self) -> &str {
        self.heading
    }
}

/// The reasons for error pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// 403: the role does not allow it.
    Forbidden,
    /// 403: the session ended before the form was sent. [`KeptFormPage`] shows it.
    SessionEnded,
    /// 403: the account began to require a second factor before the form was sent. [`KeptFormPage`] shows it.
    SecondFactorNeeded,
    /// 403: another site sent the form.
    CrossSite,
    /// 403: a proxy signs people in, and the request does not come from it.
    NotTheProxy,
    /// 403: a proxy signs people in, so there are no passwords.
    PasswordsOff,
    /// 404: nothing is here, or it belongs to another account.
    NotFound,
    /// 405: the method is wrong here, such as a reloaded answer to a form.
    MethodNotAllowed,
    /// 409: it changed meanwhile.
    Conflict,
    /// 409: the same form was sent before with other content (D12). Pages with a form show it again instead.
    SentBefore,
    /// 409: a rule forbids it. The page says which.
    Refused,
    /// 410: the invitation or reset link was used, has expired or was replaced.
    TicketUsed,
    /// 410: the same of the link for the first user.
    StartUsed,
    /// 413: the form is too large.
    TooLarge,
    /// 421: the host of the request is not the host of `dashboard-url`.
    WrongHost,
    /// 429: too many requests.
    TooManyRequests,
    /// 429: the account began a file with clicks less than a minute ago, or one is still running.
    TooManyExports,
    /// 500: an internal error.
    Failed,
    /// 503: the store is unreachable, or the node is overloaded.
    Unavailable,
    /// 503: the store takes no changes.
    ReadOnly,
}

impl ErrorKind {
    /// Every reason.
    pub const ALL: [Self; 20] = [
        Self::Forbidden,
        Self::SessionEnded,
        Self::SecondFactorNeeded,
        Self::CrossSite,
        Self::NotTheProxy,
        Self::PasswordsOff,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::Conflict,
        Self::SentBefore,
        Self::Refused,
        Self::TicketUsed,
        Self::StartUsed,
        Self::TooLarge,
        Self::WrongHost,
        Self::TooManyRequests,
        Self::TooManyExports,
        Self::Failed,
        Self::Unavailable,
        Self::ReadOnly,
    ];

    /// The HTTP status.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Forbidden
            | Self::SessionEnded
            | Self::SecondFactorNeeded
            | Self::CrossSite
            | Self::NotTheProxy
            | Self::PasswordsOff => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::Conflict | Self::SentBefore | Self::Refused => 409,
            Self::TicketUsed | Self::StartUsed => 410,
            Self::TooLarge => 413,
            Self::WrongHost => 421,
            Self::TooManyRequests | Self::TooManyExports => 429,
            Self::Failed => 500,
            Self::Unavailable | Self::ReadOnly => 503,
        }
    }
}

impl ErrorPage {
    fn heading(&self) -> &str {
        &self.heading
    }

    /// The page of this reason. `back` is the path of the one link, which most reasons show.
    #[must_use]
    pub fn of(card: Card, kind: ErrorKind, back: Option<String>) -> Self {
        let words = (card.t.error)(kind);
        let action = back.map(|path| (path, words.link.to_owned()));
        Self {
            status: kind.status(),
            heading: words.heading.to_owned(),
            text: words.text.to_owned(),
            advice: words.advice.to_owned(),
            action,
            card,
        }
    }
}
