//! Descriptions and example messages of the error codes (contract "Codes").

use signpost_domain::ErrorCode;

use crate::api_error::BROKEN;
use crate::schema::examples;

/// When an error has this code.
pub(super) const fn meaning(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::InvalidRequest => "the request breaks rules; `details` lists every violation",
        ErrorCode::InvalidApiKey => "the key is missing, malformed, unknown, revoked or expired",
        ErrorCode::AccountSuspended => "the account is suspended",
        ErrorCode::ApiAccessNotAvailableOnCurrentPlan => "the plan does not include the API",
        ErrorCode::FeatureNotAvailableOnCurrentPlan => {
            "the plan does not include a feature that the request uses"
        }
        ErrorCode::PlanLimitReached => "the plan's limit of such resources is reached",
        ErrorCode::AnalyticsRangeExceedsPlanLimit => "the requested period is longer than the plan allows",
        ErrorCode::DomainNotFound => "the account has no such domain",
        ErrorCode::DomainNotActive => "the domain is not active: not verified, or failed since then",
        ErrorCode::SlugRequiredForSystemDomain => "a link on the system domain needs a slug",
        ErrorCode::RedirectNotFound => "the account has no such redirect",
        ErrorCode::LandingNotFound => "the account has no such landing page",
        ErrorCode::GroupNotFound => "the account has no such group",
        ErrorCode::SlugAlreadyTaken => {
            "another link has the address, or the slug is reserved; `details` says which, and names the link if it is the account's own"
        }
        ErrorCode::HostnameAlreadyTaken => {
            "another account has the hostname; the message names the record that proves that it is yours"
        }
        ErrorCode::HostnameIsSystemDomain => "the hostname belongs to the service",
        ErrorCode::DomainProviderUnavailable => {
            "DNS did not answer, or the operator has not set up custom domains; nothing was changed; try again after `Retry-After` seconds"
        }
        ErrorCode::AnalyticsNotConfigured => "the link counts no visits",
        ErrorCode::PayloadTooLarge => "the body is larger than 1 MiB",
        ErrorCode::UnsupportedMediaType => "the body's `Content-Type` is not `application/json`",
        ErrorCode::RateLimitExceeded => {
            "the minute's requests are used up, the account has too many requests or searches in flight, the answers \
             to its keyed requests leave no room for another, or too many requests from this address were refused; wait `Retry-After` seconds"
        }
        ErrorCode::DailyQuotaExceeded => {
            "the day's requests are used up; the next day begins at midnight UTC"
        }
        ErrorCode::AnalyticsTemporarilyUnavailable => "analytics are unavailable; try again",
        ErrorCode::InternalError => "something failed on our side",
        ErrorCode::DuplicateIdInBatch => "an earlier item of the batch has the same id",
        ErrorCode::DuplicateSlugInBatch => "an earlier item of the batch has the same address",
    }
}

/// An example of the message of an error with this code.
pub(super) const fn message(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::InvalidRequest => "`limit` must be from 1 to 100.",
        ErrorCode::InvalidApiKey => {
            "The API key is missing, malformed, unknown, revoked or expired. Send it as `Authorization: Bearer <key>`."
        }
        ErrorCode::AccountSuspended => "The account is suspended.",
        ErrorCode::ApiAccessNotAvailableOnCurrentPlan => "The account's plan does not include the API.",
        ErrorCode::FeatureNotAvailableOnCurrentPlan => {
            "The feature `geo_blocking` is not part of the current plan."
        }
        ErrorCode::PlanLimitReached => "The plan allows at most 1000000 links.",
        ErrorCode::AnalyticsRangeExceedsPlanLimit => "The plan allows periods of at most 1096 days.",
        ErrorCode::DomainNotFound => "No such domain.",
        ErrorCode::DomainNotActive => {
            "The domain is not active: its records are not verified, or it has failed since. Verify it first."
        }
        ErrorCode::SlugRequiredForSystemDomain => "A link on the system domain needs a slug.",
        ErrorCode::RedirectNotFound => "No such redirect.",
        ErrorCode::LandingNotFound => "No such landing page.",
        ErrorCode::GroupNotFound => "No such group.",
        ErrorCode::SlugAlreadyTaken => examples::TAKEN,
        ErrorCode::HostnameAlreadyTaken => {
            "Another account has connected this hostname. If the hostname is yours, add a TXT record at \
             `_signpost.links.example.org` with the value `signpost-verification=0123456789abcdef0123456789abcdef` and \
             connect it again: that outdoes a claim that was never proven."
        }
        ErrorCode::HostnameIsSystemDomain => "This hostname belongs to the service and cannot be connected.",
        ErrorCode::DomainProviderUnavailable => {
            "DNS gave no answer about this hostname, and nothing was changed; try again later."
        }
        ErrorCode::AnalyticsNotConfigured => "This link counts no visits.",
        ErrorCode::PayloadTooLarge => "The request body is larger than 1 MiB.",
        ErrorCode::UnsupportedMediaType => "Send the body with `Content-Type: application/json`.",
        ErrorCode::RateLimitExceeded => "The requests of this minute are used up. Try again in 12 seconds.",
        ErrorCode::DailyQuotaExceeded => {
            "The requests of this day are used up. The next day begins at midnight UTC."
        }
        ErrorCode::AnalyticsTemporarilyUnavailable => "Analytics are unavailable. Try again.",
        ErrorCode::InternalError => BROKEN,
        ErrorCode::DuplicateIdInBatch => "An earlier item of this batch has the same id.",
        ErrorCode::DuplicateSlugInBatch => "An earlier item of this batch has the same address.",
    }
}
