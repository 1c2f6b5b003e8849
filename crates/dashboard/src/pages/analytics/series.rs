//! A series as a chart, and the same numbers as a table.

use signpost_domain::analytics::{Buckets, Interval, Period};
use signpost_domain::{Preferences, Timestamp};

use super::measure::Measure;
use super::questions::{Answers, Previous};
use crate::frame::TEXTS;
use crate::local_time::{date, date_and_time, day_of_year, month, number, time_of_day};
use crate::views::{BucketRow, Chart, Column};

/// A drawn series.
pub(super) struct Drawn {
    pub(super) chart: Chart,
    pub(super) rows: Vec<BucketRow>,
}

/// The series of a measure beside that of the previous period, bucket by bucket.
pub(super) fn drawn(answers: &Answers, measure: Measure, days: &str, preferences: &Preferences) -> Drawn {
    let Answers { questions, report, previous, is_late: _ } = answers;
    let starts = questions.asked.buckets.starts();
    let compared = previous.as_ref().map(|Previous { buckets, report }| {
        let counts = report.series.iter().map(|counts| measure.of(*counts));
        let before = buckets.starts().iter().copied().zip(counts);
        let (buckets, interval) = (&questions.asked.buckets, questions.interval);
        questions.range.compared(buckets, before, interval, &preferences.time_zone)
    });
    let last = starts.len().saturating_sub(1);
    let ends_early = ends_early(questions.range.period, &questions.asked.buckets, answers, preferences);
    let mut drawn = Drawn {
        chart: Chart {
            label: (TEXTS.analytics.chart)(measure.name(), days),
            columns: Vec::with_capacity(starts.len()),
        },
        rows: Vec::with_capacity(starts.len()),
    };
    for (place, (start, counts)) in starts.iter().zip(&report.series).enumerate() {
        let before = compared.as_ref().and_then(|compared| compared.get(place).copied().flatten());
        let is_partial = *start < questions.range.period.first() || (place == last && ends_early);
        let whole = name(*start, questions.interval, preferences);
        let name = if is_partial { (TEXTS.analytics.partial)(&whole) } else { whole };
        let count = measure.of(*counts);
        let counted = format!("{} {}", number(count), measure.counted(count));
        let text = (TEXTS.analytics.is)(&name, &counted);
        drawn.chart.columns.push(Column {
            label: label(*start, questions.interval, starts.len(), preferences),
            text: match before {
                Some(before) => (TEXTS.analytics.with_before)(&text, &number(before)),
                None => text,
            },
            value: count,
            before,
            is_partial,
        });
        drawn.rows.push(BucketRow {
            name,
            counts: Measure::ALL.map(|measure| number(measure.of(*counts))),
            before: before.map(number).unwrap_or_default(),
        });
    }
    drawn
}

/// Whether the last bucket continues after the period, such as today.
fn ends_early(period: Period, buckets: &Buckets, answers: &Answers, preferences: &Preferences) -> bool {
    let next = Timestamp::from_unix_millis(period.last().unix_millis() + 1);
    let after = next.and_then(|next| Period::new(next, next));
    let after =
        after.and_then(|after| Buckets::cut(after, &preferences.time_zone, answers.questions.interval).ok());
    after.is_some_and(|after| after.starts().first() == buckets.starts().last())
}

/// A bucket as people name it.
fn name(start: Timestamp, interval: Interval, preferences: &Preferences) -> String {
    match interval {
        Interval::Hour => {
            let offset = preferences.time_zone.offset_if_repeated(start).map(|offset| format!(" ({offset})"));
            format!("{}{}", date_and_time(start, preferences), offset.unwrap_or_default())
        }
        Interval::Day => date(start, preferences),
        Interval::Week => (TEXTS.analytics.week_from)(&date(start, preferences)),
        Interval::Month => month(start, preferences),
    }
}

/// The hours of the longest day. A label of fewer needs no day.
const HOURS_OF_A_DAY: usize = 25;

/// Up to how many hours the axis has their times. More have several labels of one time.
const HOURS_BY_TIME: usize = 49;

/// A bucket in a few characters.
fn label(start: Timestamp, interval: Interval, buckets: usize, preferences: &Preferences) -> String {
    match interval {
        Interval::Hour if buckets <= HOURS_OF_A_DAY => time_of_day(start, preferences),
        Interval::Hour if buckets <= HOURS_BY_TIME => {
            format!("{}\n{}", time_of_day(start, preferences), day_of_year(start, preferences))
        }
        Interval::Hour | Interval::Day | Interval::Week => day_of_year(start, preferences),
        Interval::Month => month(start, preferences),
    }
}
