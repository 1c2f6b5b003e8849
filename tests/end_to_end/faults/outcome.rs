//! What clients saw, with assertions about it.

use std::time::{Duration, Instant};

use super::load::{Fault, NORMAL_AGAIN};
use super::machine::Lateness;
use super::scene;
use super::size::{self, within};

/// The result of one request.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The kind of request.
    pub what: &'static str,
    /// The node that got the request.
    pub node: usize,
    pub started: Instant,
    pub took: Duration,
    /// The status; `None` if there was no answer.
    pub status: Option<u16>,
}

impl Sample {
    /// Whether the request succeeded.
    pub fn succeeded(&self) -> bool {
        self.status.is_some_and(|status| status < 400)
    }
}

/// The results of all requests of a run, and the time of the fault.
#[derive(Debug)]
pub struct Outcome {
    pub samples: Vec<Sample>,
    pub fault: Fault,
    /// The time limit of the store.
    pub store_timeout: Duration,
    /// The delays of the machine itself.
    pub late: Lateness,
    pub answered_and_unknown: (usize, usize),
}

impl Outcome {
    /// The requests that did not succeed.
    pub fn failures(&self) -> Vec<&Sample> {
        self.samples.iter().filter(|sample| !sample.succeeded()).collect()
    }

    /// How long an answer may take. The delay of a busy machine does not count.
    pub fn answered_within(&self) -> Duration {
        scene::answered_within(self.store_timeout) + self.late.of_slowest_answer()
    }

    /// Asserts that every request was answered in time, with any status: no client saw a broken connection or a
    /// hang.
    #[track_caller]
    pub fn is_answered_in_time(&self) -> &Self {
        let limit = self.answered_within();
        for sample in &self.samples {
            assert!(sample.status.is_some(), "not answered: {sample:?}");
            assert!(sample.took <= limit, "answered late: {sample:?}");
        }
        self
    }

    /// Asserts that the fault had an effect.
    #[track_caller]
    pub fn has_failures(&self) -> &Self {
        assert!(!self.failures().is_empty(), "no request failed, so nothing was tested");
        self
    }

    /// Asserts that the fault had no effect.
    #[track_caller]
    pub fn has_no_failures(&self) -> &Self {
        assert!(self.failures().is_empty(), "{:?}", self.failures());
        self
    }

    /// Asserts that no request failed before the fault or long after it, and that some succeeded after it.
    ///
    /// A request that failed before the fault after the whole time limit of the store does not count, because a busy
    /// machine may take longer than a short limit.
    #[track_caller]
    pub fn is_normal_again(&self) -> &Self {
        let Fault { begin, end } = self.fault;
        for failure in self.failures() {
            let (is_before, took_whole_limit) =
                (failure.started + failure.took < begin, failure.took >= self.store_timeout);
            assert!(!is_before || took_whole_limit, "failed before the fault: {failure:?}");
            assert!(
                failure.started <= end + within(NORMAL_AGAIN),
                "failed long after the fault: {failure:?}"
            );
        }
        assert!(
            self.samples.iter().any(|sample| sample.succeeded() && sample.started > end),
            "no request succeeded after the fault"
        );
        self
    }

    /// How long after the fault the last failed request was sent.
    fn recovery(&self) -> Duration {
        let late = self
            .failures()
            .into_iter()
            .map(|sample| sample.started.saturating_duration_since(self.fault.end));
        late.max().unwrap_or_default()
    }
}

/// Prints the measurements of these runs for a requirement, in a soak.
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
        samples().filter(|sample| !sample.succeeded()).count(),
        runs.len(),
    );
    size::report(requirement, &measured);
}
