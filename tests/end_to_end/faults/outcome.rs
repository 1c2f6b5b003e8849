//! What clients saw, and what must hold of it.

use std::time::{Duration, Instant};

use super::load::{Fault, NORMAL_AGAIN};
use super::size;

/// What became of one request.
#[derive(Debug, Clone)]
pub struct Sample {
    /// What was asked for.
    pub what: &'static str,
    /// Which node was asked.
    pub node: usize,
    pub started: Instant,
    pub took: Duration,
    /// The status; none, if there was no answer.
    pub status: Option<u16>,
}

impl Sample {
    /// Whether it is what is answered where nothing fails.
    pub fn is_well(&self) -> bool {
        self.status.is_some_and(|status| status < 400)
    }
}

/// What all requests of a run became, and when something failed in it.
#[derive(Debug)]
pub struct Outcome {
    pub samples: Vec<Sample>,
    pub fault: Fault,
    /// How long the machine itself let requests wait.
    pub longest_of_machine: Duration,
    pub answered_and_unknown: (usize, usize),
}

impl Outcome {
    /// The requests that did not succeed.
    pub fn failures(&self) -> Vec<&Sample> {
        self.samples.iter().filter(|sample| !sample.is_well()).collect()
    }

    /// Every request was answered, and in time, whatever with: a client sees no broken connection and no hang. What the
    /// machine adds, because it is busy with all that runs here, is not held against the program.
    #[track_caller]
    pub fn is_answered_within(&self, limit: Duration) -> &Self {
        let limit = limit + self.longest_of_machine;
        for sample in &self.samples {
            assert!(sample.status.is_some(), "not answered: {sample:?}");
            assert!(sample.took <= limit, "answered late: {sample:?}");
        }
        self
    }

    /// The fault was felt.
    #[track_caller]
    pub fn has_failures(&self) -> &Self {
        assert!(!self.failures().is_empty(), "nothing has failed, so nothing was tested");
        self
    }

    /// The fault was not felt.
    #[track_caller]
    pub fn has_no_failures(&self) -> &Self {
        assert!(self.failures().is_empty(), "{:?}", self.failures());
        self
    }

    /// No request has failed that was sent before the fault, or five seconds after its end or later; and some were.
    #[track_caller]
    pub fn is_normal_again(&self) -> &Self {
        let Fault { begin, end } = self.fault;
        for failure in self.failures() {
            assert!(failure.started + failure.took >= begin, "failed before the fault: {failure:?}");
            assert!(failure.started <= end + NORMAL_AGAIN, "failed long after the fault: {failure:?}");
        }
        assert!(
            self.samples.iter().any(|sample| sample.is_well() && sample.started > end),
            "nothing after it"
        );
        self
    }

    /// How long after the fault a request was sent that failed.
    fn recovery(&self) -> Duration {
        let late = self
            .failures()
            .into_iter()
            .map(|sample| sample.started.saturating_duration_since(self.fault.end));
        late.max().unwrap_or_default()
    }
}

/// Prints what was measured of one requirement in all these runs, in a soak.
pub fn report(requirement: &str, runs: &[Outcome]) {
    let samples = || runs.iter().flat_map(|run| &run.samples);
    let longest = samples().map(|sample| sample.took).max().unwrap_or_default();
    let faults: Duration = runs.iter().map(|Outcome { fault: Fault { begin, end }, .. }| *end - *begin).sum();
    let recovery = runs.iter().map(Outcome::recovery).max().unwrap_or_default();
    let (answered, unknown) = runs.last().map(|run| run.answered_and_unknown).unwrap_or_default();
    let measured = format!(
        "{} requests, {} failed, longest answer {longest:.2?}, {} faults of together {faults:.2?}, failures until \
         {recovery:.2?} after one, {answered} changes as answered, {unknown} of unknown outcome and whole",
        samples().count(),
        samples().filter(|sample| !sample.is_well()).count(),
        runs.len(),
    );
    size::report(requirement, &measured);
}
