//! Buffers of clicks on their way to the thread that records them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use signpost_app::ports::ClickBatch;

/// How many emptied buffers are kept to be given back.
const SPARES: usize = 8;

/// Holds so many bytes and no more.
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

/// What the queue had.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Batches(Vec<ClickBatch>),
    /// Nothing has come in time.
    Nothing,
    /// Nothing is left, and nothing will come.
    Closed,
}

impl Queue {
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), most_bytes }
    }

    /// Adds a batch, and gives an empty one for it. If there is no room, the batch itself is given back.
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

    /// Waits for batches, and then for `linger`, in which those of other workers come. Takes all there are.
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

    /// Takes emptied buffers, to be filled again.
    pub(crate) fn give_back(&self, batches: Vec<ClickBatch>) {
        let mut state = self.state();
        for mut batch in batches {
            if state.spares.len() == SPARES {
                break;
            }
            batch.clear();
            state.spares.push(batch);
        }
    }

    /// From now on nothing is added.
    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    /// Nothing panics between the locks.
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
    fn a_full_queue_gives_the_batch_back() {
        let queue = Queue::new(2 * batch().byte_len());
        for _ in 0..2 {
            assert_eq!(queue.put(batch()), Ok(ClickBatch::default()));
        }
        assert_eq!(queue.put(batch()), Err(batch()));
        assert_eq!(queue.take(LONG, Duration::ZERO), Taken::Batches(vec![batch(), batch()]));
        assert!(queue.put(batch()).is_ok());
    }

    #[test]
    fn d64_a_closed_queue_is_emptied_and_then_ends() {
        let queue = Queue::new(usize::MAX);
        assert_eq!(queue.take(Duration::ZERO, Duration::ZERO), Taken::Nothing);
        queue.put(batch()).unwrap();
        queue.close();
        assert_eq!(queue.put(batch()), Err(batch()));
        assert_eq!(queue.take(LONG, LONG), Taken::Batches(vec![batch()]));
        assert_eq!(queue.take(LONG, LONG), Taken::Closed);
    }

    #[test]
    fn buffers_come_back_empty() {
        let queue = Queue::new(usize::MAX);
        queue.give_back(vec![batch(); SPARES + 1]);
        for _ in 0..=SPARES {
            assert!(queue.put(batch()).unwrap().is_empty());
        }
    }
}
