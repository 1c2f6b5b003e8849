//! The period of statistics: chosen by a name or by two dates, in the person's time zone.

use std::collections::BTreeMap;

use signpost_domain::PlanLimits;
use signpost_domain::Timestamp;
use signpost_domain::analytics::{Buckets, Interval, LocalDate, Period, TimeZone, UtcDay};

use crate::frame::TEXTS;
use crate::pages::sentence;

/// A period that ends today.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Preset {
    Today,
    Days7,
    #[default]
    Days30,
    Days90,
    Months12,
}

impl Preset {
    pub(super) const ALL: [Self; 5] = [Self::Today, Self::Days7, Self::Days30, Self::Days90, Self::Months12];

    /// The value of the query parameter.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Today => "today",
            Self::Days7 => "7d",
            Self::Days30 => "30d",
            Self::Days90 => "90d",
            Self::Months12 => "12m",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.as_str() == text)
    }

    pub(super) fn name(self) -> String {
        let texts = TEXTS.analytics;
        match self {
            Self::Today => texts.today.to_owned(),
            Self::Days7 => (texts.days)(7),
            Self::Days30 => (texts.days)(30),
            Self::Days90 => (texts.days)(90),
            Self::Months12 => texts.twelve_months.to_owned(),
        }
    }

    fn first(self, today: LocalDate) -> LocalDate {
        match self {
            Self::Today => today,
            Self::Days7 => today.minus_days(6),
            Self::Days30 => today.minus_days(29),
            Self::Days90 => today.minus_days(89),
            Self::Months12 => today.month_before(11),
        }
    }
}

/// How the period is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    /// By a name.
    Preset(Preset),
    /// By two dates, as they were typed.
    Dates { from: String, to: String },
}

/// A period, and the one before it that has the same length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) period: Period,
    /// `None` if the plan does not keep all of it.
    pub(super) previous: Option<Period>,
    /// How much earlier it is.
    distance: Distance,
    /// The first day.
    pub(super) first: LocalDate,
    /// The last day.
    pub(super) last: LocalDate,
    /// Whether the plan cut the period.
    pub(super) is_clamped: bool,
}

/// How much earlier the previous period is, by the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Distance {
    Days(u32),
    Months(u32),
}

impl Distance {
    /// The instant at which the local clock showed the same time.
    fn before(self, at: Timestamp, zone: &TimeZone) -> Timestamp {
        match self {
            Self::Days(days) => zone.days_earlier(at, days),
            Self::Months(months) => zone.months_earlier(at, months),
        }
    }

    /// The date.
    fn before_date(self, date: LocalDate) -> LocalDate {
        match self {
            Self::Days(days) => date.minus_days(days),
            // A period of whole months begins on the first of one.
            Self::Months(months) => date.month_before(months),
        }
    }
}

impl Range {
    /// The chosen period. One that is chosen by its name begins where the plan's longest period does, if that is later (D49).
    ///
    /// # Errors
    /// What is wrong with the dates, as a sentence.
    pub(super) fn of(
        choice: &Choice,
        now: Timestamp,
        zone: &TimeZone,
        limits: PlanLimits,
    ) -> Result<Self, String> {
        let today = LocalDate::at(now, zone);
        let texts = TEXTS.analytics;
        let (first, last, is_clamped) = match choice {
            Choice::Preset(preset) => {
                let wanted = preset.first(today);
                let first = wanted.max(today.minus_days(limits.analytics_days.saturating_sub(1)));
                (first, today, first > wanted)
            }
            Choice::Dates { from, to } => {
                if from.is_empty() || to.is_empty() {
                    return Err(texts.dates_missing.to_owned());
                }
                let read = |name: &str, text: &str| {
                    LocalDate::parse(text).map_err(|error| format!("{name}: {}", sentence(error.message())))
                };
                let (first, last) = (read(texts.from, from)?, read(texts.to, to)?);
                if first > last {
                    return Err(texts.dates_reversed.to_owned());
                }
                (first, last.min(today), false)
            }
        };
        if first > today {
            return Err(texts.future.to_owned());
        }
        let period = Period::until_now(first.first_instant(zone), last.last_instant(zone), now)
            .map_err(|_| texts.dates_reversed.to_owned())?;
        let is_whole_months = matches!(choice, Choice::Preset(Preset::Months12)) && !is_clamped;
        let distance = if is_whole_months {
            Distance::Months(12)
        } else {
            Distance::Days(last.days_after(first).saturating_add(1))
        };
        // By the date, because the clock may have skipped the midnight of one of the two days.
        let begins = distance.before_date(first).first_instant(zone);
        let previous = Period::new(begins, distance.before(period.last(), zone)).filter(|previous| {
            let first_kept = signpost_app::analytics::first_kept_day(limits, UtcDay::of(now));
            UtcDay::of(previous.first()) >= first_kept
                && previous.last() < period.first()
                && previous.has_at_most_days(limits.analytics_days, zone)
        });
        Ok(Self { period, previous, distance, first, last, is_clamped })
    }

    /// The buckets of the previous period: its hours, or one for each of these days, weeks or months. The latter are not cut anew,
    /// because weeks and months of the two periods begin on other days, and then one bucket would be compared with a longer one.
    pub(super) fn previous_buckets(
        &self,
        of_period: &Buckets,
        interval: Interval,
        zone: &TimeZone,
    ) -> Option<Buckets> {
        let previous = self.previous?;
        match interval {
            Interval::Hour => Buckets::cut(previous, zone, interval).ok(),
            Interval::Day | Interval::Week | Interval::Month => {
                let earlier = of_period.starts().iter().map(|start| self.distance.before(*start, zone));
                Buckets::new(earlier.collect())
            }
        }
    }

    /// For each bucket of the period, the count of the previous one with which it is compared. `before` has the buckets of
    /// [`previous_buckets`](Self::previous_buckets) with their counts.
    ///
    /// Hours are compared if the clock showed the same. One that the clock showed twice counts as one hour, and one that it skipped
    /// has no count.
    pub(super) fn compared(
        &self,
        of_period: &Buckets,
        before: impl Iterator<Item = (Timestamp, u64)>,
        interval: Interval,
        zone: &TimeZone,
    ) -> Vec<Option<u64>> {
        match interval {
            Interval::Hour => {
                let hour = |at: Timestamp| (LocalDate::at(at, zone), zone.local(at).hour);
                let mut counts: BTreeMap<(LocalDate, u8), u64> = BTreeMap::new();
                for (start, count) in before {
                    let of_hour = counts.entry(hour(start)).or_default();
                    *of_hour = of_hour.saturating_add(count);
                }
                // Removed, so that the second of two equal hours is not compared again.
                let mut count_of = |start: &Timestamp| {
                    let (date, hour) = hour(*start);
                    counts.remove(&(self.distance.before_date(date), hour))
                };
                of_period.starts().iter().map(&mut count_of).collect()
            }
            Interval::Day | Interval::Week | Interval::Month => {
                before.map(|(_, count)| Some(count)).collect()
            }
        }
    }

    /// The interval that gives a chart a readable number of buckets.
    pub(super) fn interval(&self) -> Interval {
        match self.last.days_after(self.first) {
            0 | 1 => Interval::Hour,
            2..=44 => Interval::Day,
            45..=182 => Interval::Week,
            _ => Interval::Month,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn berlin() -> TimeZone {
        TimeZone::parse("Europe/Berlin").unwrap()
    }

    fn limits(analytics_days: u32) -> PlanLimits {
        PlanLimits { analytics_days, links: 1, groups: 1, domains: 1, pixels: 1, tags: 1 }
    }

    fn dates(from: &str, to: &str) -> Choice {
        Choice::Dates { from: from.to_owned(), to: to.to_owned() }
    }

    #[test]
    fn periods_begin_at_the_persons_midnight_and_compare_the_same_hours() {
        let now = at("2026-11-26T23:30:00Z");
        let range = |preset| Range::of(&Choice::Preset(preset), now, &berlin(), limits(3_650)).unwrap();
        let today = range(Preset::Today);
        assert_eq!((today.period.first(), today.period.last()), (at("2026-11-26T23:00:00Z"), now));
        let before = today.previous.unwrap();
        assert_eq!((before.first(), before.last()), (at("2026-11-25T23:00:00Z"), at("2026-11-25T23:30:00Z")));
        let month = range(Preset::Days30);
        assert_eq!(month.period.first(), at("2026-10-28T23:00:00Z"));
        // The clock is set back in between.
        assert_eq!(month.previous.unwrap().first(), at("2026-09-28T22:00:00Z"));
        let year = range(Preset::Months12);
        assert_eq!(year.period.first(), at("2025-11-30T23:00:00Z"));
        assert_eq!(year.previous.unwrap().first(), at("2024-11-30T23:00:00Z"));
    }

    #[test]
    fn d46_each_bucket_is_compared_with_one_of_the_same_length() {
        let now = at("2026-11-27T12:00:00Z");
        for (choice, interval) in [
            (Choice::Preset(Preset::Days90), Interval::Week),
            (Choice::Preset(Preset::Days30), Interval::Day),
            (dates("2026-01-31", "2026-08-31"), Interval::Month),
        ] {
            let range = Range::of(&choice, now, &berlin(), limits(3_650)).unwrap();
            let buckets = Buckets::cut(range.period, &berlin(), interval).unwrap();
            let before = range.previous_buckets(&buckets, interval, &berlin()).unwrap();
            let days = range.last.days_after(range.first) + 1;
            assert_eq!(buckets.starts().len(), before.starts().len(), "{choice:?}");
            for (start, before) in buckets.starts().iter().zip(before.starts()) {
                assert_eq!(*before, berlin().days_earlier(*start, days), "{choice:?}");
            }
        }
    }

    #[test]
    fn d46_hours_are_compared_if_the_clock_showed_the_same() {
        let now = at("2026-11-27T12:00:00Z");
        let compared = |day: &str| {
            let range = Range::of(&dates(day, day), now, &berlin(), limits(3_650)).unwrap();
            let buckets = Buckets::cut(range.period, &berlin(), Interval::Hour).unwrap();
            let before = range.previous_buckets(&buckets, Interval::Hour, &berlin()).unwrap();
            // Each hour has its number as its count.
            let counts = (0..).zip(before.starts()).map(|(count, start)| (*start, count));
            range.compared(&buckets, counts, Interval::Hour, &berlin())
        };
        let numbers = |numbers: std::ops::Range<u64>| numbers.map(Some).collect::<Vec<_>>();
        assert_eq!(compared("2026-10-20"), numbers(0..24));
        // On 25 October 2026 the clock showed 02:00 to 03:00 twice, on 29 March it skipped it.
        let second_time = [numbers(0..3), vec![None], numbers(3..24)].concat();
        assert_eq!(compared("2026-10-25"), second_time);
        let sum = [numbers(0..2), vec![Some(2 + 3)], numbers(4..25)].concat();
        assert_eq!(compared("2026-10-26"), sum);
        assert_eq!(compared("2026-03-29"), [numbers(0..2), numbers(3..24)].concat());
        assert_eq!(compared("2026-03-30"), [numbers(0..2), vec![None], numbers(2..23)].concat());
    }

    #[test]
    fn d49_a_plan_without_a_practical_limit_has_every_period() {
        let now = at("2026-11-27T12:00:00Z");
        for preset in Preset::ALL {
            let range = Range::of(&Choice::Preset(preset), now, &berlin(), limits(u32::MAX)).unwrap();
            assert!(!range.is_clamped && range.previous.is_some(), "{preset:?}");
        }
    }

    #[test]
    fn d49_named_periods_are_cut_to_the_plan_and_dates_are_not() {
        let now = at("2026-11-26T12:00:00Z");
        let cut = Range::of(&Choice::Preset(Preset::Days90), now, &berlin(), limits(30)).unwrap();
        assert!(cut.is_clamped && cut.period.has_at_most_days(30, &berlin()));
        assert_eq!(cut.first.to_string(), "2026-10-28");
        assert_eq!(cut.previous, None, "the plan no longer keeps it");
        let long = Range::of(&dates("2026-01-01", "2026-11-26"), now, &berlin(), limits(30)).unwrap();
        assert!(!long.is_clamped && !long.period.has_at_most_days(30, &berlin()));
        let week = Range::of(&Choice::Preset(Preset::Days7), now, &berlin(), limits(30)).unwrap();
        assert!(!week.is_clamped && week.previous.is_some());
    }

    #[test]
    fn mistaken_dates_are_explained() {
        let now = at("2026-11-26T12:00:00Z");
        let mistake = |from, to| Range::of(&dates(from, to), now, &berlin(), limits(30)).unwrap_err();
        let texts = TEXTS.analytics;
        assert_eq!(mistake("", "2026-11-01"), texts.dates_missing);
        assert_eq!(mistake("2026-11-02", "2026-11-01"), texts.dates_reversed);
        assert_eq!(mistake("2026-11-28", "2026-11-27"), texts.dates_reversed, "both are in the future");
        assert_eq!(mistake("2026-11-27", "2026-11-28"), texts.future);
        assert_eq!(mistake("yesterday", "2026-11-01"), "From: Must be a date such as 2026-11-26.");
        let open_end = Range::of(&dates("2026-11-20", "2027-01-01"), now, &berlin(), limits(30)).unwrap();
        assert_eq!(open_end.period.last(), now);
    }

    #[test]
    fn automatic_intervals_make_at_most_62_buckets() {
        let now = at("2026-11-26T12:00:00Z");
        for from in ["2026-11-26", "2026-11-25", "2026-10-13", "2026-06-01", "2026-05-20", "2022-01-01"] {
            let range = Range::of(&dates(from, "2026-11-26"), now, &berlin(), limits(3_650)).unwrap();
            let buckets = Buckets::cut(range.period, &berlin(), range.interval()).unwrap();
            assert!(buckets.starts().len() <= crate::views::MAX_FOCUSABLE, "{from}");
        }
    }
}
