//! Look-ups for visitors. Look-ups that wait at the same moment share a statement (ADR 38).
//!
//! At most [`TURNS`] look-ups or batches run at once. A look-up that finds a free turn runs at once and alone, on its
//! caller's task. Others queue, and each ending turn passes to a batch of them. So a batch holds what arrived while the
//! server was busy, and no look-up waits for a batch to fill.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use signpost_app::ports::{PublishedFile, PublishedSite, StoreError};
use signpost_domain::{Address, AppFileKind, Hostname};
use tokio::time::timeout;

use crate::connections::Connections;
use crate::failure::Failure;
use crate::permits::Purpose;
use crate::published_links;
use crate::published_sites;
use crate::shared_error::SharedError;
use crate::time_limit::end_of_call;
use crate::visit_answers::{Answer, Answers, Outcome, WaitingVisit, caller};

/// How many look-ups or batches run at once, unless some are slow.
const TURNS: usize = 2;

/// The maximum number of addresses in a batch.
const MOST_ADDRESSES: usize = 32;

/// How long a look-up or a batch may take before its turn passes to the next. So a hanging connection blocks only its own
/// batch, until the permits for visitors run out.
const SLOW: Duration = Duration::from_millis(50);

/// Looks up links for visitors.
pub(crate) struct Visits(Arc<Shared>);

struct Shared {
    connections: Arc<Connections>,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// The look-ups that wait for a turn, in order of arrival.
    queue: VecDeque<Visit>,
    turns_taken: usize,
}

/// A waiting look-up.
struct Visit {
    address: Address,
    caller: WaitingVisit,
}

/// The distinct addresses of a batch, and the callers of each at the same position.
#[derive(Default)]
struct Batch {
    addresses: Vec<Address>,
    callers: Vec<WaitingVisits>,
}

/// The callers of one address, usually only one.
struct WaitingVisits {
    first: WaitingVisit,
    others: Vec<WaitingVisit>,
}

impl Batch {
    /// Adds a look-up, unless its address would exceed the maximum.
    fn take(&mut self, Visit { address, caller }: Visit) -> Result<(), Visit> {
        let position = self.addresses.iter().position(|other| *other == address);
        if let Some(callers) = position.and_then(|position| self.callers.get_mut(position)) {
            callers.others.push(caller);
        } else if self.addresses.len() < MOST_ADDRESSES {
            self.addresses.push(address);
            self.callers.push(WaitingVisits { first: caller, others: Vec::new() });
        } else {
            return Err(Visit { address, caller });
        }
        Ok(())
    }
}

impl Visits {
    pub(crate) fn new(connections: Arc<Connections>) -> Self {
        Self(Arc::new(Shared { connections, waiting: Mutex::default() }))
    }

    /// The link at an address.
    pub(crate) async fn published_link(&self, address: &Address) -> Outcome {
        let Self(shared) = self;
        let ends = end_of_call(shared.connections.time_limit());
        let answer = match shared.enter(address) {
            Entered::Turn(turn) => {
                let (_turn, outcome) = in_turn(turn, shared.look_up(address)).await;
                return outcome;
            }
            Entered::Queue(answer) => answer,
        };
        match tokio::time::timeout_at(ends.into(), answer.outcome()).await {
            Ok(Ok(outcome)) => outcome,
            // Its task ended before the answer: the runtime is shutting down.
            Ok(Err(_dropped)) => Err(StoreError::unavailable("the look-up was abandoned at shutdown")),
            Err(_elapsed) => Err(Failure::OutOfTime.into_store_error()),
        }
    }
}

/// What visitors get of a custom domain besides its links. The node asks once for all visitors of a domain, so these look-ups
/// share no statement.
impl Visits {
    /// The site of the domain with this hostname.
    pub(crate) async fn published_site(
        &self,
        hostname: &Hostname,
    ) -> Result<Option<PublishedSite>, StoreError> {
        let looked_up = self
            .0
            .connections
            .call(Purpose::Visit, async |connection| published_sites::find(connection, hostname).await);
        looked_up.await.map_err(Failure::into_store_error)
    }

    /// A file of the domain with this hostname.
    pub(crate) async fn published_file(
        &self,
        hostname: &Hostname,
        kind: AppFileKind,
    ) -> Result<Option<PublishedFile>, StoreError> {
        let looked_up = self.0.connections.call(Purpose::Visit, async |connection| {
            published_sites::find_file(connection, hostname, kind).await
        });
        looked_up.await.map_err(Failure::into_store_error)
    }
}

enum Entered {
    Turn(Turn),
    Queue(Answer),
}

impl Shared {
    fn enter(self: &Arc<Self>, address: &Address) -> Entered {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.turns_taken < TURNS {
            waiting.turns_taken += 1;
            return Entered::Turn(Turn { shared: Arc::clone(self), has_begun: true });
        }
        let (caller, answer) = caller();
        waiting.queue.push_back(Visit { address: address.clone(), caller });
        Entered::Queue(answer)
    }

    async fn look_up(&self, address: &Address) -> Outcome {
        let looked_up = self
            .connections
            .call(Purpose::Visit, async |connection| published_links::find(connection, address).await);
        looked_up.await.map_err(Failure::into_store_error)
    }

    /// The next callers in the queue that still wait; empty if the queue is empty.
    fn next_batch(&self) -> Batch {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut batch = Batch::default();
        while let Some(visit) = waiting.queue.pop_front() {
            if visit.caller.has_gone() {
                continue;
            }
            if let Err(visit) = batch.take(visit) {
                waiting.queue.push_front(visit);
                break;
            }
        }
        batch
    }

    async fn serve(&self, Batch { addresses, callers }: Batch) {
        let found = self.connections.call(Purpose::Visit, async |connection| {
            published_links::find_each(connection, &addresses).await
        });
        match found.await {
            Ok(found) => {
                let mut answers = Answers::new();
                for (outcome, callers) in found.into_iter().zip(callers) {
                    callers.tell(outcome.map_err(Failure::into_store_error), &mut answers);
                }
                answers.send();
            }
            // One of the rows may be corrupt: retry each address alone, so that only its own callers fail.
            Err(failure) if addresses.len() > 1 && failure.is_of_a_row() => {
                for (address, callers) in addresses.iter().zip(callers) {
                    let outcome = self.look_up(address).await;
                    let mut answers = Answers::new();
                    callers.tell(outcome, &mut answers);
                    answers.send();
                }
            }
            Err(failure) => {
                let error = SharedError::from(failure.into_store_error());
                let mut answers = Answers::new();
                for callers in callers {
                    callers.tell(Err(error.to_store_error()), &mut answers);
                }
                answers.send();
            }
        }
    }
}

impl WaitingVisits {
    /// Delivers the same outcome to all of them.
    fn tell(self, outcome: Outcome, answers: &mut Answers) {
        let Self { first, others } = self;
        if others.is_empty() {
            answers.tell(first, outcome);
            return;
        }
        let outcome = outcome.map_err(SharedError::from);
        for caller in others.into_iter().chain([first]) {
            let outcome = outcome.as_ref();
            answers.tell(caller, outcome.cloned().map_err(SharedError::to_store_error));
        }
    }
}

/// Runs a look-up or a batch in its turn, and returns the turn unless it was slow.
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

/// One of the [`TURNS`]. Dropping it passes it to the waiting look-ups.
struct Turn {
    shared: Arc<Shared>,
    /// Whether its look-up or batch has started.
    has_begun: bool,
}

impl Turn {
    /// Serves batches until the queue is empty, or until one of them is slow.
    async fn serve_all(mut self) {
        self.has_begun = true;
        let mut kept = Some(self);
        while let Some(turn) = kept {
            let shared = Arc::clone(&turn.shared);
            let batch = shared.next_batch();
            if batch.addresses.is_empty() {
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
            // On a separate task: the caller whose turn ends continues with its link, and may be cancelled.
            let next = Self { shared: Arc::clone(shared), has_begun: false };
            shared.connections.spawn(next.serve_all());
        } else {
            // The runtime has ended and accepts no tasks. The callers then get an error.
            waiting.turns_taken -= 1;
            waiting.queue.clear();
        }
    }
}
