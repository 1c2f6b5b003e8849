use proptest::prelude::*;

use super::*;
use crate::analytics::LocalDateTime;

fn hours(zone: &str, days: &[i64], from: &str, until: &str) -> Hours {
    let days: Vec<Weekday> = days.iter().map(|day| Weekday::parse(*day).unwrap()).collect();
    Hours {
        timezone: ZoneName::parse(zone).unwrap(),
        days: Weekdays::new(&days).unwrap(),
        from: TimeOfDay::parse(from).unwrap(),
        until: TimeOfDay::parse(until).unwrap(),
    }
}

fn holds(hours: &Hours, instant: &str) -> bool {
    hours.holds(Timestamp::parse(instant).unwrap()).unwrap()
}

const EVERY_DAY: [i64; 7] = [1, 2, 3, 4, 5, 6, 7];

#[test]
fn d133_hours_begin_on_their_days_and_end_before_their_last_minute() {
    // 2026-11-27 is a Friday.
    let office = hours("Europe/Berlin", &[5], "09:00", "17:30");
    for (instant, expected) in [
        ("2026-11-27T07:59:59.999Z", false),
        ("2026-11-27T08:00:00Z", true),
        ("2026-11-27T16:29:59.999Z", true),
        ("2026-11-27T16:30:00Z", false),
        ("2026-11-26T12:00:00Z", false),
        ("2026-11-28T12:00:00Z", false),
    ] {
        assert_eq!(holds(&office, instant), expected, "{instant}");
    }
}

#[test]
fn d133_hours_that_pass_midnight_belong_to_the_day_of_their_beginning() {
    let night = hours("UTC", &[5], "22:00", "04:00");
    for (instant, expected) in [
        ("2026-11-27T03:00:00Z", false),
        ("2026-11-27T21:59:59Z", false),
        ("2026-11-27T22:00:00Z", true),
        ("2026-11-28T00:00:00Z", true),
        ("2026-11-28T03:59:59.999Z", true),
        ("2026-11-28T04:00:00Z", false),
        ("2026-11-28T22:00:00Z", false),
    ] {
        assert_eq!(holds(&night, instant), expected, "{instant}");
    }
    // From Sunday to Monday.
    assert!(holds(&hours("UTC", &[7], "23:00", "01:00"), "2026-11-30T00:30:00Z"));
}

#[test]
fn d133_hours_with_equal_ends_last_a_day() {
    let weekend = hours("Asia/Kolkata", &[6, 7], "00:00", "00:00");
    for (instant, expected) in [
        ("2026-11-27T18:29:59Z", false),
        ("2026-11-27T18:30:00Z", true),
        ("2026-11-29T18:29:59Z", true),
        ("2026-11-29T18:30:00Z", false),
    ] {
        assert_eq!(holds(&weekend, instant), expected, "{instant}");
    }
}

#[test]
fn d133_an_hour_that_the_clock_leaves_out_never_matches() {
    let skipped = hours("Europe/Berlin", &EVERY_DAY, "02:00", "03:00");
    let first = Timestamp::parse("2026-03-28T23:00:00Z").unwrap().unix_millis();
    for minute in 0..24 * 60 {
        let instant = Timestamp::from_unix_millis(first + minute * MILLIS_OF_A_MINUTE).unwrap();
        assert_eq!(skipped.holds(instant), Some(false), "{instant}");
    }
    assert!(holds(&skipped, "2026-03-28T01:30:00Z"), "the day before");
    // A whole day.
    let friday = hours("Pacific/Apia", &[5], "00:00", "00:00");
    assert!(!holds(&friday, "2011-12-30T09:59:59Z") && !holds(&friday, "2011-12-30T10:00:00Z"));
}

#[test]
fn d133_an_hour_that_the_clock_shows_twice_matches_twice() {
    let repeated = hours("Europe/Berlin", &EVERY_DAY, "02:00", "03:00");
    for (instant, expected) in [
        ("2026-10-24T23:59:59Z", false),
        ("2026-10-25T00:00:00Z", true),
        ("2026-10-25T01:00:00Z", true),
        ("2026-10-25T01:59:59Z", true),
        ("2026-10-25T02:00:00Z", false),
    ] {
        assert_eq!(holds(&repeated, instant), expected, "{instant}");
    }
}

#[test]
fn d133_a_zone_that_this_program_does_not_have_has_no_hours() {
    let unknown = Hours {
        timezone: ZoneName::from_stored("Europe/Atlantis".to_owned()).unwrap(),
        ..hours("UTC", &EVERY_DAY, "00:00", "00:00")
    };
    assert_eq!(unknown.holds(Timestamp::EPOCH), None);
    assert_eq!(ZoneName::parse("Europe/Atlantis").unwrap_err().code(), ViolationCode::InvalidValue);
}

#[test]
fn times_and_days_have_bounds() {
    for text in ["", "9:00", "09:0", "24:00", "23:60", "09:00:00", "+9:00", "09-00", "٠٩:٠٠"] {
        assert_eq!(TimeOfDay::parse(text).unwrap_err().code(), ViolationCode::InvalidFormat, "{text}");
    }
    for number in [0, 8, -1, 257] {
        assert_eq!(Weekday::parse(number).unwrap_err().code(), ViolationCode::OutOfRange, "{number}");
    }
    assert_eq!(Weekdays::new(&[]).unwrap_err().code(), ViolationCode::TooFewItems);
    let monday = Weekday::parse(1).unwrap();
    assert_eq!(Weekdays::new(&[monday; 8]).unwrap_err().code(), ViolationCode::TooManyItems);
    let twice = Weekdays::new(&[Weekday::parse(7).unwrap(), monday, monday]).unwrap();
    assert_eq!(twice.iter().map(Weekday::number).collect::<Vec<_>>(), [1, 7]);
}

proptest! {
    /// The clock of another implementation, read as people read it.
    #[test]
    fn d133_hours_agree_with_what_a_local_clock_shows(
        millis in 1_700_000_000_000..1_900_000_000_000_i64,
        zone in prop::sample::select(vec![
            "UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo",
        ]),
        (from, until) in (0..24_u16, 0..24_u16),
    ) {
        let instant = Timestamp::from_unix_millis(millis).unwrap();
        let [from, until] = [from, until].map(|hour| format!("{hour:02}:15"));
        let shown = LocalDateTime::at(instant, &TimeZone::parse(zone).unwrap()).to_string();
        let time = shown.get(11..16).unwrap().to_owned();
        let expected = if from < until {
            from <= time && time < until
        } else {
            time >= from || time < until
        };
        prop_assert_eq!(hours(zone, &EVERY_DAY, &from, &until).holds(instant), Some(expected), "{}", shown);
    }

    /// The offset of a zone holds until the instant that it names.
    #[test]
    fn an_offset_holds_until_it_changes(
        millis in 0..1_900_000_000_000_i64,
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca"]),
    ) {
        let zone = ZoneName::parse(zone).unwrap();
        let instant = Timestamp::from_unix_millis(millis).unwrap();
        let offset = zone.offset_at(instant).unwrap();
        if let Some(until) = offset.until {
            prop_assert!(until > instant);
            let last = Timestamp::from_unix_millis(until.unix_millis() - 1).unwrap();
            prop_assert_eq!(zone.offset_at(last).unwrap(), offset);
            prop_assert_ne!(zone.offset_at(until).unwrap().millis, offset.millis);
        }
    }
}
