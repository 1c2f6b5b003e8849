//! A bounded queue that several threads take from.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A bounded queue that several threads take from, and that can be closed.
pub(crate) struct JobQueue<T> {
    state: Mutex<State<T>>,
    arrival: Condvar,
    capacity: usize,
}

struct State<T> {
    waiting: VecDeque<T>,
    /// Threads that wait for a job.
    resting: usize,
    is_open: bool,
}

/// The queue is full, or closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused;

impl<T> JobQueue<T> {
    pub(crate) fn new(capacity: NonZeroUsize) -> Self {
        let state = State { waiting: VecDeque::new(), resting: 0, is_open: true };
        Self { state: Mutex::new(state), arrival: Condvar::new(), capacity: capacity.get() }
    }

    /// Adds a job and wakes one thread for it.
    pub(crate) fn put(&self, job: T) -> Result<(), Refused> {
        let mut state = self.lock();
        if !state.is_open || state.waiting.len() >= self.capacity {
            return Err(Refused);
        }
        state.waiting.push_back(job);
        drop(state);
        self.arrival.notify_one();
        Ok(())
    }

    /// Takes the oldest job, and waits for one if the queue is empty; `None` once the queue is closed and empty.
    pub(crate) fn take(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.waiting.pop_front() {
                return Some(job);
            }
            if !state.is_open {
                return None;
            }
            state.resting += 1;
            state = self.arrival.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.resting -= 1;
        }
    }

    /// How many jobs wait for a thread, and how many threads wait for a job.
    pub(crate) fn waiting_and_resting(&self) -> (usize, usize) {
        let state = self.lock();
        (state.waiting.len(), state.resting)
    }

    /// Whether a job waits for a thread.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.lock().waiting.is_empty()
    }

    /// Rejects new jobs. Waiting jobs are still handed out.
    pub(crate) fn close(&self) {
        self.lock().is_open = false;
        self.arrival.notify_all();
    }

    /// Jobs run without the lock, so no panic leaves the state half changed.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_come_out_in_order_and_a_full_queue_rejects_more() {
        let queue = JobQueue::new(NonZeroUsize::new(2).unwrap());
        assert_eq!((queue.put(1), queue.put(2), queue.put(3)), (Ok(()), Ok(()), Err(Refused)));
        assert_eq!(queue.take(), Some(1));
        assert_eq!(queue.put(4), Ok(()));
        queue.close();
        assert_eq!(queue.put(5), Err(Refused));
        assert_eq!((queue.take(), queue.take(), queue.take()), (Some(2), Some(4), None));
    }

    #[test]
    fn jobs_and_threads_that_wait_are_counted() {
        let queue = JobQueue::<u8>::new(NonZeroUsize::new(2).unwrap());
        queue.put(1).unwrap();
        assert_eq!(queue.waiting_and_resting(), (1, 0));
        assert_eq!(queue.take(), Some(1));
        std::thread::scope(|scope| {
            scope.spawn(|| queue.take());
            while queue.waiting_and_resting() != (0, 1) {
                std::thread::yield_now();
            }
            queue.close();
        });
        assert_eq!(queue.waiting_and_resting(), (0, 0));
    }

    #[test]
    fn closing_wakes_every_waiting_thread() {
        let queue = JobQueue::<u8>::new(NonZeroUsize::MIN);
        std::thread::scope(|scope| {
            let threads = [(); 3].map(|()| scope.spawn(|| queue.take()));
            queue.close();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), None);
            }
        });
    }
}
