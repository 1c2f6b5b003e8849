//! The four headers that tell an identified caller its budget (contract "Request budget", D17).

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use signpost_app::RateLimits;
use signpost_domain::{QuotaRemaining, RequestBudget};

const LIMIT_MINUTE: HeaderName = HeaderName::from_static("ratelimit-limit-minute");
const REMAINING_MINUTE: HeaderName = HeaderName::from_static("ratelimit-remaining-minute");
const LIMIT_DAY: HeaderName = HeaderName::from_static("ratelimit-limit-day");
const REMAINING_DAY: HeaderName = HeaderName::from_static("ratelimit-remaining-day");

/// Puts the four headers on a response.
pub(crate) fn insert(headers: &mut HeaderMap, rate_limits: RateLimits) {
    let RateLimits { budget: RequestBudget { per_minute, per_day }, remaining } = rate_limits;
    let QuotaRemaining { minute, day } = remaining;
    for (name, value) in
        [(LIMIT_MINUTE, per_minute), (REMAINING_MINUTE, minute), (LIMIT_DAY, per_day), (REMAINING_DAY, day)]
    {
        headers.insert(name, HeaderValue::from(value));
    }
}
