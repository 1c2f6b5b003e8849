//! The table of ratios, and the notes below it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use anyhow::Result;

use super::turns::{Contender, Work};
use crate::figure::{Figure, Goal};
use crate::pgbench::Script;
use crate::turns::Until;

/// The requests of a turn at the smallest size: one for each of eight connections.
const FEWEST_REQUESTS: u32 = 8;

/// One ratio.
pub(super) struct Row {
    name: String,
    unit: &'static str,
    reference: Figure,
    ours: Figure,
    goal: Goal,
    /// The processor time of a request of both, in µs.
    work: Option<[Figure; 2]>,
}

impl Row {
    /// A ratio of requests a second.
    pub(super) fn rates(
        name: impl Into<String>,
        reference: &Contender<'_>,
        ours: &Contender<'_>,
        goal: Goal,
    ) -> Self {
        let work = Some([reference, ours].map(|contender| contender.work(Work::whole)));
        let name = name.into();
        Self { name, unit: "/s", reference: reference.rate(), ours: ours.rate(), goal, work }
    }

    /// A ratio of the time of a request. With several connections, it is the time per completed request.
    pub(super) fn latencies(
        name: impl Into<String>,
        reference: &Contender<'_>,
        ours: &Contender<'_>,
        goal: Goal,
    ) -> Self {
        let work = Some([reference, ours].map(|contender| contender.work(Work::whole)));
        Self { work, ..Self::figures(name, reference.latency(), ours.latency(), goal) }
    }

    /// A ratio of two times in milliseconds.
    pub(super) fn figures(name: impl Into<String>, reference: Figure, ours: Figure, goal: Goal) -> Self {
        Self { name: name.into(), unit: "ms", reference, ours, goal, work: None }
    }

    /// A ratio of two numbers of any kind.
    pub(super) fn numbers(name: impl Into<String>, reference: Figure, ours: Figure, goal: Goal) -> Self {
        Self { name: name.into(), unit: "", reference, ours, goal, work: None }
    }

    fn line(&self) -> String {
        let Self { name, unit, reference, ours, goal, work } = self;
        let ratio = ours.median / reference.median;
        let (goal, met) = goal.shown(ratio);
        let shown = |figure: &Figure| match *unit {
            "ms" => format!("{:.3} ms", figure.median),
            _ => format!("{:.0} {unit}", figure.median),
        };
        let work = work.map_or(String::new(), |[reference, ours]| {
            let ratio = reference.median / ours.median;
            format!("{:.0} / {:.0} = {ratio:.2}", reference.median, ours.median)
        });
        format!(
            "| {name} | {} | {} | {ratio:.2} | {goal} | {met} | {:.0} % / {:.0} % | {work} |",
            shown(reference),
            shown(ours),
            reference.spread * 100.0,
            ours.spread * 100.0
        )
    }
}

const HEAD: &str = "| figure | reference | ours | ratio | goal | met | spread of the rounds | µs of CPU per request |\n\
                    |---|---|---|---|---|---|---|---|";
const HEAD_OF_CONTENDERS: &str = "| µs of CPU per request | requests/s | client | signpost | PostgreSQL | Redis |\n\
                                  |---|---|---|---|---|---|";

/// The results so far, and the length of the measurements.
pub(super) struct StoreReport {
    rounds: u32,
    seconds: u32,
    rows: Vec<String>,
    contenders: Vec<String>,
    statements: String,
}

impl StoreReport {
    pub(super) const fn new(rounds: u32, seconds: u32) -> Self {
        Self { rounds, seconds, rows: Vec::new(), contenders: Vec::new(), statements: String::new() }
    }

    /// The number of rounds that count.
    pub(super) const fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The end of a turn.
    pub(super) fn turn(&self) -> Until {
        match self.seconds {
            0 => Until::Requests(FEWEST_REQUESTS),
            seconds => Until::Elapsed(Duration::from_secs(seconds.into())),
        }
    }

    /// The requests of a turn that takes links from a stock; `times` is the multiple of one connection's requests.
    pub(super) const fn requests_of_stock(&self, times: u32) -> u32 {
        if self.seconds == 0 { FEWEST_REQUESTS * times } else { self.seconds * 64 * times }
    }

    pub(super) fn row(&mut self, row: &Row) {
        let line = row.line();
        // Show progress; the whole report follows at the end.
        let _ = writeln!(std::io::stderr(), "{line}");
        self.rows.push(line);
    }

    /// Adds a line without a ratio.
    pub(super) fn note(&mut self, note: &str) {
        self.statements.push_str(note);
        self.statements.push('\n');
    }

    pub(super) fn contenders(&mut self, contenders: &[Contender<'_>]) {
        for contender in contenders {
            let mut line = format!("| {} | {:.0} |", contender.name, contender.rate().median);
            let parts: [fn(&Work) -> Duration; 4] =
                [|work| work.client, |work| work.program, |work| work.postgres, |work| work.redis];
            for part in parts {
                // Writing to a `String` cannot fail.
                let _ = write!(line, " {:.0} |", contender.work(part).median);
            }
            self.contenders.push(line);
        }
    }

    /// Adds the statements of a figure's reference.
    pub(super) fn statements(&mut self, name: &str, script: &Script) {
        let statements = script.sql.trim_end().replace('\n', "\n    ");
        self.note(&format!("Statements of `{name}`:\n\n    {statements}\n"));
    }

    pub(super) fn print(&self, facts: &str) -> Result<()> {
        let Self { rows, contenders, statements, .. } = self;
        let mut output = std::io::stdout().lock();
        writeln!(output, "{facts}\n\n{HEAD}\n{}\n", rows.join("\n"))?;
        writeln!(output, "{HEAD_OF_CONTENDERS}\n{}\n\n{statements}", contenders.join("\n"))?;
        Ok(())
    }
}
