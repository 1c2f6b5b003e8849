//! The time of day.

use std::time::{SystemTime, UNIX_EPOCH};

use signpost_app::ports::Clock;
use signpost_domain::Timestamp;

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the port that everything else takes the time from"
        )]
        let now = SystemTime::now();
        to_timestamp(now)
    }
}

/// A clock set before 1970 stands at 1970, one set beyond the year 9999 at its end: a machine that does not know
/// the time is no reason to stop.
fn to_timestamp(time: SystemTime) -> Timestamp {
    let since_1970 = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis())
        .ok()
        .and_then(Timestamp::from_unix_millis)
        .unwrap_or(Timestamp::LAST)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn r22_a_clock_that_is_set_wrongly_is_no_panic() {
        assert_eq!(to_timestamp(UNIX_EPOCH - Duration::from_secs(1)), Timestamp::EPOCH);
        let millis = to_timestamp(UNIX_EPOCH + Duration::from_micros(1_769_850_307_042_999)).unix_millis();
        assert_eq!(millis, 1_769_850_307_042);
        assert_eq!(to_timestamp(UNIX_EPOCH + Duration::from_mins(5_000_000_000)), Timestamp::LAST);
    }
}
