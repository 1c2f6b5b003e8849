//! The sentence in each error.

use std::borrow::Cow;
use std::fmt::Write as _;

use signpost_app::AppError;
use signpost_app::admission::{Reason, WayOut};
use signpost_app::ports::StoreError;
use signpost_domain::{QuotaWindow, Violations};

use super::ApiError;
use super::detail::sentence;

impl ApiError {
    /// A sentence for people.
    pub(crate) fn message(&self) -> Cow<'static, str> {
        match self {
            Self::NotAdmitted(reason) => message_of(reason),
            Self::NoSuchPath => "There is no endpoint at this path.".into(),
            Self::MethodNotAllowed { allow } => format!("This path takes only {allow}.").into(),
            Self::Unreadable(message) | Self::UnsupportedMediaType(message) => (*message).into(),
            Self::Misdirected => "The certificate of this connection is not for the host in `Host`. Open a connection of its own \
                                  for each host."
                .into(),
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
                "The stored answers to this account's requests with an `Idempotency-Key` leave no room for another. Nothing \
                 was changed. Try again in {}, or send the request without a key.",
                seconds(*retry_after_seconds)
            )
            .into(),
            Self::App(AppError::TooManyExports { retry_after_seconds }) => format!(
                "An account can start one export of clicks per minute and run one at a time. Try again in {}.",
                seconds(*retry_after_seconds)
            )
            .into(),
            Self::App(AppError::AnalyticsBusy | AppError::AnalyticsUnavailable(_)) => {
                "Analytics are unavailable at the moment; no click is lost. Try again in a few seconds, or request a shorter \
                 period."
                    .into()
            }
            Self::App(AppError::PasswordsBusy) => {
                "Too many passwords of links are being set or checked at the moment. Nothing was changed. Try again in a second, or \
                 set fewer passwords in one request."
                    .into()
            }
            Self::App(AppError::Refused(refusal)) => refusal.to_string().into(),
            Self::App(AppError::Store(StoreError::Unwritable(_))) => UNWRITABLE.into(),
            Self::App(
                AppError::AnsweredBefore(_)
                | AppError::Store(_)
                | AppError::Randomness(_)
                | AppError::NoFreeSlug { .. }
                | AppError::HashingFailed(_)
                | AppError::NoOutcome,
            )
            | Self::Internal(_) => BROKEN.into(),
        }
    }
}

/// The message while the store is read-only.
pub(crate) const UNWRITABLE: &str = "The service can store no changes at the moment, but everything can be read. Nothing was changed; try again later.";

/// The message of every fault of the service.
pub(crate) const BROKEN: &str =
    "Something failed on our side. Try again; if it fails again, send the request id to support.";

fn message_of(reason: &Reason) -> Cow<'static, str> {
    match reason {
        Reason::AddressThrottled { retry_after_seconds } => format!(
            "Too many refused requests came from this address; every request from it is refused for {retry_after_seconds} \
             more {}.",
            if *retry_after_seconds == 1 { "second" } else { "seconds" }
        )
        .into(),
        Reason::InvalidKey => {
            "The API key is missing, malformed, unknown, revoked or expired. Send it as `Authorization: Bearer <key>`.".into()
        }
        Reason::Suspended => "The account is suspended.".into(),
        Reason::NoApiAccess => "The account's plan does not include the API.".into(),
        Reason::TooManyInFlight => {
            "Too many requests of this account are being answered at the same time. Wait for their answers, and try \
             again in a second."
                .into()
        }
        Reason::Exhausted { window, retry_after_seconds, way_out } => {
            let mut message = match window {
                QuotaWindow::Minute => format!(
                    "The requests of this minute are used up. Try again in {}.",
                    seconds(*retry_after_seconds)
                ),
                QuotaWindow::Day => {
                    "The requests of this day are used up. The next day begins at midnight UTC.".to_owned()
                }
            };
            if let Some(WayOut { account, plan }) = way_out {
                let _ = write!(
                    message,
                    " On an installation of your own, `signpost account set-plan {account} {plan}` lifts the limit."
                );
            }
            message.into()
        }
        Reason::Store(StoreError::Unwritable(_)) => UNWRITABLE.into(),
        Reason::Store(_) => BROKEN.into(),
    }
}

fn seconds(number: u32) -> String {
    if number == 1 { "1 second".to_owned() } else { format!("{number} seconds") }
}
