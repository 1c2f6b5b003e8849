//! Health checks of dependencies that may be slow, with a bound on the time to answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// How long an answer waits for a check (R37: health checks answer within 100 ms, even if a store hangs).
const PATIENCE: Duration = Duration::from_millis(80);

/// How long a running check counts as the previous one did.
const DOUBT: Duration = Duration::from_secs(1);

/// How long the outcome of a check is valid. After that, an answer needs a new check.
const MEMORY: Duration = Duration::from_mins(1);

/// A check that runs on request, once at a time, and to its end even if the request is gone.
#[derive(Debug)]
pub(crate) struct Probe {
    running_since: Mutex<Option<Instant>>,
    /// The outcome of the last completed check; `None` before the first.
    outcome: watch::Sender<Option<Outcome>>,
    /// Whether the first check counts as healthy while it runs, for up to a second.
    trusts: bool,
}

/// The outcome of a check, and its time.
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
    /// A probe for a check that can be slow while all is well, such as one that waits for a disk. The first check counts as
    /// healthy while it runs, for up to a second.
    pub(crate) fn trusting() -> Self {
        Self { trusts: true, ..Self::default() }
    }

    /// Whether `check` succeeds. It is not started while another runs. While a check is slow, the last outcome counts for a
    /// second; after that the answer is `false`.
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

    /// Starts a check unless one runs. Returns the start time of the running one.
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

    /// The lock cannot be poisoned in practice: the code that holds it does not panic.
    fn running_since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.running_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a check on drop, also if it panics or if its thread ends first.
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

    #[tokio::test(start_paused = true)]
    async fn a_check_that_ends_in_time_gives_the_answer() {
        let probe = Arc::new(Probe::default());
        assert!(probe.is_well(ready(true)).await);
        assert!(!probe.is_well(ready(false)).await);
        assert!(probe.is_well(ready(true)).await);
        assert!(!probe.is_well(async { panic!("a check that panics is one that fails") }).await);
    }

    #[tokio::test(start_paused = true)]
    async fn r37_a_hanging_check_fails_after_a_second_and_blocks_no_request() {
        let probe = Arc::new(Probe::default());
        assert!(!probe.is_well(pending()).await, "there is no outcome yet");

        let probe = Arc::new(Probe::default());
        assert!(probe.is_well(ready(true)).await);
        let (end, ended) = oneshot::channel();
        assert!(probe.is_well(async { ended.await.unwrap() }).await, "the last outcome was healthy");
        tokio::time::sleep(DOUBT).await;
        assert!(!probe.is_well(async { panic!("a second check is not started") }).await);
        end.send(true).unwrap();
        while probe.running_since().is_some() {
            tokio::task::yield_now().await;
        }
        assert!(probe.is_well(ready(true)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn r37_a_slow_first_check_counts_as_healthy_for_a_second() {
        let probe = Arc::new(Probe::trusting());
        assert!(probe.is_well(pending()).await);
        tokio::time::sleep(DOUBT).await;
        assert!(!probe.is_well(pending()).await);
        let probe = Arc::new(Probe::trusting());
        assert!(!probe.is_well(ready(false)).await, "a failed check counts as healthy");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_during_a_check_gets_its_outcome() {
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
