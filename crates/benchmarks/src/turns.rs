//! Cases that take turns, so that disturbances of the machine affect all of them equally.

use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// The number of rounds and requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turns {
    rounds: usize,
    requests: u32,
}

/// The end of a turn, by time or by requests.
#[derive(Debug, Clone, Copy)]
pub(super) enum Until {
    Elapsed(Duration),
    /// After this number of requests on all connections together.
    Requests(u32),
}

/// The results of one case.
pub(super) struct Figure {
    name: &'static str,
    /// The mean time of a request in each round, fastest first.
    rounds: Vec<Duration>,
}

impl Turns {
    /// A number of rounds that count, each with `requests` requests of each case.
    pub(super) const fn new(rounds: usize, requests: u32) -> Self {
        Self { rounds, requests }
    }

    /// Runs all cases in turns, after a warm-up round that does not count.
    pub(super) fn take<T>(
        self,
        contenders: impl IntoIterator<Item = (&'static str, T)>,
        mut request: impl FnMut(&T) -> Result<()>,
    ) -> Result<Vec<Figure>> {
        let Self { rounds, requests } = self;
        let mut measured: Vec<(T, Figure)> = contenders
            .into_iter()
            .map(|(name, contender)| (contender, Figure { name, rounds: vec![] }))
            .collect();
        for round in 0..=rounds {
            for (contender, figure) in &mut measured {
                let began = Instant::now();
                for _ in 0..requests {
                    request(contender)?;
                }
                if round > 0 {
                    figure.rounds.push(began.elapsed() / requests);
                }
            }
        }
        let sorted = |(_, mut figure): (T, Figure)| {
            figure.rounds.sort_unstable();
            figure
        };
        Ok(measured.into_iter().map(sorted).collect())
    }
}

impl Figure {
    fn median(&self) -> Result<Duration> {
        self.rounds.get(self.rounds.len() / 2).copied().context("there was no round")
    }
}

/// Prints the figures, and the ratio of each to the one with the name `reference`.
pub(super) fn print(figures: &[Figure], reference: &str) -> Result<()> {
    let compared = figures.iter().find(|figure| figure.name == reference);
    let compared = compared.context("nothing to compare with")?.median()?;
    let wide = figures.iter().map(|figure| figure.name.len()).max().unwrap_or_default();
    let to = format!("to {reference}");
    let mut output = std::io::stdout().lock();
    writeln!(output, "{:<wide$}{:>12}{:>12}{:>12}  {to}", "", "median", "fastest", "slowest")?;
    for figure in figures {
        let (Some(fastest), Some(slowest)) = (figure.rounds.first(), figure.rounds.last()) else { continue };
        let median = figure.median()?;
        let ratio = median.as_secs_f64() / compared.as_secs_f64();
        let shown = |time: Duration| format!("{:.3} ms", time.as_secs_f64() * 1e3);
        let (median, fastest, slowest) = (shown(median), shown(*fastest), shown(*slowest));
        let (name, column) = (figure.name, to.len());
        writeln!(output, "{name:<wide$}{median:>12}{fastest:>12}{slowest:>12}  {ratio:>column$.2}")?;
    }
    Ok(())
}
