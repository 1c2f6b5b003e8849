//! The status and `Retry-After` of each error (D6).

use actix_web::http::StatusCode;
use signpost_app::AppError;
use signpost_app::admission::Reason;
use signpost_app::ports::StoreError;
use signpost_domain::{ErrorCode, Refusal};

use super::ApiError;

/// The status that the table of D6 gives to a code. [`ApiError::status`] knows the exceptions.
pub(crate) const fn status_of(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::InvalidRequest
        | ErrorCode::SlugRequiredForSystemDomain
        | ErrorCode::HostnameIsSystemDomain => StatusCode::BAD_REQUEST,
        ErrorCode::InvalidApiKey => StatusCode::UNAUTHORIZED,
        ErrorCode::AccountSuspended
        | ErrorCode::ApiAccessNotAvailableOnCurrentPlan
        | ErrorCode::FeatureNotAvailableOnCurrentPlan
        | ErrorCode::PlanLimitReached
        | ErrorCode::AnalyticsRangeExceedsPlanLimit => StatusCode::FORBIDDEN,
        ErrorCode::DomainNotFound
        | ErrorCode::RedirectNotFound
        | ErrorCode::LandingNotFound
        | ErrorCode::GroupNotFound => StatusCode::NOT_FOUND,
        ErrorCode::SlugAlreadyTaken
        | ErrorCode::HostnameAlreadyTaken
        | ErrorCode::DomainNotActive
        | ErrorCode::AnalyticsNotConfigured
        | ErrorCode::DuplicateIdInBatch
        | ErrorCode::DuplicateSlugInBatch => StatusCode::CONFLICT,
        ErrorCode::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorCode::RateLimitExceeded | ErrorCode::DailyQuotaExceeded => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorCode::DomainProviderUnavailable | ErrorCode::AnalyticsTemporarilyUnavailable => {
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}

impl ApiError {
    /// The status (D6).
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::App(AppError::Refused(Refusal::PreconditionFailed(_))) => StatusCode::PRECONDITION_FAILED,
            // The contract has no code for absent things of some kinds, such as pixels.
            Self::NoSuchPath | Self::App(AppError::Refused(Refusal::NotFound(_))) => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            Self::Overloaded
            // The same change succeeds as soon as others are hashed, or the operator has freed space.
            | Self::App(AppError::PasswordsBusy | AppError::Store(StoreError::Unwritable(_)))
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

    /// The seconds of the header `Retry-After`, where a retry can succeed.
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
            Self::Overloaded | Self::App(AppError::PasswordsBusy) => Some(1),
            Self::App(AppError::Store(StoreError::Unwritable(_)))
            | Self::NotAdmitted(Reason::Store(StoreError::Unwritable(_))) => Some(STORE_RETRY_SECONDS),
            Self::NotAdmitted(
                Reason::InvalidKey | Reason::Suspended | Reason::NoApiAccess | Reason::Store(_),
            )
            | Self::Unreadable(_)
            | Self::Misdirected
            | Self::NoSuchPath
            | Self::MethodNotAllowed { .. }
            | Self::UnsupportedMediaType(_)
            | Self::PayloadTooLarge
            | Self::Invalid(_)
            | Self::App(_)
            | Self::Internal(_) => None,
        }
    }
}

/// `Retry-After` when DNS did not answer: time for a name server to restart or to recover from overload.
const DNS_RETRY_SECONDS: u32 = 10;

/// `Retry-After` of analytics: time for the queued questions to be answered.
const ANALYTICS_RETRY_SECONDS: u32 = 5;

/// `Retry-After` where the operator must configure the feature first.
const OPERATOR_RETRY_SECONDS: u32 = 3_600;

/// `Retry-After` of an account with too many requests in flight: most requests take far less than a second.
const CONCURRENCY_RETRY_SECONDS: u32 = 1;

/// `Retry-After` while the store is read-only. The operator must free space, but a longer wait would delay recovery.
const STORE_RETRY_SECONDS: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// Repeats the table of D6, with the codes as clients see them.
    #[test]
    fn d6_every_code_has_the_status_of_the_table() {
        let table = [
            (400, "invalid_request slug_required_for_system_domain hostname_is_system_domain"),
            (401, "invalid_api_key"),
            (
                403,
                "account_suspended api_access_not_available_on_current_plan \
                 feature_not_available_on_current_plan plan_limit_reached analytics_range_exceeds_plan_limit",
            ),
            (404, "domain_not_found redirect_not_found landing_not_found group_not_found"),
            (
                409,
                "slug_already_taken hostname_already_taken domain_not_active analytics_not_configured \
                 duplicate_id_in_batch duplicate_slug_in_batch",
            ),
            (413, "payload_too_large"),
            (415, "unsupported_media_type"),
            (429, "rate_limit_exceeded daily_quota_exceeded"),
            (500, "internal_error"),
            (503, "domain_provider_unavailable analytics_temporarily_unavailable"),
        ];
        let listed: usize = table.iter().map(|(_, codes)| codes.split_whitespace().count()).sum();
        assert_eq!(listed, ErrorCode::ALL.len());
        for (status, codes) in table {
            for code in codes.split_whitespace() {
                let code = ErrorCode::ALL.iter().find(|known| known.as_str() == code).expect(code);
                assert_eq!(status_of(*code).as_u16(), status, "{code}");
            }
        }
    }
}
