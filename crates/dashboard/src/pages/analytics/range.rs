//! The period of statistics: chosen by a name or by two dates, in the person's time zone.

use signpost_domain::PlanLimits;
use signpost_domain::Timestamp;
use signpost_domain::analytics::{Interval, LocalDate, Period, TimeZone, UtcDay};

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
    /// The first day.
    pub(super) first: LocalDate,
    /// The last day.
    pub(super) last: LocalDate,
    /// Whether the plan cut the period.
    pub(super) is_clamped: bool,
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
                (read(texts.from, from)?, read(texts.to, to)?.min(today), false)
            }
        };
        if first > today {
            return Err(texts.future.to_owned());
        }
        let period = Period::until_now(first.first_instant(zone), last.last_instant(zone), now)
            .map_err(|_| texts.dates_reversed.to_owned())?;
        let is_whole_months = matches!(choice, Choice::Preset(Preset::Months12)) && !is_clamped;
        let earlier = |at: Timestamp| {
            if is_whole_months {
                zone.months_earlier(at, 12)
            } else {
                zone.days_earlier(at, last.days_after(first).saturating_add(1))
            }
        };
        let previous = Period::new(earlier(period.first()), earlier(period.last())).filter(|previous| {
            let first_kept = signpost_app::analytics::first_kept_day(limits, UtcDay::of(now));
            UtcDay::of(previous.first()) >= first_kept
                && previous.last() < period.first()
                && previous.has_at_most_days(limits.analytics_days, zone)
        });
        Ok(Self { period, previous, first, last, is_clamped })
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
    use signpost_domain::analytics::Buckets;

    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn berlin() -> TimeZone {
        TimeZone::parse("Europe/Berlin").unwrap()
    }

    fn limits(analytics_days: u32) -> PlanLimits {
        PlanLimits { analytics_days, links: 1, groups: 1, domains: 1, pixels: 1 }
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
