//! Buffers of clicks that wait for the recording thread.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use signpost_app::ports::ClickBatch;

/// How many empty buffers are kept for reuse.
const MAX_SPARES: usize = 8;

/// A queue with a limit in bytes.
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    most_bytes: usize,
}

#[derive(Default)]
struct State {
    batches: VecDeque<ClickBatch>,
    bytes: usize,
    spares: Vec<ClickBatch>,
    is_closed: bool,
}

/// The result of [`Queue::take`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Batches(Vec<ClickBatch>),
    /// No batch arrived in time.
    Nothing,
    /// The queue is closed and empty.
    Closed,
}

impl Queue {
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), most_bytes }
    }

    /// Adds a batch, and returns an empty one for reuse. A full queue returns the batch itself.
    pub(crate) fn put(&self, batch: ClickBatch) -> Result<ClickBatch, ClickBatch> {
        let mut state = self.state();
        if state.is_closed || state.bytes.saturating_add(batch.byte_len()) > self.most_bytes {
            return Err(batch);
        }
        state.bytes += batch.byte_len();
        state.batches.push_back(batch);
        let spare = state.spares.pop().unwrap_or_default();
        drop(state);
        self.changed.notify_one();
        Ok(spare)
    }

    /// Waits for batches, and then `linger` longer for those of other workers. Takes all of them.
    pub(crate) fn take(&self, at_most: Duration, linger: Duration) -> Taken {
        let is_idle = |state: &mut State| state.batches.is_empty() && !state.is_closed;
        let waited = self.changed.wait_timeout_while(self.state(), at_most, is_idle);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !state.batches.is_empty() && !state.is_closed {
            let waited = self.changed.wait_timeout_while(state, linger, |state| !state.is_closed);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        if !state.batches.is_empty() {
            state.bytes = 0;
            return Taken::Batches(state.batches.drain(..).collect());
        }
        if state.is_closed { Taken::Closed } else { Taken::Nothing }
    }

    /// Takes empty buffers back for reuse.
    pub(crate) fn give_back(&self, batches: Vec<ClickBatch>) {
        let mut state = self.state();
        for mut batch in batches {
            if state.spares.len() == MAX_SPARES {
                break;
            }
            batch.clear();
            state.spares.push(batch);
        }
    }

    /// Closes the queue: nothing more is added.
    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    /// No code panics while it holds the lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::click;

    const LONG: Duration = Duration::from_mins(1);

    fn batch() -> ClickBatch {
        let mut batch = ClickBatch::default();
        assert!(batch.push(&click(), usize::MAX));
        batch
    }

    #[test]
    fn full_queue_returns_the_batch() {
        let queue = Queue::new(2 * batch().byte_len());
        for _ in 0..2 {
            assert_eq!(queue.put(batch()), Ok(ClickBatch::default()));
        }
        assert_eq!(queue.put(batch()), Err(batch()));
        assert_eq!(queue.take(LONG, Duration::ZERO), Taken::Batches(vec![batch(), batch()]));
        assert!(queue.put(batch()).is_ok());
    }

    #[test]
    fn d64_closed_queue_is_drained_and_then_ends() {
        let queue = Queue::new(usize::MAX);
        assert_eq!(queue.take(Duration::ZERO, Duration::ZERO), Taken::Nothing);
        queue.put(batch()).unwrap();
        queue.close();
        assert_eq!(queue.put(batch()), Err(batch()));
        assert_eq!(queue.take(LONG, LONG), Taken::Batches(vec![batch()]));
        assert_eq!(queue.take(LONG, LONG), Taken::Closed);
    }

    #[test]
    fn buffers_are_returned_empty() {
        let queue = Queue::new(usize::MAX);
        queue.give_back(vec![batch(); MAX_SPARES + 1]);
        for _ in 0..=MAX_SPARES {
            assert!(queue.put(batch()).unwrap().is_empty());
        }
    }
}
