//! The chart of a series: an image that the browser stretches to the width of the page.
//!
//! Each column is one unit wide, and the image is 100 units high. Texts are outside of the stretched part.

use std::fmt::Write as _;

/// How many columns can be reached with the keyboard. People with more columns read the table instead.
pub const MAX_FOCUSABLE: usize = 62;

/// The most labels of the axis of time. On the narrowest screens a month with its year, such as `May 2026`, takes about a quarter
/// of the width.
const LABELS: usize = 4;

/// A series beside that of the previous period.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chart {
    /// What it shows, for assistive technology.
    pub label: String,
    /// The columns, in order.
    pub columns: Vec<Column>,
}

/// A bucket of a chart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Column {
    /// The label on the axis of time, such as `26 Nov`, with a second line for the day of an hour.
    pub label: String,
    /// All about the column, such as `26 Nov 2026: 1,204 clicks`.
    pub text: String,
    /// The count.
    pub value: u64,
    /// The count of the same bucket of the previous period.
    pub before: Option<u64>,
    /// Whether only a part of the bucket is in the period, or over.
    pub is_partial: bool,
}

/// A label of an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tick {
    /// The position in per cent, from the left or from the top.
    pub(super) position: String,
    pub(super) text: String,
}

impl Chart {
    /// The distance between the ticks of the axis of counts: 1, 2 or 5, times a power of ten.
    fn step(&self) -> u64 {
        let counts = self.columns.iter().flat_map(|column| [Some(column.value), column.before]);
        let top = counts.flatten().max().unwrap_or(0);
        let mut power: u64 = 1;
        loop {
            for step in [1, 2, 5].map(|factor| power.saturating_mul(factor)) {
                if step.saturating_mul(4) >= top {
                    return step;
                }
            }
            power = power.saturating_mul(10);
        }
    }

    /// The count at the upper end of the axis.
    fn top(&self) -> u64 {
        let counts = self.columns.iter().flat_map(|column| [Some(column.value), column.before]);
        let top = counts.flatten().max().unwrap_or(0);
        let step = self.step();
        top.div_ceil(step).max(1).saturating_mul(step)
    }

    pub(super) fn counts(&self) -> Vec<Tick> {
        let (step, top) = (self.step(), self.top());
        let steps = top / step.max(1);
        let tick = |number: u64| {
            let count = number.saturating_mul(step);
            Tick { position: y(count, top), text: short(count) }
        };
        (0..=steps).map(tick).collect()
    }

    /// The labels of time: of the first column, and of further ones at equal distances. The last column often has none, because
    /// its label could run into the one before.
    pub(super) fn times(&self) -> Vec<Tick> {
        let count = self.columns.len();
        let step = count.div_ceil(LABELS).max(1);
        let tick = |(place, column): (usize, &Column)| Tick {
            position: centre(place, count),
            text: column.label.clone(),
        };
        self.columns.iter().enumerate().step_by(step).map(tick).collect()
    }

    /// Whether labels have a second line with the day.
    pub(super) fn has_days(&self) -> bool {
        self.columns.iter().any(|column| column.label.contains('\n'))
    }

    /// The outlines of the bars of whole buckets, or of partial ones.
    pub(super) fn bars(&self, partial: bool) -> String {
        let (mut path, top) = (String::new(), self.top());
        // Many bars have no room between them.
        let (left, right) = if self.columns.len() > MAX_FOCUSABLE { ("", ".9") } else { (".12", ".88") };
        for (place, column) in self.columns.iter().enumerate() {
            if column.is_partial == partial && column.value > 0 {
                let _ = write!(path, "M{place}{left} 100V{}H{place}{right}V100z", y(column.value, top));
            }
        }
        path
    }

    /// The steps of the counts of the previous period. They rise and fall between the bars, so that no bar is cut. Above a column that
    /// is not compared the line has a gap.
    pub(super) fn line(&self) -> String {
        let (mut path, top) = (String::new(), self.top());
        let mut is_drawing = false;
        for (place, column) in self.columns.iter().enumerate() {
            if let Some(before) = column.before {
                let start = if is_drawing { "V".to_owned() } else { format!("M{place} ") };
                let _ = write!(path, "{start}{}H{}", y(before, top), place.saturating_add(1));
            }
            is_drawing = column.before.is_some();
        }
        path
    }

    /// The columns with their left edges, in per cent of the width.
    pub(super) fn placed(&self) -> impl Iterator<Item = (String, &Column)> {
        let lefts = (0_u128..).map(|place| hundredths(place * 10_000 / self.count()));
        lefts.zip(&self.columns)
    }

    /// The width of a column, in per cent.
    pub(super) fn width(&self) -> String {
        hundredths(10_000 / self.count())
    }

    fn count(&self) -> u128 {
        u128::try_from(self.columns.len()).unwrap_or(1).max(1)
    }

    pub(super) fn is_focusable(&self) -> bool {
        self.columns.len() <= MAX_FOCUSABLE
    }

    pub(super) fn has_partial(&self) -> bool {
        self.columns.iter().any(|column| column.is_partial)
    }
}

/// The distance of a count from the upper end of an axis, in per cent.
fn y(count: u64, top: u64) -> String {
    let height = u128::from(count) * 10_000 / u128::from(top.max(1));
    hundredths(10_000_u128.saturating_sub(height))
}

/// The centre of a column, in per cent of the width.
fn centre(place: usize, columns: usize) -> String {
    let (place, columns) = (u128::try_from(place), u128::try_from(columns));
    let (place, columns) = (place.unwrap_or(0), columns.unwrap_or(1).max(1));
    hundredths((2 * place + 1) * 5_000 / columns)
}

/// A number of hundredths, without zeros at its end.
fn hundredths(number: u128) -> String {
    match (number / 100, number % 100) {
        (whole, 0) => whole.to_string(),
        (whole, part) => format!("{whole}.{part:02}").trim_end_matches('0').to_owned(),
    }
}

/// A round count in few characters.
fn short(count: u64) -> String {
    for (unit, letter) in [(1_000_000_000, 'B'), (1_000_000, 'M'), (1_000, 'k')] {
        if count >= unit {
            let tenths = count / (unit / 10);
            let (whole, tenth) = (tenths / 10, tenths % 10);
            return if tenth == 0 { format!("{whole}{letter}") } else { format!("{whole}.{tenth}{letter}") };
        }
    }
    count.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(counts: &[(u64, Option<u64>)]) -> Chart {
        let column = |(value, before): &(u64, Option<u64>)| Column {
            value: *value,
            before: *before,
            ..Column::default()
        };
        Chart { label: String::new(), columns: counts.iter().map(column).collect() }
    }

    #[test]
    fn ticks_are_round_and_begin_at_zero() {
        for (top, ticks) in [
            (0, "0 1"),
            (1, "0 1"),
            (3, "0 1 2 3"),
            (7, "0 2 4 6 8"),
            (31, "0 10 20 30 40"),
            (1_204, "0 500 1k 1.5k"),
            (12_480, "0 5k 10k 15k"),
            (7_000_000, "0 2M 4M 6M 8M"),
        ] {
            let ticks_of: Vec<_> = chart(&[(top, None)]).counts().into_iter().map(|tick| tick.text).collect();
            assert_eq!(ticks_of.join(" "), ticks, "{top}");
        }
        assert!(chart(&[(u64::MAX, Some(u64::MAX))]).counts().len() <= 5);
        let lower = chart(&[(3, Some(900))]);
        assert_eq!(lower.top(), 1_000, "the previous period fits, too");
    }

    #[test]
    fn bars_stand_on_zero_and_the_line_steps_between_them() {
        let mut chart = chart(&[(4, Some(2)), (0, Some(4)), (1, None)]);
        chart.columns[2].is_partial = true;
        assert_eq!(chart.bars(false), "M0.12 100V0H0.88V100z");
        assert_eq!(chart.bars(true), "M2.12 100V75H2.88V100z");
        assert_eq!(chart.line(), "M0 50H1V0H2");
        let gap = self::chart(&[(4, Some(2)), (0, None), (1, Some(4))]);
        assert_eq!(gap.line(), "M0 50H1M2 0H3");
    }

    #[test]
    fn time_has_few_labels_at_the_centres_of_columns() {
        let positions = |count: usize| {
            let ticks = chart(&vec![(1, None); count]).times();
            ticks.into_iter().map(|tick| tick.position).collect::<Vec<_>>()
        };
        assert_eq!(positions(1), ["50"]);
        assert_eq!(positions(4), ["12.5", "37.5", "62.5", "87.5"]);
        assert_eq!(positions(5), ["10", "50", "90"]);
        assert_eq!(positions(31).len(), 4);
        assert_eq!(positions(2_000), ["0.02", "25.02", "50.02", "75.02"]);
        assert!(positions(0).is_empty());
    }

    #[test]
    fn labels_of_time_are_equally_far_apart() {
        for (count, labelled) in [
            (5, vec![0, 2, 4]),
            (7, vec![0, 2, 4, 6]),
            (12, vec![0, 3, 6, 9]),
            (13, vec![0, 4, 8, 12]),
            (24, vec![0, 6, 12, 18]),
            (30, vec![0, 8, 16, 24]),
        ] {
            let mut chart = chart(&vec![(1, None); count]);
            for (place, column) in chart.columns.iter_mut().enumerate() {
                column.label = place.to_string();
            }
            let labels: Vec<usize> = chart.times().iter().map(|tick| tick.text.parse().unwrap()).collect();
            assert_eq!(labels, labelled, "{count}");
        }
    }
}
