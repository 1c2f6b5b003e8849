//! The thread that writes.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use signpost_app::pool_usage::{PoolUsage, Waiting};
use signpost_app::ports::StoreError;
use signpost_domain::{AccountId, QuotaDecision, RequestBudget, Timestamp};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::admissions::{self, Admission};
use crate::answer::{answer_by, end_of_call, turn_by};
use crate::connection::Task;
use crate::failure::Failure;
use crate::file_watch::OpenFile;
use crate::free_space;
use crate::open_error::OpenError;
use crate::options::SqliteOptions;
use crate::session::Session;
use crate::unit_of_work::{self, NewWork, SqliteUnitOfWork};
use crate::write_check::{FRESH, WriteCheck};

/// The maximum number of requests counted in one transaction, which bounds the wait of a unit of work.
const LARGEST_BATCH: usize = 512;

/// The thread that writes. SQLite has one writer at a time anyway; here turns are given out in order, without sleeping
/// inside SQLite.
pub(crate) struct Writer {
    /// `None` only while the writer is being dropped.
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
    /// The single turn for a unit of work. It moves with the unit to the thread and is returned there, so that an owner who
    /// forgets the unit cannot keep it.
    turn: Arc<Semaphore>,
    /// Units of work that wait for the turn.
    waiting: Waiting,
    /// Permits for requests that wait to be counted.
    room: Arc<Semaphore>,
    check: Arc<WriteCheck>,
    time_limit: Duration,
}

enum Order {
    /// Serve this unit of work to its end.
    Work(NewWork),
    /// Count this request, together with other waiting ones.
    Admission(Admission, OwnedSemaphorePermit),
}

impl Writer {
    pub(crate) fn start(file: &OpenFile, options: &SqliteOptions) -> Result<Self, OpenError> {
        let SqliteOptions { readers: _, time_limit, waiting } = options;
        let time_limit = *time_limit;
        let mut session = Session::open(file.clone(), Task::Write, time_limit)?;
        let (orders, inbox) = mpsc::channel();
        let check = Arc::new(WriteCheck::new(FRESH));
        let noted = Arc::clone(&check);
        let thread = std::thread::Builder::new()
            .name("sqlite-write".to_owned())
            .spawn(move || serve(&mut session, &inbox, time_limit, &noted))
            .map_err(OpenError::NoThread)?;
        let room = Semaphore::new(waiting.get().min(Semaphore::MAX_PERMITS));
        Ok(Self {
            orders: Some(orders),
            thread: Some(thread),
            turn: Arc::new(Semaphore::new(1)),
            waiting: Waiting::default(),
            room: Arc::new(room),
            check,
            time_limit,
        })
    }

    /// Begins a unit of work, after those before it.
    pub(crate) async fn begin(&self) -> Result<SqliteUnitOfWork, StoreError> {
        self.begin_within(self.time_limit).await
    }

    /// Begins a unit of work again, within what is left of its first time limit.
    pub(crate) async fn begin_again(&self, first_begun: Instant) -> Result<SqliteUnitOfWork, StoreError> {
        let left = self.time_limit.saturating_sub(first_begun.elapsed());
        if left.is_zero() {
            return Err(StoreError::unavailable("no time is left for another attempt"));
        }
        self.begin_within(left).await
    }

    async fn begin_within(&self, time_limit: Duration) -> Result<SqliteUnitOfWork, StoreError> {
        let ends = end_of_call(time_limit);
        let waiting = self.waiting.enter();
        let turn = turn_by(ends, &self.turn).await?;
        drop(waiting);
        let (begun_to, begun) = oneshot::channel();
        let (unit_of_work, work) = unit_of_work::new(time_limit, ends, begun_to, turn);
        self.send(Order::Work(work))?;
        answer_by(ends, begun).await?.map_err(Failure::into_write_error)?;
        Ok(unit_of_work)
    }

    /// Decides on one request and counts it if it is admitted.
    pub(crate) async fn admit(
        &self,
        account: AccountId,
        budget: RequestBudget,
        now: Timestamp,
    ) -> Result<QuotaDecision, StoreError> {
        let ends = end_of_call(self.time_limit);
        let room = Arc::clone(&self.room)
            .try_acquire_owned()
            .map_err(|_| StoreError::unavailable("too many requests wait to be counted"))?;
        let (answer_to, answer) = oneshot::channel();
        self.send(Order::Admission(Admission { account, budget, now, ends, answer_to }, room))?;
        answer_by(ends, answer).await?.map_err(Failure::into_write_error)
    }

    /// The check whether the file can be written.
    pub(crate) fn check(&self) -> &WriteCheck {
        &self.check
    }

    /// How busy the thread is with units of work.
    pub(crate) fn usage(&self) -> PoolUsage {
        let idle = self.turn.available_permits();
        let in_use = 1_usize.saturating_sub(idle);
        PoolUsage { pool: "writes", in_use, idle, max: Some(1), waiting: self.waiting.count() }
    }

    /// Whether the thread accepts orders.
    pub(crate) fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    fn send(&self, order: Order) -> Result<(), StoreError> {
        let ended = || StoreError::unavailable("the writing thread of the store has ended");
        self.orders.as_ref().ok_or_else(ended)?.send(order).map_err(|_| ended())
    }
}

impl Drop for Writer {
    /// Waits for the thread, which first finishes its orders; a unit of work among them has its time limit.
    fn drop(&mut self) {
        self.orders = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the writing thread of the store has panicked");
        }
    }
}

fn serve(session: &mut Session, inbox: &Receiver<Order>, time_limit: Duration, check: &WriteCheck) {
    let mut has_space_to_give = false;
    while let Some(first) = next_order(session, inbox, time_limit, &mut has_space_to_give) {
        let mut admissions = Vec::new();
        let mut works = Vec::new();
        for order in std::iter::once(first).chain(inbox.try_iter()) {
            match order {
                // From here on the request no longer waits, so its permit is free.
                Order::Admission(admission, _room) => admissions.push(admission),
                Order::Work(work) => works.push(work),
            }
            if admissions.len() >= LARGEST_BATCH {
                break;
            }
        }
        if admissions::admit_all(session, admissions) {
            check.note_write();
        }
        for work in works {
            if unit_of_work::serve(session, work, time_limit) {
                check.note_write();
            }
            has_space_to_give = true;
        }
    }
}

/// The next order, or `None` if there will be none. Gives free space back while it waits.
fn next_order(
    session: &mut Session,
    inbox: &Receiver<Order>,
    time_limit: Duration,
    has_space_to_give: &mut bool,
) -> Option<Order> {
    while *has_space_to_give {
        match inbox.try_recv() {
            Ok(order) => return Some(order),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => {
                *has_space_to_give = free_space::give_back(session, end_of_call(time_limit));
            }
        }
    }
    inbox.recv().ok()
}
