//! The printed table.

use std::fmt::Write as _;
use std::time::Duration;

/// The goal of a ratio or a figure: `<=` or `>=` a number.
type Goal = Option<(&'static str, f64)>;

/// Rows of figures, in the order in which they were measured.
pub(crate) struct Table(String);

impl Table {
    pub(crate) fn new() -> Self {
        Self("| figure | reference | ours | ratio | goal | met |\n|---|---|---|---|---|---|\n".to_owned())
    }

    /// Adds a figure without a comparison.
    pub(crate) fn figure(&mut self, name: &str, ours: f64, goal: Goal) {
        let (goal, met) = compared(ours, goal);
        self.row(&format!("| {name} |  | {ours:.2} |  | {goal} | {met} |"));
    }

    /// Adds a figure and its reference.
    pub(crate) fn ratio(&mut self, name: &str, reference: f64, ours: f64, goal: Goal) {
        let ratio = ours / reference;
        let (goal, met) = compared(ratio, goal);
        self.row(&format!("| {name} | {reference:.0} | {ours:.0} | {ratio:.2} | {goal} | {met} |"));
    }

    /// Adds two times.
    pub(crate) fn times(&mut self, name: &str, reference: Duration, ours: Duration, goal: Goal) {
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        let ratio = ours.as_secs_f64() / reference.as_secs_f64();
        let (goal, met) = compared(ratio, goal);
        let (reference, ours) = (millis(reference), millis(ours));
        self.row(&format!("| {name} | {reference:.1} ms | {ours:.1} ms | {ratio:.4} | {goal} | {met} |"));
    }

    fn row(&mut self, row: &str) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(self.0, "{row}");
    }

    /// The table below its title.
    pub(crate) fn shown(&self, title: &str) -> String {
        format!("{title}\n\n{}", self.0)
    }
}

fn compared(value: f64, goal: Goal) -> (String, &'static str) {
    let Some((sign, goal)) = goal else { return (String::new(), "") };
    let is_met = if sign == "<=" { value <= goal } else { value >= goal };
    (format!("{sign} {goal}"), if is_met { "yes" } else { "NO" })
}
