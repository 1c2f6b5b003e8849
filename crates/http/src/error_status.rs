//! Which HTTP status goes with which error code (D6).

use actix_web::http::StatusCode;
use signpost_domain::ErrorCode;

/// The status of an error with this code. `invalid_request` is also sent with 404 and 405, for a path that no
/// endpoint has, for a pixel that is not there and for a method that a path does not take; those are no failed
/// validation and choose theirs. `internal_error` is also sent with 503, by a store that cannot be written.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of D6, written down once more, by the codes as they are sent.
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
