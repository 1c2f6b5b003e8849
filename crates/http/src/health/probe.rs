//! Asking something slow whether it is well, for somebody who is in a hurry.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::timeout;

/// How long an answer waits for a check (R37: health checks answer within 100 ms, whatever hangs).
const PATIENCE: Duration = Duration::from_millis(80);

/// For how long a check that runs is given the benefit of the doubt: until then the outcome of the last one stands.
const DOUBT: Duration = Duration::from_secs(1);

/// For how long the outcome of a check tells anything: whoever asks more seldom than that must wait for a new one.
const MEMORY: Duration = Duration::from_mins(1);

/// A check that is run when somebody asks, by one asker at a time, and to its end even if nobody waits for it.
#[derive(Debug)]
pub(crate) struct Probe {
    running_since: Mutex<Option<Instant>>,
    /// The last check that ended; `None` if none has.
    outcome: watch::Sender<Option<Outcome>>,
    /// Whether all is taken to be well for that second where no check has ended yet.
    trusts: bool,
}

/// What a check found, and when.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    is_well: bool,
    found: Instant,
}

impl Default for Probe {
    fn default() -> Self {
        Self { running_since: Mutex::default(), outcome: watch::Sender::new(None), trusts: false }
    }
}

impl Probe {
    /// One for a check that is slow at times where all is well, such as one that waits for a disk. While the first runs, it
    /// has the benefit of the doubt too.
    pub(crate) fn trusting() -> Self {
        Self { trusts: true, ..Self::default() }
    }

    /// Whether all is well by `check`, which is not started if one runs already. If that takes long, it is as it was at
    /// the last check, for a second; then it counts as not well.
    pub(crate) async fn is_well(
        self: &Arc<Self>,
        check: impl Future<Output = bool> + Send + 'static,
    ) -> bool {
        let mut outcome = self.outcome.subscribe();
        let began = self.begin(check);
        if timeout(PATIENCE, outcome.changed()).await.is_ok() {
            return outcome.borrow().is_some_and(|outcome| outcome.is_well);
        }
        let was_well = |outcome: Outcome| outcome.is_well && outcome.found.elapsed() < MEMORY;
        began.elapsed() < DOUBT && outcome.borrow().map_or(self.trusts, was_well)
    }

    /// Starts a check, unless one runs, and says when the one that runs began.
    fn begin(self: &Arc<Self>, check: impl Future<Output = bool> + Send + 'static) -> Instant {
        let mut running = self.running_since();
        if let Some(began) = *running {
            return began;
        }
        let began = Instant::now();
        *running = Some(began);
        let ending = Ending { probe: Arc::clone(self), is_well: false };
        tokio::spawn(async move { ending.with(check.await) });
        began
    }

    /// Nothing panics between the locks.
    fn running_since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.running_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a check also if it panics, or if the thread that runs it ends first.
struct Ending {
    probe: Arc<Probe>,
    is_well: bool,
}

impl Ending {
    fn with(mut self, is_well: bool) {
        self.is_well = is_well;
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        *self.probe.running_since() = None;
        self.probe.outcome.send_replace(Some(Outcome { is_well: self.is_well, found: Instant::now() }));
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_check_that_ends_in_time_is_believed() {
        let probe = Arc::new(Probe::default());
        assert!(probe.is_well(ready(true)).await);
        assert!(!probe.is_well(ready(false)).await);
        assert!(probe.is_well(ready(true)).await);
        assert!(!probe.is_well(async { panic!("a check that panics is one that fails") }).await);
    }

    #[tokio::test]
    async fn r37_a_check_that_hangs_is_doubted_after_a_second_and_nobody_waits_for_it() {
        let probe = Arc::new(Probe::default());
        assert!(!probe.is_well(pending()).await, "nothing is known yet");

        let probe = Arc::new(Probe::default());
        assert!(probe.is_well(ready(true)).await);
        let (end, ended) = oneshot::channel();
        assert!(probe.is_well(async { ended.await.unwrap() }).await, "it was well a moment ago");
        tokio::time::sleep(DOUBT).await;
        assert!(!probe.is_well(async { panic!("a second check is not started") }).await);
        end.send(true).unwrap();
        while probe.running_since().is_some() {
            tokio::task::yield_now().await;
        }
        assert!(probe.is_well(ready(true)).await);
    }

    #[tokio::test]
    async fn r37_a_slow_first_check_is_trusted_for_a_second_and_no_longer() {
        let probe = Arc::new(Probe::trusting());
        assert!(probe.is_well(pending()).await);
        tokio::time::sleep(DOUBT).await;
        assert!(!probe.is_well(pending()).await);
        let probe = Arc::new(Probe::trusting());
        assert!(!probe.is_well(ready(false)).await, "what failed is not trusted");
    }

    #[tokio::test]
    async fn who_asks_while_a_check_runs_gets_its_outcome() {
        let probe = Arc::new(Probe::default());
        let (end, ended) = oneshot::channel();
        let first = probe.is_well(async { ended.await.unwrap() });
        let second = async {
            end.send(true).unwrap();
            probe.is_well(async { panic!("a second check is not started") }).await
        };
        assert_eq!(futures_util::future::join(first, second).await, (true, true));
    }
}
