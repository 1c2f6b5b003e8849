//! The `Retry-After` header.

use std::time::Duration;

use hyper::header::{HeaderMap, RETRY_AFTER};
use signpost_domain::Timestamp;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

/// No authority asks for a longer wait in earnest. A mistake in a header must not put renewals off until certificates
/// have expired.
const LONGEST: Duration = Duration::from_hours(30 * 24);

/// When the server wants to be asked again: a number of seconds, or a date. `None` if it does not say. An instant in the
/// past becomes `now`.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Timestamp> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let at = match text.parse::<u64>() {
        Ok(seconds) => now.plus(Duration::from_secs(seconds)),
        Err(_) => instant(OffsetDateTime::parse(text, &Rfc2822).ok()?)?,
    };
    Some(at.clamp(now, now.plus(LONGEST)))
}

/// An instant of another library; `None` outside of the years of timestamps.
pub(crate) fn instant(time: OffsetDateTime) -> Option<Timestamp> {
    let millis = time.unix_timestamp_nanos().div_euclid(1_000_000);
    i64::try_from(millis).ok().and_then(Timestamp::from_unix_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<u64> {
        let now = Timestamp::parse("2026-01-31T09:00:00Z").unwrap();
        let headers = HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
        let at = retry_after(&headers, now)?;
        Some((at.unix_millis() - now.unix_millis()).unsigned_abs() / 1_000)
    }

    #[test]
    fn d190_retry_after_is_seconds_or_a_date() {
        assert_eq!(read("120"), Some(120));
        assert_eq!(read(" 0 "), Some(0));
        assert_eq!(read("Sat, 31 Jan 2026 10:00:00 GMT"), Some(3_600));
        assert_eq!(read("Fri, 30 Jan 2026 10:00:00 GMT"), Some(0));
        for text in ["", "soon", "-5", "1.5"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn d190_an_absurd_wait_is_cut_to_30_days() {
        assert_eq!(read("99999999999999"), Some(30 * 86_400));
        assert_eq!(read("Fri, 31 Dec 9999 23:59:59 GMT"), Some(30 * 86_400));
    }
}
