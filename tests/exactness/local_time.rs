//! Local time, one instant at a time: which bucket an instant belongs to.

use jiff::tz::TimeZone;
use jiff::{Timestamp as Instant, ToSpan as _, Zoned};
use signpost_domain::Timestamp;

/// The zones that are asked for: a common one with daylight saving, one at :45, one at :30 that changes by half an hour, one that
/// changes at midnight, and the default.
pub(crate) const ZONES: [&str; 6] =
    ["UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "America/Havana", "America/St_Johns"];

pub(crate) const INTERVALS: [&str; 4] = ["hour", "day", "week", "month"];

fn zoned(at: Timestamp, zone: &TimeZone) -> Zoned {
    Instant::from_millisecond(at.unix_millis()).unwrap().to_zoned(zone.clone())
}

/// The instant at which the local hour, day, ISO week or month begins that `at` is in.
pub(crate) fn begin_of(at: Timestamp, zone: &TimeZone, interval: &str) -> Timestamp {
    let local = zoned(at, zone);
    let begin = match interval {
        // An hour begins where the clock last showed a full hour, or was set.
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
