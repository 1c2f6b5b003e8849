//! Look-ups for visitors. Those that wait at the same moment share a statement (ADR 38).
//!
//! At most [`TURNS`] look-ups or batches run at once. A look-up that finds a turn free runs at once and alone, on its caller's
//! task. Others wait in a queue, and whoever ends its turn hands it to a batch of them. So a batch holds what has come in
//! while the server was busy, and nobody waits for a batch to fill.

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use signpost_app::ports::{PublishedLink, StoreError};
use signpost_domain::Address;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::connections::{Connections, end_of_call};
use crate::failure::Failure;
use crate::places::Purpose;
use crate::published_links;
use crate::shared_error::SharedError;

/// How many look-ups or batches run at once, as long as none of them is slow.
const TURNS: usize = 2;

/// How many addresses a batch asks for, at most.
const MOST_ADDRESSES: usize = 32;

/// How long a look-up or a batch may take before it gives its turn to the next. So a connection that hangs holds up its own
/// batch only, until the places for visitors run out.
const SLOW: Duration = Duration::from_millis(50);

type Outcome = Result<Option<PublishedLink>, StoreError>;

/// Looks up links for visitors.
pub(crate) struct Visits(Arc<Shared>);

struct Shared {
    connections: Arc<Connections>,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// Those who wait for a turn, the first at the front.
    queue: VecDeque<Visit>,
    turns_taken: usize,
}

/// A caller who waits.
struct Visit {
    address: Address,
    answer: oneshot::Sender<Outcome>,
}

/// The addresses that a batch asks for, each with all who want to know.
type Batch = Vec<(Address, Vec<oneshot::Sender<Outcome>>)>;

impl Visits {
    pub(crate) fn new(connections: Arc<Connections>) -> Self {
        Self(Arc::new(Shared { connections, waiting: Mutex::default() }))
    }

    /// The link at an address.
    pub(crate) async fn published_link(&self, address: &Address) -> Outcome {
        let Self(shared) = self;
        let ends = end_of_call(shared.connections.time_limit());
        let answered = match shared.enter(address) {
            Entered::Turn(turn) => {
                let (_turn, outcome) = in_turn(turn, shared.look_up(address)).await;
                return outcome;
            }
            Entered::Queue(answered) => answered,
        };
        match tokio::time::timeout_at(ends.into(), answered).await {
            Ok(Ok(outcome)) => outcome,
            // Its task ended before it was answered: the runtime is shutting down.
            Ok(Err(_dropped)) => Err(StoreError::unavailable("the look-up was given up")),
            Err(_elapsed) => Err(Failure::OutOfTime.into_store_error()),
        }
    }
}

enum Entered {
    Turn(Turn),
    Queue(oneshot::Receiver<Outcome>),
}

impl Shared {
    fn enter(self: &Arc<Self>, address: &Address) -> Entered {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.turns_taken < TURNS {
            waiting.turns_taken += 1;
            return Entered::Turn(Turn { shared: Arc::clone(self), has_begun: true });
        }
        let (answer, answered) = oneshot::channel();
        waiting.queue.push_back(Visit { address: address.clone(), answer });
        Entered::Queue(answered)
    }

    async fn look_up(&self, address: &Address) -> Outcome {
        let looked_up = self
            .connections
            .call(Purpose::Visit, async |connection| published_links::find(connection, address).await);
        looked_up.await.map_err(Failure::into_store_error)
    }

    /// The callers at the front of the queue who are still there; none if the queue is empty.
    fn next_batch(&self) -> Batch {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut batch = Batch::new();
        let mut places = HashMap::new();
        while let Some(Visit { address, answer }) = waiting.queue.pop_front() {
            if answer.is_closed() {
                continue;
            }
            if let Some((_, answers)) = places.get(&address).and_then(|place: &usize| batch.get_mut(*place)) {
                answers.push(answer);
            } else if batch.len() < MOST_ADDRESSES {
                places.insert(address.clone(), batch.len());
                batch.push((address, vec![answer]));
            } else {
                waiting.queue.push_front(Visit { address, answer });
                break;
            }
        }
        batch
    }

    async fn serve(&self, batch: Batch) {
        let (addresses, answers): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let found = self.connections.call(Purpose::Visit, async |connection| {
            published_links::find_each(connection, &addresses).await
        });
        match found.await {
            Ok(found) => {
                for (outcome, answers) in found.into_iter().zip(answers) {
                    answer(answers, outcome.map_err(Failure::into_store_error));
                }
            }
            // One of the rows may be to blame: it fails only those who asked for it.
            Err(failure) if addresses.len() > 1 && failure.is_of_a_row() => {
                for (address, answers) in addresses.iter().zip(answers) {
                    answer(answers, self.look_up(address).await);
                }
            }
            Err(failure) => {
                answer(answers.into_iter().flatten().collect(), Err(failure.into_store_error()));
            }
        }
    }
}

/// Gives all who wait for it the same outcome. Some of them may have gone.
fn answer(answers: Vec<oneshot::Sender<Outcome>>, outcome: Outcome) {
    match outcome {
        Ok(link) => {
            for answer in answers {
                let _ = answer.send(Ok(link.clone()));
            }
        }
        Err(error) => {
            let error = SharedError::from(error);
            for answer in answers {
                let _ = answer.send(Err(error.to_store_error()));
            }
        }
    }
}

/// Runs a look-up or a batch in its turn, and gives the turn back if it was not slow.
async fn in_turn<T>(turn: Turn, work: impl Future<Output = T>) -> (Option<Turn>, T) {
    let mut work = pin!(work);
    match timeout(SLOW, &mut work).await {
        Ok(done) => (Some(turn), done),
        Err(_elapsed) => {
            drop(turn);
            (None, work.await)
        }
    }
}

/// One of the [`TURNS`]. When it is dropped, those who wait have it.
struct Turn {
    shared: Arc<Shared>,
    /// Whether what it was given to has begun.
    has_begun: bool,
}

impl Turn {
    /// Serves batches until nobody waits, or until one of them is slow.
    async fn serve_all(mut self) {
        self.has_begun = true;
        let mut kept = Some(self);
        while let Some(turn) = kept {
            let shared = Arc::clone(&turn.shared);
            let batch = shared.next_batch();
            if batch.is_empty() {
                return;
            }
            (kept, ()) = in_turn(turn, shared.serve(batch)).await;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Self { shared, has_begun } = self;
        let mut waiting = shared.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.queue.is_empty() {
            waiting.turns_taken -= 1;
        } else if *has_begun {
            drop(waiting);
            // On a task of its own: a caller whose turn ends goes on with its link, and may be cancelled.
            let next = Self { shared: Arc::clone(shared), has_begun: false };
            shared.connections.spawn(next.serve_all());
        } else {
            // The runtime has ended, and takes no tasks. Without an answer, the callers are told so.
            waiting.turns_taken -= 1;
            waiting.queue.clear();
        }
    }
}
