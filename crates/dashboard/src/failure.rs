//! Requests that end without the page that they ask for.

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, RETRY_AFTER};
use actix_web::{HttpResponse, ResponseError};
use askama::Template;
use signpost_app::accounts::OperatorError;
use signpost_app::admission::NotEntered;
use signpost_app::people::PersonError;
use signpost_app::people::identity::IdentityError;
use signpost_app::ports::StoreError;
use signpost_app::{AppError, with_causes};
use signpost_domain::Refusal;

use crate::answer::see_other;
use crate::frame;
use crate::kept_form::KeptForm;
use crate::pages::is_sent_before;
use crate::pages::second_factor::PATH as SECOND_FACTOR;
use crate::paths::with_query;
use crate::views::{ErrorKind, ErrorPage};

/// Why a request ends without the page that it asks for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The browser has to get this path first, such as the sign-in.
    #[error("redirected")]
    Redirected(String),
    /// The form did not count. The page keeps it, and sends it again.
    #[error("the form is kept")]
    FormKept(Box<KeptForm>),
    /// An error page.
    #[error("{0:?}")]
    Page(ErrorKind),
    /// An error page for a request that may succeed later.
    #[error("{kind:?}")]
    Later {
        /// The page.
        kind: ErrorKind,
        /// The value of `Retry-After`.
        seconds: u32,
    },
    /// The form is larger than this many bytes, so the rest of it was not read.
    #[error("the form has more than {max_bytes} bytes")]
    TooLarge {
        /// The limit.
        max_bytes: usize,
    },
    /// The use case refused the request as a whole, in these words.
    #[error("{0}")]
    Refused(Refusal),
    /// Something broke. The text goes to the log only.
    #[error("{0}")]
    Broken(String),
}

impl Failure {
    /// Nothing has the path, or it belongs to others (D2).
    pub(crate) const NOT_FOUND: Self = Self::Page(ErrorKind::NotFound);

    /// The kind of its page. `None` for a redirect.
    pub(crate) fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Redirected(_) => None,
            Self::FormKept(kept) => Some(kept.kind()),
            Self::TooLarge { max_bytes: _ } => Some(ErrorKind::TooLarge),
            Self::Page(kind) | Self::Later { kind, seconds: _ } => Some(*kind),
            Self::Refused(_) => Some(ErrorKind::Refused),
            Self::Broken(_) => Some(ErrorKind::Failed),
        }
    }

    /// What a page of this kind says about it.
    pub(crate) fn text(&self, kind: ErrorKind) -> String {
        match self {
            Self::TooLarge { max_bytes } => (frame::TEXTS.kept.too_large)(*max_bytes),
            Self::Refused(refusal) => refusal.to_string(),
            Self::Redirected(_)
            | Self::FormKept(_)
            | Self::Page(_)
            | Self::Later { .. }
            | Self::Broken(_) => (frame::TEXTS.error)(kind).text.to_owned(),
        }
    }

    /// Logs what its page does not say.
    pub(crate) fn log(&self) {
        if let Self::Broken(cause) = self {
            tracing::error!(cause, "a request failed");
        }
    }

    /// The person has to sign in, and gets to `next` afterwards.
    pub(crate) fn sign_in_first(next: &str) -> Self {
        Self::Redirected(Self::sign_in_path(next))
    }

    /// The path of the sign-in, after which the person gets to `next`.
    pub(crate) fn sign_in_path(next: &str) -> String {
        with_next("/sign-in", next)
    }

    /// The person has to set up a second factor, and gets to `next` afterwards.
    pub(crate) fn second_factor_first(next: &str) -> Self {
        let next = [("next", next)].into_iter().filter(|(_, next)| *next != "/");
        Self::Redirected(with_query(SECOND_FACTOR, [("said", "factor-needed")].into_iter().chain(next)))
    }

    /// The person has to confirm the password, and gets to `next` afterwards.
    pub(crate) fn confirm_first(next: &str) -> Self {
        Self::Redirected(with_next("/confirm", next))
    }
}

/// A path with the query parameter `next`, unless that is the start page.
pub(crate) fn with_next(path: &str, next: &str) -> String {
    if next == "/" || next.is_empty() {
        return path.to_owned();
    }
    with_query(path, [("next", next)])
}

impl ResponseError for Failure {
    fn status_code(&self) -> StatusCode {
        let Some(kind) = self.kind() else { return StatusCode::SEE_OTHER };
        StatusCode::from_u16(kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        let kind = match self {
            Self::Redirected(path) => return see_other(path),
            Self::FormKept(kept) => return kept.page(HttpResponse::build(self.status_code())),
            _ => self.kind().unwrap_or(ErrorKind::Failed),
        };
        self.log();
        let page =
            ErrorPage { text: self.text(kind), ..ErrorPage::of(frame::card(), kind, Some("/".to_owned())) };
        let mut response = HttpResponse::build(self.status_code());
        response.insert_header((CONTENT_TYPE, "text/html; charset=utf-8"));
        if let Self::Later { kind: _, seconds } = self {
            response.insert_header((RETRY_AFTER, *seconds));
        }
        response.body(page.render().unwrap_or_else(|_| page.text.clone()))
    }
}

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        match error {
            AppError::Refused(
                Refusal::RedirectNotFound
                | Refusal::LandingNotFound
                | Refusal::GroupNotFound
                | Refusal::DomainNotFound
                | Refusal::NotFound(_),
            )
            | AppError::AccountGone => Self::NOT_FOUND,
            AppError::Refused(Refusal::NotPermitted(_)) => Self::Page(ErrorKind::Forbidden),
            AppError::Refused(Refusal::PreconditionFailed(_)) => Self::Page(ErrorKind::Conflict),
            AppError::Invalid(violations) if is_sent_before(&violations) => Self::Page(ErrorKind::SentBefore),
            // Forms show what is wrong with them, so only an address is left, such as one of live figures.
            AppError::Invalid(_) => Self::Page(ErrorKind::Refused),
            AppError::Refused(refusal) => Self::Refused(refusal),
            AppError::PasswordsBusy => Self::Later { kind: ErrorKind::Unavailable, seconds: 1 },
            AppError::TooManySearches | AppError::AnalyticsBusy => {
                Self::Later { kind: ErrorKind::TooManyRequests, seconds: 1 }
            }
            AppError::NoRoomForAnswer { retry_after_seconds } => {
                Self::Later { kind: ErrorKind::TooManyRequests, seconds: retry_after_seconds }
            }
            AppError::TooManyExports { retry_after_seconds } => {
                Self::Later { kind: ErrorKind::TooManyExports, seconds: retry_after_seconds }
            }
            AppError::AnsweredBefore(answer) => match answer.location {
                Some(location) => Self::Redirected(location),
                None => Self::Page(ErrorKind::Conflict),
            },
            AppError::Store(error) => error.into(),
            error @ (AppError::AnalyticsUnavailable(_)
            | AppError::HashingFailed(_)
            | AppError::Randomness(_)
            | AppError::NoFreeSlug { .. }
            | AppError::NoOutcome) => Self::Broken(with_causes(&error)),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        AppError::from(refusal).into()
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) => {
                tracing::error!(cause = with_causes(&error), "the store gave no answer");
                Self::Later { kind: ErrorKind::Unavailable, seconds: 5 }
            }
            StoreError::Unwritable(_) => {
                tracing::error!(cause = with_causes(&error), "the store took no change");
                Self::Later { kind: ErrorKind::ReadOnly, seconds: 10 }
            }
            StoreError::Contended | StoreError::Corrupt { .. } => Self::Broken(with_causes(&error)),
        }
    }
}

impl From<NotEntered> for Failure {
    fn from(error: NotEntered) -> Self {
        match error {
            NotEntered::NotSignedIn => Self::sign_in_first("/"),
            NotEntered::NotAMember(_) => Self::NOT_FOUND,
            NotEntered::SecondFactorRequired(_) => Self::second_factor_first("/"),
            NotEntered::TooManyRequests { retry_after_seconds } => {
                Self::Later { kind: ErrorKind::TooManyRequests, seconds: retry_after_seconds }
            }
            NotEntered::TooManyInFlight => Self::Later { kind: ErrorKind::TooManyRequests, seconds: 1 },
            NotEntered::UnknownPlan => Self::Page(ErrorKind::Failed),
            NotEntered::Store(error) => error.into(),
            NotEntered::Broken(error) => error.into(),
        }
    }
}

impl From<OperatorError> for Failure {
    fn from(error: OperatorError) -> Self {
        match error {
            OperatorError::NoSuchAccount(_)
            | OperatorError::NoAccountWithEmail(_)
            | OperatorError::NoSuchKey(_)
            | OperatorError::NoKeyOfThisSecret
            | OperatorError::NoSuchUser(_) => Self::NOT_FOUND,
            // The pages offer neither, so the user has changed meanwhile.
            OperatorError::UserDisabled(_) | OperatorError::OwnUser => Self::Page(ErrorKind::Conflict),
            OperatorError::Person(error) => (*error).into(),
            OperatorError::Broken(error) => error.into(),
            // Their forms show these.
            error @ (OperatorError::NoSuchPlan { .. } | OperatorError::EmailTaken(_)) => {
                Self::Broken(error.to_string())
            }
        }
    }
}

impl From<PersonError> for Failure {
    fn from(error: PersonError) -> Self {
        match error {
            PersonError::Identity(IdentityError::NoProvider) => Self::NOT_FOUND,
            PersonError::TicketVoid => Self::Page(ErrorKind::TicketUsed),
            PersonError::NotInvited => Self::Page(ErrorKind::Forbidden),
            PersonError::PasswordsOff => Self::Page(ErrorKind::PasswordsOff),
            PersonError::NotConfirmed => Self::confirm_first("/"),
            PersonError::SignInExpired => Self::Redirected("/sign-in?said=code-too-late".to_owned()),
            PersonError::OwnFactorFirst => Self::Redirected(format!("{SECOND_FACTOR}?said=own-factor-first")),
            // That page says what is possible.
            PersonError::SetupVoid
            | PersonError::NoSecondFactor
            | PersonError::NoPassword
            | PersonError::NoSecretsKey => Self::Redirected(SECOND_FACTOR.to_owned()),
            PersonError::Gone | PersonError::SignInToAccept => Self::sign_in_first("/"),
            PersonError::Busy => Self::Later { kind: ErrorKind::Unavailable, seconds: 2 },
            PersonError::Wait { seconds } => Self::Later { kind: ErrorKind::TooManyRequests, seconds },
            PersonError::Broken(error) => error.into(),
            PersonError::HashingFailed(cause) => Self::Broken(cause),
            // Their forms show these.
            error @ (PersonError::Invalid(_)
            | PersonError::Identity(_)
            | PersonError::EmailTaken
            | PersonError::EmailOfProxy
            | PersonError::LastOwner
            | PersonError::WrongPassword
            | PersonError::WrongCode
            | PersonError::SeedLost) => Self::Broken(error.to_string()),
        }
    }
}
