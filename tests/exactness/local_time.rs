//! Finds the bucket of an instant in local time.

use jiff::tz::TimeZone;
use jiff::{Timestamp as Instant, ToSpan as _, Zoned};
use signpost_domain::Timestamp;

/// The zones in questions: the default, a common one with daylight saving, several at :30 and :45, one that
/// changes by half an hour, one that changes at midnight, and two that changed their rules.
pub(crate) const ZONES: [&str; 10] = [
    "UTC",
    "Europe/Berlin",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Australia/Adelaide",
    "Pacific/Chatham",
    "America/Havana",
    "America/St_Johns",
    "Asia/Pyongyang",
    "Pacific/Apia",
];

/// The UTC days on which runs begin. Clocks change within nine days from each:
///
/// - in Berlin forward on 2026-03-29; in Adelaide (:30), Chatham (:45) and on Lord Howe (by half an hour) back on 2026-04-05,
/// - from 8:30 to 9 hours before UTC in Pyongyang on 2018-05-05, when the country changed its rules,
/// - in St John's (:30) and Havana (at midnight) forward on 2026-03-08,
/// - in Apia, which left out 2011-12-30 when it changed to the other side of the date line.
const FIRST_DAYS: [&str; 4] = ["2026-03-28", "2018-05-01", "2026-03-03", "2011-12-26"];

/// How many days a run has.
pub(crate) const DAYS: i64 = 9;

/// The start of the first day of the run with this seed, in milliseconds. The two fixed seeds have different
/// days.
pub(crate) fn first_day(seed: u64) -> i64 {
    let number = usize::try_from(seed.wrapping_sub(1) % 4).unwrap();
    let day = format!("{}T00:00:00Z", FIRST_DAYS[number]);
    Timestamp::parse(&day).unwrap().unix_millis()
}

pub(crate) const INTERVALS: [&str; 4] = ["hour", "day", "week", "month"];

fn zoned(at: Timestamp, zone: &TimeZone) -> Zoned {
    Instant::from_millisecond(at.unix_millis()).unwrap().to_zoned(zone.clone())
}

/// The start of the local hour, day, ISO week or month that contains `at`.
pub(crate) fn begin_of(at: Timestamp, zone: &TimeZone, interval: &str) -> Timestamp {
    let local = zoned(at, zone);
    let begin = match interval {
        // An hour begins where the clock last showed a full hour or was changed.
        "hour" => {
            let mut minute = at.unix_millis() - at.unix_millis().rem_euclid(60_000);
            loop {
                let here = zoned(Timestamp::from_unix_millis(minute).unwrap(), zone);
                let before = zoned(Timestamp::from_unix_millis(minute - 60_000).unwrap(), zone);
                let is_same_hour = (here.date(), here.hour()) == (before.date(), before.hour())
                    && here.offset() == before.offset();
                if !is_same_hour {
                    return Timestamp::from_unix_millis(minute).unwrap();
                }
                minute -= 60_000;
            }
        }
        "day" => local.start_of_day().unwrap(),
        "week" => {
            let monday = local.date().checked_sub(i64::from(local.weekday().to_monday_zero_offset()).days());
            monday.unwrap().to_zoned(zone.clone()).unwrap().start_of_day().unwrap()
        }
        "month" => local.date().first_of_month().to_zoned(zone.clone()).unwrap().start_of_day().unwrap(),
        other => panic!("{other}"),
    };
    Timestamp::from_unix_millis(begin.timestamp().as_millisecond()).unwrap()
}
