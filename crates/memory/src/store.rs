//! The store and its time limit.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use signpost_app::ports::{ChangesMade, Clock, Store, StoreError, UnitOfWork, VisibleChange};
use signpost_domain::Timestamp;

use crate::change_log::Log;
use crate::clock::ManualClock;
use crate::faults::{Faults, Step};
use crate::leases;
use crate::link_reads::LinkReadGate;
use crate::node_reports;
use crate::state::State;
use crate::unit_of_work::{Held, MemoryUnitOfWork, Turn};

/// A [`Store`] that keeps everything in memory. Clones share the data.
///
/// One unit of work runs at a time, on a copy of the state; a commit replaces the state with the copy. Readers see the last
/// commit and never wait. It needs a tokio runtime with timers.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// use signpost_app::ports::{Store, StoreError};
/// use signpost_memory::{Fault, MemoryStore, Step};
///
/// let store = MemoryStore::new();
/// store.faults().fail_next(Step::Begin, Fault::Contended, 1);
/// assert!(matches!(store.begin().await, Err(StoreError::Contended)));
/// assert!(store.begin().await.is_ok());
/// # });
/// ```
#[derive(Debug, Clone)]
pub struct MemoryStore(Arc<Shared>);

pub(crate) struct Shared {
    committed: RwLock<Committed>,
    leases: Mutex<leases::Held>,
    reports: Mutex<node_reports::Reported>,
    clock: Arc<dyn Clock>,
    turn: Arc<tokio::sync::Mutex<()>>,
    time_limit: Duration,
    faults: Faults,
    link_reads: LinkReadGate,
    site_reads: LinkReadGate,
    /// Which task runs a unit of work, if that task may not read the store as well.
    at_work: Mutex<Option<User>>,
    refuses_reads_beside_work: AtomicBool,
}

/// The user of the store: a spawned task, or the thread of any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    Task(tokio::task::Id),
    Thread(ThreadId),
}

impl User {
    fn current() -> Self {
        tokio::task::try_id().map_or_else(|| Self::Thread(thread::current().id()), Self::Task)
    }
}

/// The committed state; the log changes together with it.
#[derive(Default)]
struct Committed {
    state: State,
    log: Log,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

/// Longer than a server's default (D6), so that no test reaches it on a busy machine.
const TIME_LIMIT: Duration = Duration::from_mins(1);

impl MemoryStore {
    /// An empty store with a time limit of one minute.
    #[must_use]
    pub fn new() -> Self {
        Self::with_time_limit(TIME_LIMIT)
    }

    /// An empty store. `time_limit` bounds how long a unit of work waits for its turn, and how long it may last (D6).
    #[must_use]
    pub fn with_time_limit(time_limit: Duration) -> Self {
        Self::of(time_limit, Arc::new(ManualClock::default()))
    }

    /// An empty store with a time limit of one minute, whose change log uses this clock.
    #[must_use]
    pub fn on_clock(clock: Arc<dyn Clock>) -> Self {
        Self::of(TIME_LIMIT, clock)
    }

    fn of(time_limit: Duration, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Shared {
            committed: RwLock::default(),
            leases: Mutex::default(),
            reports: Mutex::default(),
            clock,
            turn: Arc::default(),
            time_limit,
            faults: Faults::default(),
            link_reads: LinkReadGate::default(),
            site_reads: LinkReadGate::default(),
            at_work: Mutex::default(),
            refuses_reads_beside_work: AtomicBool::default(),
        }))
    }

    /// Makes reads fail in a task that has an open unit of work: a store with few connections may lack one
    /// for them.
    pub fn refuse_reads_beside_work(&self) {
        self.0.refuses_reads_beside_work.store(true, Ordering::Relaxed);
    }

    /// Counts the reads of published links, and can delay them.
    #[must_use]
    pub fn link_reads(&self) -> &LinkReadGate {
        &self.0.link_reads
    }

    /// Counts the reads of what domains have besides links, and can delay them.
    #[must_use]
    pub fn site_reads(&self) -> &LinkReadGate {
        &self.0.site_reads
    }

    /// The calls that fail.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.0.faults
    }

    pub(crate) fn read<T>(&self, f: impl FnOnce(&State) -> T) -> Result<T, StoreError> {
        self.0.faults.before(Step::Read)?;
        if *self.0.at_work() == Some(User::current()) {
            return Err(StoreError::unavailable("a task reads the store beside its own unit of work"));
        }
        Ok(f(&self.0.committed.read().unwrap_or_else(PoisonError::into_inner).state))
    }

    pub(crate) fn read_log<T>(&self, f: impl FnOnce(&Log) -> T) -> Result<T, StoreError> {
        self.0.faults.before(Step::Log)?;
        Ok(f(&self.0.committed.read().unwrap_or_else(PoisonError::into_inner).log))
    }

    pub(crate) fn write_log<T>(&self, f: impl FnOnce(&mut Log) -> T) -> Result<T, StoreError> {
        self.0.faults.before(Step::Log)?;
        Ok(f(&mut self.0.committed.write().unwrap_or_else(PoisonError::into_inner).log))
    }

    pub(crate) fn write_leases<T>(&self, f: impl FnOnce(&mut leases::Held) -> T) -> Result<T, StoreError> {
        self.0.faults.before(Step::Lease)?;
        Ok(f(&mut self.0.leases.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    pub(crate) fn with_reports<T>(
        &self,
        f: impl FnOnce(&mut node_reports::Reported) -> T,
    ) -> Result<T, StoreError> {
        self.0.faults.before(Step::Report)?;
        Ok(f(&mut self.0.reports.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.0.clock.now()
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Shared {
    pub(crate) fn at_work(&self) -> MutexGuard<'_, Option<User>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) const fn faults(&self) -> &Faults {
        &self.faults
    }

    pub(crate) fn replace(&self, state: State, changes: Vec<VisibleChange>) {
        let mut committed = self.committed.write().unwrap_or_else(PoisonError::into_inner);
        committed.state = state;
        committed.log.extend(self.clock.now(), changes);
    }
}

impl MemoryStore {
    /// Makes an internal change that visitors do not see, as its own unit of work. No concurrent one can overwrite it, and
    /// nothing has to be copied.
    pub(crate) async fn write_at_once<T>(&self, f: impl FnOnce(&mut State) -> T) -> Result<T, StoreError> {
        let Self(shared) = self;
        for step in [Step::Begin, Step::Write, Step::Commit] {
            shared.faults.before(step)?;
        }
        let waiting = tokio::time::timeout(shared.time_limit, shared.turn.lock());
        let _turn = waiting.await.map_err(StoreError::unavailable)?;
        Ok(f(&mut shared.committed.write().unwrap_or_else(PoisonError::into_inner).state))
    }

    /// Begins an internal unit of work.
    pub(crate) async fn begin_in_time(&self) -> Result<Box<MemoryUnitOfWork>, StoreError> {
        self.begin_within(self.0.time_limit).await
    }

    /// Begins a unit of work with this time limit.
    async fn begin_within(&self, time_limit: Duration) -> Result<Box<MemoryUnitOfWork>, StoreError> {
        let Self(shared) = self;
        if time_limit.is_zero() {
            return Err(StoreError::unavailable("no time is left for another attempt"));
        }
        shared.faults.before(Step::Begin)?;
        let waiting = tokio::time::timeout(time_limit, Arc::clone(&shared.turn).lock_owned());
        let turn = waiting.await.map_err(StoreError::unavailable)?;
        let state = shared.committed.read().unwrap_or_else(PoisonError::into_inner).state.clone();
        if shared.refuses_reads_beside_work.load(Ordering::Relaxed) {
            *shared.at_work() = Some(User::current());
        }
        let turn = Turn { shared: Arc::clone(shared), _held: turn };
        let held = Held { state, changes: ChangesMade::default(), turn };
        let held = Arc::new(Mutex::new(Some(held)));
        // A forgotten unit of work must not block the others forever.
        let forgotten = Arc::downgrade(&held);
        let watch = tokio::spawn(async move {
            tokio::time::sleep(time_limit).await;
            if let Some(held) = forgotten.upgrade() {
                held.lock().unwrap_or_else(PoisonError::into_inner).take();
            }
        });
        Ok(Box::new(MemoryUnitOfWork::new(Arc::clone(shared), held, watch.abort_handle())))
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>, StoreError> {
        Ok(self.begin_in_time().await?)
    }

    async fn begin_again(&self, first_begun: Instant) -> Result<Box<dyn UnitOfWork>, StoreError> {
        self.0.faults.before(Step::BeginAgain)?;
        Ok(self.begin_within(self.0.time_limit.saturating_sub(first_begun.elapsed())).await?)
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.read(|_| ())
    }

    async fn check_writes(&self) -> Result<(), StoreError> {
        self.begin_in_time().await.map(drop)
    }
}
