//! Look-ups for visitors. Look-ups that wait at the same moment share a turn of a reading thread (ADR 44).
//!
//! A look-up takes a few microseconds, as long as waking a thread for it. So a thread that is awake for one look-up takes
//! all waiting ones in one transaction, and then wakes their callers. No look-up waits for a batch to fill.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use diesel::prelude::*;
use signpost_app::ports::{PublishedLink, StoreError};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::answer::{AnswerTo, answer_by, end_of_call};
use crate::failure::Failure;
use crate::job_queue::JobQueue;
use crate::published_links;
use crate::session::{Job, Session};

/// The maximum number of look-ups in a transaction. It bounds how long the first of them waits for the last.
const MOST_LOOK_UPS: usize = 32;

/// How long a batch may take before another thread takes the next one as well. So a read that waits for the disk delays only
/// its own batch.
const SLOW: Duration = Duration::from_millis(2);

type Found = Option<PublishedLink>;

/// How a link is found by the columns of its address.
type Find = dyn Fn(&mut SqliteConnection, String, String) -> Result<Found, Failure> + Send + Sync;

/// Looks up links for visitors.
#[derive(Clone)]
pub(crate) struct Visits(Arc<Shared>);

struct Shared {
    queue: Arc<JobQueue<Job>>,
    waiting: Mutex<Waiting>,
    most_waiting: usize,
    most_turns: usize,
    time_limit: Duration,
    find: Box<Find>,
}

struct Waiting {
    visits: VecDeque<Visit>,
    /// The number of threads that serve batches or have been requested.
    turns: usize,
    /// When one of them last took a batch or was requested.
    progress: Instant,
}

/// A waiting look-up.
struct Visit {
    host: String,
    slug: String,
    answer_to: AnswerTo<Found>,
}

impl Visits {
    /// Look-ups on at most half of the threads that take jobs from `queue`.
    pub(crate) fn new(
        queue: Arc<JobQueue<Job>>,
        threads: usize,
        most_waiting: usize,
        time_limit: Duration,
    ) -> Self {
        Self::finding(queue, threads, most_waiting, time_limit, Box::new(published_links::find))
    }

    fn finding(
        queue: Arc<JobQueue<Job>>,
        threads: usize,
        most_waiting: usize,
        time_limit: Duration,
        find: Box<Find>,
    ) -> Self {
        let waiting = Waiting { visits: VecDeque::new(), turns: 0, progress: Instant::now() };
        let most_turns = threads.div_ceil(2);
        Self(Arc::new(Shared {
            queue,
            waiting: Mutex::new(waiting),
            most_waiting,
            most_turns,
            time_limit,
            find,
        }))
    }

    /// The link at an address, given as its columns.
    pub(crate) async fn published_link(&self, host: String, slug: String) -> Result<Found, StoreError> {
        let Self(shared) = self;
        let ends = end_of_call(shared.time_limit);
        let (answer_to, mut answer) = oneshot::channel();
        shared.enter(Visit { host, slug, answer_to })?;
        let outcome = match timeout(SLOW, &mut answer).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => return Err(StoreError::unavailable("the look-up was abandoned")),
            Err(_) => {
                shared.hurry()?;
                answer_by(ends, answer).await?
            }
        };
        outcome.map_err(Failure::into_store_error)
    }
}

impl Shared {
    /// Queues a look-up, and requests a thread unless one will reach it soon.
    fn enter(self: &Arc<Self>, visit: Visit) -> Result<(), StoreError> {
        let mut waiting = self.lock();
        if waiting.visits.len() >= self.most_waiting {
            return Err(too_many());
        }
        waiting.visits.push_back(visit);
        self.see_to(waiting)
    }

    /// Requests another thread if those that serve batches are slow.
    fn hurry(self: &Arc<Self>) -> Result<(), StoreError> {
        let waiting = self.lock();
        if waiting.visits.is_empty() { Ok(()) } else { self.see_to(waiting) }
    }

    fn see_to(self: &Arc<Self>, mut waiting: MutexGuard<'_, Waiting>) -> Result<(), StoreError> {
        let now = Instant::now();
        let is_slow = now.saturating_duration_since(waiting.progress) >= SLOW;
        if waiting.turns > 0 && (!is_slow || waiting.turns >= self.most_turns) {
            return Ok(());
        }
        waiting.turns += 1;
        waiting.progress = now;
        drop(waiting);
        self.ask_for_a_thread()
    }

    fn ask_for_a_thread(self: &Arc<Self>) -> Result<(), StoreError> {
        let shared = Arc::clone(self);
        let job: Job = Box::new(move |session| shared.take_turn(session));
        self.queue.put(job).map_err(|_| {
            let mut waiting = self.lock();
            waiting.turns -= 1;
            if waiting.turns == 0 {
                // No thread would reach them. Dropping them reports an error to their callers.
                waiting.visits.clear();
            }
            too_many()
        })
    }

    /// Serves batches until no look-up waits, or until other jobs wait for the thread.
    fn take_turn(self: &Arc<Self>, session: &mut Session) {
        loop {
            let mut waiting = self.lock();
            if waiting.visits.is_empty() {
                waiting.turns -= 1;
                return;
            }
            waiting.progress = Instant::now();
            let most = waiting.visits.len().min(MOST_LOOK_UPS);
            let batch = waiting.visits.drain(..most).collect();
            drop(waiting);
            self.serve(session, batch);
            if self.queue.has_waiting() {
                // Queued behind the other jobs. If the queue is full, the callers have been told.
                let _ = self.ask_for_a_thread();
                return;
            }
        }
    }

    /// Looks up a batch, and sends the outcomes to the callers.
    fn serve(&self, session: &mut Session, mut batch: VecDeque<Visit>) {
        let ends = end_of_call(self.time_limit);
        let mut found = Vec::with_capacity(batch.len());
        while !batch.is_empty() {
            let mut current = None;
            let outcome = session.run(ends, |connection| {
                Ok(connection.transaction(|connection| {
                    while let Some(Visit { host, slug, answer_to }) = batch.pop_front() {
                        if !answer_to.is_closed() {
                            current = Some(answer_to);
                            let outcome = (self.find)(connection, host, slug);
                            found.extend(current.take().map(|answer_to| (answer_to, outcome)));
                        }
                    }
                    Ok::<_, diesel::result::Error>(())
                })?)
            });
            if let Err(failure) = outcome {
                // A panic fails one look-up. A connection that cannot be opened fails the next one in line. A transaction
                // that cannot be ended fails none, because everything has been read by then.
                let failed = current.or_else(|| batch.pop_front().map(|visit| visit.answer_to));
                found.extend(failed.map(|answer_to| (answer_to, Err(failure))));
                session.roll_back();
            }
        }
        for (answer_to, outcome) in found {
            // The caller may be gone.
            let _ = answer_to.send(outcome);
        }
    }

    /// Look-ups run without the lock, so no panic leaves this half changed.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn too_many() -> StoreError {
    StoreError::unavailable("too many reads wait for the store")
}

#[cfg(test)]
mod tests;
