use jiff::civil::DateTime;
use proptest::prelude::*;

use super::*;

fn at(text: &str) -> i64 {
    text.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

fn instant(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

fn period(first: i64, last: i64) -> Period {
    Period::new(instant(first), instant(last)).unwrap()
}

fn cut(zone: &str, interval: Interval, first: &str, last: &str) -> Vec<String> {
    let buckets =
        Buckets::cut(period(at(first), at(last)), &TimeZone::parse(zone).unwrap(), interval).unwrap();
    buckets.starts().iter().map(ToString::to_string).map(|start| start.replace(":00.000Z", "Z")).collect()
}

#[test]
fn d46_buckets_begin_with_the_local_day_week_and_month() {
    let first = "2026-01-14T12:00:00Z";
    assert_eq!(
        cut("Asia/Kolkata", Interval::Day, first, "2026-01-15T18:30:00Z"),
        ["2026-01-13T18:30Z", "2026-01-14T18:30Z", "2026-01-15T18:30Z"]
    );
    assert_eq!(
        cut("UTC", Interval::Week, first, "2026-01-25T23:59:59.999Z"),
        ["2026-01-12T00:00Z", "2026-01-19T00:00Z"]
    );
    assert_eq!(
        cut("Asia/Kathmandu", Interval::Month, first, "2026-02-28T18:15:00Z"),
        ["2025-12-31T18:15Z", "2026-01-31T18:15Z", "2026-02-28T18:15Z"]
    );
    assert_eq!(
        cut("Asia/Kathmandu", Interval::Hour, first, "2026-01-14T12:15:00Z"),
        ["2026-01-14T11:15Z", "2026-01-14T12:15Z"]
    );
}

#[test]
fn d46_days_across_daylight_saving_have_23_and_25_hours() {
    let lengths = |zone, first, last| {
        let starts: Vec<_> = cut(zone, Interval::Day, first, last);
        let starts: Vec<_> = starts.iter().map(|start| at(&start.replace('Z', ":00Z"))).collect();
        starts.windows(2).map(|pair| (pair[1] - pair[0]) / HOUR).collect::<Vec<_>>()
    };
    assert_eq!(lengths("Europe/Berlin", "2026-03-27T23:00:00Z", "2026-03-29T22:00:00Z"), [24, 23]);
    assert_eq!(lengths("Europe/Berlin", "2026-10-23T22:00:00Z", "2026-10-25T23:00:00Z"), [24, 25]);
}

#[test]
fn d46_a_repeated_hour_is_two_buckets_and_a_skipped_one_none() {
    assert_eq!(
        cut("Europe/Berlin", Interval::Hour, "2026-10-24T23:30:00Z", "2026-10-25T02:00:00Z"),
        ["2026-10-24T23:00Z", "2026-10-25T00:00Z", "2026-10-25T01:00Z", "2026-10-25T02:00Z"]
    );
    // Lord Howe sets the clock back by half an hour: it shows 01:30 to 02:00 twice.
    assert_eq!(
        cut("Australia/Lord_Howe", Interval::Hour, "2026-04-04T14:00:00Z", "2026-04-04T16:00:00Z"),
        ["2026-04-04T14:00Z", "2026-04-04T15:00Z", "2026-04-04T15:30Z"]
    );
    // And forward by half an hour: the hour from 02:00 begins at 02:30.
    assert_eq!(
        cut("Australia/Lord_Howe", Interval::Hour, "2026-10-03T14:30:00Z", "2026-10-03T16:30:00Z"),
        ["2026-10-03T14:30Z", "2026-10-03T15:30Z", "2026-10-03T16:00Z"]
    );
}

#[test]
fn d46_days_without_midnight_and_skipped_days_are_divided_correctly() {
    // Beirut skips from 00:00 to 01:00.
    assert_eq!(
        cut("Asia/Beirut", Interval::Day, "2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z"),
        ["2026-03-27T22:00Z", "2026-03-28T22:00Z"]
    );
    // Apia had no 30 December 2011.
    assert_eq!(
        cut("Pacific/Apia", Interval::Day, "2011-12-29T10:00:00Z", "2011-12-31T10:00:00Z"),
        ["2011-12-29T10:00Z", "2011-12-30T10:00Z", "2011-12-31T10:00Z"]
    );
    // St. John's set the clock back from 00:01 to 23:01. The day had already begun, and does not begin again.
    assert_eq!(
        cut("America/St_Johns", Interval::Day, "2010-11-06T12:00:00Z", "2010-11-07T12:00:00Z"),
        ["2010-11-06T02:30Z", "2010-11-07T02:30Z"]
    );
}

#[test]
fn d46_past_offsets_follow_the_rules_of_their_time() {
    // Istanbul stayed at +03:00 in the autumn of 2016.
    assert_eq!(
        cut("Europe/Istanbul", Interval::Month, "2015-11-30T00:00:00Z", "2016-01-01T00:00:00Z"),
        ["2015-10-31T21:00Z", "2015-11-30T22:00Z", "2015-12-31T22:00Z"]
    );
    assert_eq!(
        cut("Europe/Istanbul", Interval::Month, "2016-11-30T00:00:00Z", "2017-01-01T00:00:00Z"),
        ["2016-10-31T21:00Z", "2016-11-30T21:00Z", "2016-12-31T21:00Z"]
    );
}

#[test]
fn d46_no_bucket_begins_before_1970() {
    let starts = cut("America/New_York", Interval::Week, "1970-01-01T00:00:00Z", "1970-01-05T05:00:00Z");
    assert_eq!(starts, ["1970-01-01T00:00Z", "1970-01-05T05:00Z"]);
}

#[test]
fn d45_2000_buckets_are_allowed_and_one_more_is_out_of_range() {
    for (interval, length) in [(Interval::Hour, HOUR), (Interval::Day, DAY), (Interval::Week, 7 * DAY)] {
        let first = at("1975-01-06T00:00:00Z");
        let cut = |last| Buckets::cut(period(first, last), &TimeZone::utc(), interval);
        let end = first + 2_000 * length;
        assert_eq!(cut(end - 1).unwrap().starts().len(), MAX_BUCKETS);
        assert_eq!(cut(end).unwrap_err().code(), ViolationCode::OutOfRange);
        assert_eq!(cut(Timestamp::LAST.unix_millis()).unwrap_err().code(), ViolationCode::OutOfRange);
    }
}

/// What the local clock shows, as the key of a bucket.
fn shown(zone: &jiff::tz::TimeZone, millis: i64, interval: Interval) -> (DateTime, (i16, i8, i8, i8)) {
    let local = zone.to_datetime(jiff::Timestamp::from_millisecond(millis).unwrap());
    let key = match interval {
        Interval::Hour => (local.year(), local.month(), local.day(), local.hour()),
        Interval::Day => (local.year(), local.month(), local.day(), 0),
        Interval::Week => {
            let week = local.date().iso_week_date();
            (week.year(), week.week(), 0, 0)
        }
        Interval::Month => (local.year(), local.month(), 0, 0),
    };
    (local, key)
}

/// Reads the local clock every minute, and notes when it shows another bucket.
fn slow_walk(name: &str, interval: Interval, first: i64, last: i64) -> Vec<i64> {
    const MINUTE: i64 = 60_000;
    let zone = jiff::tz::TimeZone::get(name).unwrap();
    let lead = match interval {
        Interval::Hour => HOUR * 5,
        Interval::Day => DAY * 4,
        Interval::Week => DAY * 16,
        Interval::Month => DAY * 70,
    };
    let from = first - lead;
    let mut starts = Vec::new();
    let (mut before, mut latest) = shown(&zone, from - from.rem_euclid(MINUTE), interval);
    let mut now = from - from.rem_euclid(MINUTE) + MINUTE;
    while now <= last {
        let (clock, key) = shown(&zone, now, interval);
        let begins = match interval {
            Interval::Hour => key != latest || clock < before,
            _ => key > latest,
        };
        if begins {
            if now <= first {
                starts.clear();
            }
            starts.push(now);
            latest = key;
        }
        before = clock;
        now += MINUTE;
    }
    starts
}

const ZONES: [&str; 16] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/St_Johns",
    "America/Caracas",
    "America/Sao_Paulo",
    "Africa/Casablanca",
    "Africa/Cairo",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Asia/Tehran",
    "Asia/Pyongyang",
    "Australia/Lord_Howe",
    "Australia/Eucla",
    "Pacific/Apia",
    "Pacific/Chatham",
];

/// Instants near a change of a zone's offset, where mistakes are likely.
fn near_a_change() -> impl Strategy<Value = (&'static str, i64)> {
    let zone = proptest::sample::select(&ZONES[..]);
    (zone, at("1975-01-01T00:00:00Z")..at("2040-01-01T00:00:00Z"), -3 * DAY..3 * DAY, any::<bool>()).prop_map(
        |(name, somewhen, distance, near)| {
            let zone = jiff::tz::TimeZone::get(name).unwrap();
            let start = jiff::Timestamp::from_millisecond(somewhen).unwrap();
            let change = zone.following(start).next().filter(|_| near);
            (name, change.map_or(somewhen, |change| change.timestamp().as_millisecond() + distance))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn d46_buckets_agree_with_the_local_clock(
        (zone, first) in near_a_change(),
        length in 0..4 * DAY,
        interval in proptest::sample::select(&Interval::ALL[..]),
    ) {
        let last = first + length;
        let found = Buckets::cut(period(first, last), &TimeZone::parse(zone).unwrap(), interval).unwrap();
        let found: Vec<_> = found.starts().iter().map(|start| start.unix_millis()).collect();
        prop_assert_eq!(found, slow_walk(zone, interval, first, last));
    }

    #[test]
    fn d46_buckets_ascend_and_cover_the_period(
        (zone, first) in near_a_change(),
        length in 0..1_500 * DAY,
        interval in proptest::sample::select(&Interval::ALL[1..]),
    ) {
        let period = period(first, first + length);
        let found = Buckets::cut(period, &TimeZone::parse(zone).unwrap(), interval).unwrap();
        let starts = found.starts();
        prop_assert!(starts.is_sorted_by(|one, next| one < next));
        prop_assert!(starts[0] <= period.first());
        prop_assert!(starts.get(1).is_none_or(|second| *second > period.first()));
        prop_assert!(*starts.last().unwrap() <= period.last());
    }
}
