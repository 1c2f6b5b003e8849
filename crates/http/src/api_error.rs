//! How a request to the API fails.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use actix_web::ResponseError;
use actix_web::http::StatusCode;
use signpost_app::AppError;
use signpost_app::admission::Reason;
use signpost_app::ports::StoreError;
use signpost_domain::{ErrorCode, QuotaWindow, Refusal, Violations};

use crate::error_status::status_of;
use crate::extract::{BODY, Unsupported};
use crate::remembered_answer;
use crate::wire::{Detail, sentence};

/// Why a request is not answered as it wished. Handlers and extractors return it; the outermost middleware makes
/// the contract's envelope of it, because only there the request id is known.
///
/// What callers may read comes from [`Self::code`], [`Self::message`] and [`Self::details`]; what broke comes
/// from [`Self::cause`] and goes to the log only. There is no way to print both at once.
pub(crate) enum ApiError {
    /// The request was not admitted.
    NotAdmitted(Reason),
    /// The request is no HTTP that can be read; a sentence for people says why.
    Unreadable(&'static str),
    /// There are more connections than the listener takes.
    Overloaded,
    /// No endpoint has this path.
    NoSuchPath,
    /// The path has endpoints, but none with this method.
    MethodNotAllowed {
        /// The methods that it has, as the header `Allow` lists them.
        allow: String,
    },
    /// The body is announced as something else than it must be.
    UnsupportedMediaType(Unsupported),
    /// The body is larger than it may be.
    PayloadTooLarge,
    /// Fields or parameters break their rules: all of them.
    Invalid(Violations),
    /// The use case failed.
    App(AppError),
    /// Something broke here; what, is for the log.
    Internal(String),
}

impl ApiError {
    /// The contract's code.
    pub(crate) const fn code(&self) -> ErrorCode {
        match self {
            Self::NotAdmitted(reason) => reason.code(),
            Self::Unreadable(_) | Self::NoSuchPath | Self::MethodNotAllowed { .. } | Self::Invalid(_) => {
                ErrorCode::InvalidRequest
            }
            Self::UnsupportedMediaType(_) => ErrorCode::UnsupportedMediaType,
            Self::PayloadTooLarge => ErrorCode::PayloadTooLarge,
            Self::App(error) => error.code(),
            Self::Overloaded | Self::Internal(_) => ErrorCode::InternalError,
        }
    }

    /// The code that the answer carries, for the log; `None` if there is none, because it is a success that is given
    /// again.
    pub(crate) fn answered_code(&self) -> Option<ErrorCode> {
        match self {
            Self::App(AppError::AnsweredBefore(answer)) => remembered_answer::code(answer),
            Self::NotAdmitted(_)
            | Self::Unreadable(_)
            | Self::Overloaded
            | Self::NoSuchPath
            | Self::MethodNotAllowed { .. }
            | Self::UnsupportedMediaType(_)
            | Self::PayloadTooLarge
            | Self::Invalid(_)
            | Self::App(_)
            | Self::Internal(_) => Some(self.code()),
        }
    }

    /// The status (D6).
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            // Pixels have no code of their own.
            Self::NoSuchPath | Self::App(AppError::Refused(Refusal::PixelNotFound)) => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::Overloaded
            // Nothing failed here: the change fits as soon as the operator has made room.
            | Self::App(AppError::Store(StoreError::Unwritable(_)))
            | Self::NotAdmitted(Reason::Store(StoreError::Unwritable(_))) => StatusCode::SERVICE_UNAVAILABLE,
            Self::NotAdmitted(_)
            | Self::Unreadable(_)
            | Self::UnsupportedMediaType(_)
            | Self::PayloadTooLarge
            | Self::Invalid(_)
            | Self::App(_)
            | Self::Internal(_) => status_of(self.code()),
        }
    }

    /// A sentence for people.
    pub(crate) fn message(&self) -> Cow<'static, str> {
        match self {
            Self::NotAdmitted(reason) => message_of(reason),
            Self::NoSuchPath => "There is no endpoint at this path.".into(),
            Self::MethodNotAllowed { allow } => format!("This path takes only {allow}.").into(),
            Self::Unreadable(message) | Self::UnsupportedMediaType(Unsupported(message)) => (*message).into(),
            Self::Overloaded => "There are too many connections. Try again in a second.".into(),
            Self::PayloadTooLarge => "The request body is larger than 1 MiB.".into(),
            Self::Invalid(violations) | Self::App(AppError::Invalid(violations)) => {
                match (violations.iter().next(), violations.count()) {
                    (None, _) => "The request is invalid.".into(),
                    (Some(only), 1) => sentence(only).into(),
                    (Some(_), count @ ..=Violations::MAX_LISTED) => {
                        format!("The request has {count} violations; `details` lists them.").into()
                    }
                    (Some(_), count) => {
                        let listed = Violations::MAX_LISTED;
                        format!("The request has {count} violations; `details` lists the first {listed}.")
                            .into()
                    }
                }
            }
            Self::App(AppError::AccountGone) => message_of(&Reason::InvalidKey),
            Self::App(AppError::TooManySearches) => {
                "Too many searches of this account are running at the same time: lists with `q` or with several filters. \
                 Wait for their answers, and try again in a second."
                    .into()
            }
            Self::App(AppError::NoRoomForAnswer { retry_after_seconds }) => format!(
                "The answers to this account's requests with an `Idempotency-Key` leave no room for one more, and nothing \
                 was changed. Try again in {}, or send the request without a key.",
                seconds(*retry_after_seconds)
            )
            .into(),
            Self::App(AppError::TooManyExports { retry_after_seconds }) => format!(
                "An account exports clicks once a minute and one at a time. Try again in {}.",
                seconds(*retry_after_seconds)
            )
            .into(),
            Self::App(AppError::AnalyticsBusy | AppError::AnalyticsUnavailable(_)) => {
                "Analytics cannot be answered at the moment, and no click is lost meanwhile. Try again in a few seconds, \
                 or ask for a shorter period."
                    .into()
            }
            Self::App(AppError::Refused(refusal)) => refusal.to_string().into(),
            Self::App(AppError::Store(StoreError::Unwritable(_))) => UNWRITABLE.into(),
            // What was answered is answered again; only an answer that cannot be read comes so far.
            Self::App(
                AppError::AnsweredBefore(_)
                | AppError::Store(_)
                | AppError::Randomness(_)
                | AppError::NoFreeSlug { .. }
                | AppError::NoOutcome,
            )
            | Self::Internal(_) => BROKEN.into(),
        }
    }

    /// The entries of `details`: what is wrong with single fields, if anything is.
    pub(crate) fn details(&self) -> Option<Vec<Detail>> {
        match self {
            Self::Invalid(violations) | Self::App(AppError::Invalid(violations)) => {
                Detail::of_violations(violations, BODY)
            }
            Self::App(AppError::Refused(refusal)) => Detail::of_refusal(refusal),
            Self::NotAdmitted(_)
            | Self::Unreadable(_)
            | Self::Overloaded
            | Self::NoSuchPath
            | Self::MethodNotAllowed { .. }
            | Self::UnsupportedMediaType(_)
            | Self::PayloadTooLarge
            | Self::App(
                AppError::AnsweredBefore(_)
                | AppError::TooManySearches
                | AppError::NoRoomForAnswer { .. }
                | AppError::TooManyExports { .. }
                | AppError::AnalyticsBusy
                | AppError::AnalyticsUnavailable(_)
                | AppError::AccountGone
                | AppError::Store(_)
                | AppError::Randomness(_)
                | AppError::NoFreeSlug { .. }
                | AppError::NoOutcome,
            )
            | Self::Internal(_) => None,
        }
    }

    /// The seconds after which it is worth to try again, if that is known: the header `Retry-After`.
    pub(crate) const fn retry_after_seconds(&self) -> Option<u32> {
        match self {
            Self::NotAdmitted(
                Reason::AddressThrottled { retry_after_seconds }
                | Reason::Exhausted { retry_after_seconds, .. },
            )
            | Self::App(
                AppError::NoRoomForAnswer { retry_after_seconds }
                | AppError::TooManyExports { retry_after_seconds },
            ) => Some(*retry_after_seconds),
            Self::App(AppError::AnalyticsBusy | AppError::AnalyticsUnavailable(_)) => {
                Some(ANALYTICS_RETRY_SECONDS)
            }
            Self::NotAdmitted(Reason::TooManyInFlight) | Self::App(AppError::TooManySearches) => {
                Some(CONCURRENCY_RETRY_SECONDS)
            }
            Self::App(AppError::Refused(Refusal::DomainProviderUnavailable)) => Some(DNS_RETRY_SECONDS),
            Self::App(AppError::Refused(Refusal::DomainsNotOffered)) => Some(OPERATOR_RETRY_SECONDS),
            Self::Overloaded => Some(1),
            Self::App(AppError::Store(StoreError::Unwritable(_)))
            | Self::NotAdmitted(Reason::Store(StoreError::Unwritable(_))) => Some(STORE_RETRY_SECONDS),
            Self::NotAdmitted(
                Reason::InvalidKey | Reason::Suspended | Reason::NoApiAccess | Reason::Store(_),
            )
            | Self::Unreadable(_)
            | Self::NoSuchPath
            | Self::MethodNotAllowed { .. }
            | Self::UnsupportedMediaType(_)
            | Self::PayloadTooLarge
            | Self::Invalid(_)
            | Self::App(_)
            | Self::Internal(_) => None,
        }
    }

    /// What broke, for the log; `None` if nothing did and the caller knows all there is to know.
    pub(crate) fn cause(&self) -> Option<String> {
        match self {
            Self::NotAdmitted(Reason::Store(error)) => Some(with_sources(error)),
            Self::App(
                error @ (AppError::AnalyticsUnavailable(_)
                | AppError::Store(_)
                | AppError::Randomness(_)
                | AppError::NoFreeSlug { .. }
                | AppError::NoOutcome),
            ) => Some(with_sources(error)),
            Self::App(AppError::AnsweredBefore(answer)) => remembered_answer::cause(answer),
            Self::Internal(cause) => Some(cause.clone()),
            Self::NotAdmitted(
                Reason::AddressThrottled { .. }
                | Reason::InvalidKey
                | Reason::Suspended
                | Reason::NoApiAccess
                | Reason::TooManyInFlight
                | Reason::Exhausted { .. },
            )
            | Self::Unreadable(_)
            | Self::Overloaded
            | Self::NoSuchPath
            | Self::MethodNotAllowed { .. }
            | Self::UnsupportedMediaType(_)
            | Self::PayloadTooLarge
            | Self::Invalid(_)
            | Self::App(
                AppError::Invalid(_)
                | AppError::Refused(_)
                | AppError::TooManySearches
                | AppError::NoRoomForAnswer { .. }
                | AppError::TooManyExports { .. }
                | AppError::AnalyticsBusy
                | AppError::AccountGone,
            ) => None,
        }
    }
}

/// How long a caller is asked to wait when DNS gave no answer, in seconds: enough for a name server that was overrun or
/// restarted to be back.
const DNS_RETRY_SECONDS: u32 = 10;

/// How long a caller is asked to wait for analytics, in seconds: long enough for the questions before it to be answered.
const ANALYTICS_RETRY_SECONDS: u32 = 5;

/// How long a caller is asked to wait for what the operator has to set up first, in seconds.
const OPERATOR_RETRY_SECONDS: u32 = 3_600;

/// How long a caller is asked to wait who has too much in flight, in seconds: most requests are answered much sooner.
const CONCURRENCY_RETRY_SECONDS: u32 = 1;
/// How long a caller is asked to wait while the store cannot be written, in seconds. An operator has to make room, but
/// what waits longer notices later that there is some.
const STORE_RETRY_SECONDS: u32 = 10;

/// The message to a change that the store cannot keep.
pub(crate) const UNWRITABLE: &str = "The service can store no changes at the moment, but everything can be read. Nothing was changed; try again later.";

const BROKEN: &str = "Something failed on our side. Try again; if it stays so, tell support the request id.";

fn message_of(reason: &Reason) -> Cow<'static, str> {
    match reason {
        Reason::AddressThrottled { retry_after_seconds } => format!(
            "Too many refused requests came from this address; every request from it is refused for {retry_after_seconds} \
             more {}.",
            if *retry_after_seconds == 1 { "second" } else { "seconds" }
        )
        .into(),
        Reason::InvalidKey => {
            "The API key is missing, malformed, unknown or revoked. Send it as `Authorization: Bearer <key>`.".into()
        }
        Reason::Suspended => "The account is suspended.".into(),
        Reason::NoApiAccess => "The account's plan does not include the API.".into(),
        Reason::TooManyInFlight => {
            "Too many requests of this account are being answered at the same time. Wait for their answers, and try \
             again in a second."
                .into()
        }
        Reason::Exhausted { window: QuotaWindow::Minute, retry_after_seconds } => {
            format!("The requests of this minute are used up. Try again in {}.", seconds(*retry_after_seconds)).into()
        }
        Reason::Exhausted { window: QuotaWindow::Day, .. } => {
            "The requests of this day are used up. The next day begins at midnight UTC.".into()
        }
        Reason::Store(StoreError::Unwritable(_)) => UNWRITABLE.into(),
        Reason::Store(_) => BROKEN.into(),
    }
}

/// A number of seconds in words.
fn seconds(number: u32) -> String {
    if number == 1 { "1 second".to_owned() } else { format!("{number} seconds") }
}

fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

/// The code alone: whoever prints an error by accident prints nothing that is not public.
impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code().as_str())
    }
}

impl fmt::Debug for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiError({self})")
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.status()
    }
}

impl From<AppError> for ApiError {
    fn from(error: AppError) -> Self {
        Self::App(error)
    }
}

impl From<Violations> for ApiError {
    fn from(violations: Violations) -> Self {
        Self::Invalid(violations)
    }
}
