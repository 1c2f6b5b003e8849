//! The closed list of error codes (contract "Codes", D6).

use std::fmt;

macro_rules! error_codes {
    ($($(#[$doc:meta])+ $variant:ident = $code:literal,)+) => {
        /// The machine code of an error. The list is closed: no other code is sent, in an error or in an item
        /// of a bulk result (D6).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($(#[$doc])+ $variant,)+
        }

        impl ErrorCode {
            /// All codes, in the order of the contract.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The code in a response.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)+
                }
            }
        }
    };
}

error_codes! {
    /// Request validation failed.
    InvalidRequest = "invalid_request",
    /// Key missing, malformed, revoked or unknown.
    InvalidApiKey = "invalid_api_key",
    /// The account is suspended.
    AccountSuspended = "account_suspended",
    /// The plan does not include the API.
    ApiAccessNotAvailableOnCurrentPlan = "api_access_not_available_on_current_plan",
    /// The plan does not include the feature.
    FeatureNotAvailableOnCurrentPlan = "feature_not_available_on_current_plan",
    /// The plan's limit has been reached.
    PlanLimitReached = "plan_limit_reached",
    /// The requested period is longer than the plan allows.
    AnalyticsRangeExceedsPlanLimit = "analytics_range_exceeds_plan_limit",
    /// No such domain.
    DomainNotFound = "domain_not_found",
    /// The domain exists, but its verification is incomplete.
    DomainNotActive = "domain_not_active",
    /// A slug is required on the system domain.
    SlugRequiredForSystemDomain = "slug_required_for_system_domain",
    /// No such redirect.
    RedirectNotFound = "redirect_not_found",
    /// No such landing page.
    LandingNotFound = "landing_not_found",
    /// No such group.
    GroupNotFound = "group_not_found",
    /// The address is taken.
    SlugAlreadyTaken = "slug_already_taken",
    /// The hostname is connected to another account.
    HostnameAlreadyTaken = "hostname_already_taken",
    /// The hostname belongs to the platform.
    HostnameIsSystemDomain = "hostname_is_system_domain",
    /// The name servers do not answer; retry.
    DomainProviderUnavailable = "domain_provider_unavailable",
    /// The link has no analytics.
    AnalyticsNotConfigured = "analytics_not_configured",
    /// The request body is too large.
    PayloadTooLarge = "payload_too_large",
    /// The content type is not `application/json`.
    UnsupportedMediaType = "unsupported_media_type",
    /// The per-minute limit is exceeded.
    RateLimitExceeded = "rate_limit_exceeded",
    /// The daily quota is exceeded.
    DailyQuotaExceeded = "daily_quota_exceeded",
    /// The click store does not answer; retry.
    AnalyticsTemporarilyUnavailable = "analytics_temporarily_unavailable",
    /// Something failed that the caller did not cause.
    InternalError = "internal_error",
    /// The id appears more than once in the batch.
    DuplicateIdInBatch = "duplicate_id_in_batch",
    /// Two items of the batch claim the same address.
    DuplicateSlugInBatch = "duplicate_slug_in_batch",
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn d6_the_list_is_the_contracts() {
        assert_eq!(ErrorCode::ALL.len(), 26);
        assert_eq!(ErrorCode::ALL.iter().map(|code| code.as_str()).collect::<HashSet<_>>().len(), 26);
    }
}
