//! The tables of the report, and the facts above them.

use std::io::Write as _;

use anyhow::Result;

use super::contender::{Contender, Failures, microseconds};
use super::visits::{Pace, Turn};
use crate::figure::{Figure, Goal};

/// A figure of turns, and its goal.
struct Reading {
    name: &'static str,
    pace: Pace,
    of: fn(&Turn) -> f64,
    goal: fn(&Goals) -> Goal,
}

/// The goals of a case, as ratios to the first reference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goals {
    pub(super) rate: Goal,
    pub(super) work: Goal,
    pub(super) p99: Goal,
}

impl Goals {
    pub(super) const NONE: Self = Self { rate: Goal::None, work: Goal::None, p99: Goal::None };
}

const READINGS: [Reading; 6] = [
    Reading { name: "requests a second", pace: Pace::Saturated, of: Turn::rate, goal: |goals| goals.rate },
    Reading {
        name: "µs of CPU, saturated",
        pace: Pace::Saturated,
        of: Turn::work_of_one,
        goal: |goals| goals.work,
    },
    Reading { name: "µs of CPU, paced", pace: Pace::Paced, of: Turn::work_of_one, goal: |goals| goals.work },
    Reading { name: "p50, µs", pace: Pace::Modest, of: |turn| microseconds(turn.p50), goal: |_| Goal::None },
    Reading {
        name: "p99, µs",
        pace: Pace::Modest,
        of: |turn| microseconds(turn.p99),
        goal: |goals| goals.p99,
    },
    Reading {
        name: "p99.9, µs",
        pace: Pace::Modest,
        of: |turn| microseconds(turn.p999),
        goal: |_| Goal::None,
    },
];

const HEAD: &str = "| case | figure | bare actix-web | nginx | ours | to actix-web | to nginx | goal | met | spread |\n\
                    |---|---|---|---|---|---|---|---|---|---|";
const HEAD_OF_RATIOS: &str =
    "| figure | reference | ours | ratio | goal | met | spread |\n|---|---|---|---|---|---|---|";

/// The results so far.
#[derive(Default)]
pub(super) struct EdgeReport {
    rows: Vec<String>,
    others: Vec<String>,
    notes: Vec<String>,
}

impl EdgeReport {
    /// Adds a case. The program is the last contender, and nginx, if installed, the second.
    pub(super) fn case(&mut self, name: &str, contenders: &[Contender], goals: &Goals) {
        let [actix, others @ .., ours] = contenders else { return };
        for Reading { name: figure, pace, of, goal } in READINGS {
            let all = |contender: &Contender| contender.numbers(pace, of);
            let numbers = all(ours);
            if numbers.is_empty() {
                continue;
            }
            let nginx = others.first().map(all);
            let ratio = ratio(&all(actix), &numbers);
            let (goal, met) = goal(goals).shown(ratio);
            let (reference, own) = (Figure::of(all(actix)), Figure::of(numbers.clone()));
            let (of_nginx, to_nginx) = nginx.map_or_else(
                || ("–".to_owned(), "–".to_owned()),
                |nginx| {
                    (shown(Figure::of(nginx.clone()).median), format!("{:.2}", self::ratio(&nginx, &numbers)))
                },
            );
            self.row(format!(
                "| {name} | {figure} | {} | {of_nginx} | {} | {ratio:.2} | {to_nginx} | {goal} | {met} | {:.0} % / {:.0} % |",
                shown(reference.median),
                shown(own.median),
                reference.spread * 100.0,
                own.spread * 100.0
            ));
        }
        let circumstances: Vec<String> = contenders.iter().map(circumstances).collect();
        self.note(format!("{name}: of the core, others had {}", circumstances.join(", ")));
    }

    /// Adds a separate ratio, of the figures of each round.
    pub(super) fn ratio(&mut self, name: &str, reference: &[f64], ours: &[f64], goal: Goal) {
        let ratio = ratio(reference, ours);
        let (goal, met) = goal.shown(ratio);
        let (reference, ours) = (Figure::of(reference.to_vec()), Figure::of(ours.to_vec()));
        let row = format!(
            "| {name} | {} | {} | {ratio:.2} | {goal} | {met} | {:.0} % / {:.0} % |",
            shown(reference.median),
            shown(ours.median),
            reference.spread * 100.0,
            ours.spread * 100.0
        );
        say(&row);
        self.others.push(row);
    }

    /// Adds a line below the tables.
    pub(super) fn note(&mut self, note: String) {
        say(&note);
        self.notes.push(note);
    }

    fn row(&mut self, row: String) {
        say(&row);
        self.rows.push(row);
    }

    pub(super) fn print(&self, facts: &str) -> Result<()> {
        let Self { rows, others, notes } = self;
        let mut output = std::io::stdout().lock();
        writeln!(output, "{facts}\n")?;
        if !rows.is_empty() {
            writeln!(output, "{HEAD}\n{}\n", rows.join("\n"))?;
        }
        if !others.is_empty() {
            writeln!(output, "{HEAD_OF_RATIOS}\n{}\n", others.join("\n"))?;
        }
        for note in notes {
            writeln!(output, "- {note}")?;
        }
        Ok(())
    }
}

/// The share of its core that other processes used, and its failures.
fn circumstances(contender: &Contender) -> String {
    let Failures { unanswered, refused } = contender.failures();
    let failed = if unanswered + refused > 0 {
        format!(" ({unanswered} requests without an answer, {refused} refused)")
    } else {
        String::new()
    };
    format!("{:.0} % beside {}{failed}", contender.others() * 100.0, contender.name)
}

/// Shows progress; the whole report follows at the end.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The median of the rounds' ratios: a disturbance of the machine in a round affects both.
fn ratio(reference: &[f64], ours: &[f64]) -> f64 {
    Figure::of(reference.iter().zip(ours).map(|(reference, ours)| ours / reference).collect()).median
}

fn shown(number: f64) -> String {
    if number < 100.0 { format!("{number:.1}") } else { format!("{number:.0}") }
}

#[cfg(test)]
mod tests {
    use super::ratio;

    #[test]
    fn a_ratio_is_the_median_of_rounds_and_not_of_medians() {
        // The machine halves its speed for the second round, and for both.
        let ratio = ratio(&[100.0, 50.0, 100.0], &[90.0, 45.0, 80.0]);
        assert!((ratio - 0.9).abs() < 1e-9, "{ratio}");
    }
}
