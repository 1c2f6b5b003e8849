//! Parsers of settings that are times. An error says what the value must be.

use std::ops::RangeInclusive;
use std::time::Duration;

/// A time limit of a call.
pub(super) fn time_limit(text: &str) -> Result<Duration, String> {
    time(text, Duration::from_millis(10)..=Duration::from_mins(10), "from 10ms to 10m")
}

/// A time from zero to an hour.
pub(super) fn up_to_an_hour(text: &str) -> Result<Duration, String> {
    time(text, Duration::ZERO..=Duration::from_hours(1), "of at most 1h")
}

/// A time from zero to a day.
pub(super) fn up_to_a_day(text: &str) -> Result<Duration, String> {
    time(text, Duration::ZERO..=Duration::from_hours(24), "of at most 24h")
}

/// A time: a whole number with the unit `ms`, `s`, `m` or `h`; without a unit, seconds. `bounds` describes the
/// allowed range in messages.
fn time(text: &str, allowed: RangeInclusive<Duration>, bounds: &str) -> Result<Duration, String> {
    let digits_end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(digits_end);
    let millis_of_unit = match unit {
        "ms" => Some(1),
        "s" | "" => Some(1_000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let millis =
        digits.parse::<u64>().ok().zip(millis_of_unit).and_then(|(number, of)| number.checked_mul(of));
    millis
        .map(Duration::from_millis)
        .filter(|time| allowed.contains(time))
        .ok_or_else(|| format!("must be a time {bounds}, such as 500ms, 5s or 1m, not {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_bounds() {
        let read = |text| time(text, Duration::from_millis(10)..=Duration::from_mins(10), "from 10ms to 10m");
        assert_eq!(read("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(read("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(read("5"), Ok(Duration::from_secs(5)));
        assert_eq!(read("10m"), Ok(Duration::from_mins(10)));
        for wrong in [
            "",
            "s",
            "-1s",
            "+1s",
            "1.5s",
            "5 s",
            "5S",
            "9ms",
            "601s",
            "1h",
            "99999999999999999999s",
            "18446744073709551615h",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
