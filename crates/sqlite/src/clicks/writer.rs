//! The thread that writes clicks.

use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use signpost_app::ports::StoreError;
use tokio::sync::oneshot;

use crate::answer::{answer_by, end_of_call};
use crate::connection::Task;
use crate::failure::Failure;
use crate::file_watch::OpenFile;
use crate::free_space;
use crate::open_error::OpenError;
use crate::session::{Durability, Session};

type Job = Box<dyn FnOnce(&mut Session) + Send>;

/// The thread that writes clicks, one transaction after the other.
pub(super) struct ClickWriter {
    /// `None` only while the writer is being dropped.
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    time_limit: Duration,
}

impl ClickWriter {
    pub(super) fn start(file: &OpenFile, time_limit: Duration) -> Result<Self, OpenError> {
        let mut session = Session::open(file.clone(), Task::Write, time_limit)?;
        let (jobs, inbox) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("sqlite-clicks".to_owned())
            .spawn(move || serve(&mut session, &inbox, time_limit))
            .map_err(OpenError::NoThread)?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), time_limit })
    }

    /// Runs `change` as a transaction. It does not start if the caller has stopped waiting.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let ends = end_of_call(self.time_limit);
        self.run(ends, move |session| transaction(session, ends, change)).await
    }

    /// Truncates the write-ahead log, which still contains deleted data. If a reader blocks this, a later call does it.
    pub(super) async fn empty_log(&self) -> Result<(), StoreError> {
        let ends = end_of_call(self.time_limit);
        let empty = |connection: &mut SqliteConnection| {
            Ok(connection.batch_execute("PRAGMA wal_checkpoint(TRUNCATE)")?)
        };
        self.run(ends, move |session| session.run(ends, empty)).await
    }

    async fn run<T: Send + 'static>(
        &self,
        ends: Instant,
        work: impl FnOnce(&mut Session) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer_to, answer) = oneshot::channel();
        let job: Job = Box::new(move |session| {
            if !answer_to.is_closed() {
                let _ = answer_to.send(work(session));
            }
        });
        let ended = || StoreError::unavailable("the thread that writes clicks has ended");
        self.jobs.as_ref().ok_or_else(ended)?.send(job).map_err(|_| ended())?;
        answer_by(ends, answer).await?.map_err(Failure::into_write_error)
    }
}

impl Drop for ClickWriter {
    /// Waits for the thread, which first finishes its jobs.
    fn drop(&mut self) {
        self.jobs = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread that writes clicks has panicked");
        }
    }
}

fn transaction<T>(
    session: &mut Session,
    ends: Instant,
    change: impl FnOnce(&mut SqliteConnection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    session.begin(Durability::Process, ends, || true)?;
    let outcome = session.run(ends, change);
    match outcome {
        Ok(outcome) => session.commit(ends).map(|()| outcome),
        Err(failure) => {
            session.roll_back();
            Err(failure)
        }
    }
}

fn serve(session: &mut Session, inbox: &Receiver<Job>, time_limit: Duration) {
    let mut has_space_to_give = false;
    while let Some(job) = next_job(session, inbox, time_limit, &mut has_space_to_give) {
        job(session);
        has_space_to_give = true;
    }
}

/// The next job, or `None` if there will be none. Gives free space back while it waits.
fn next_job(
    session: &mut Session,
    inbox: &Receiver<Job>,
    time_limit: Duration,
    has_space_to_give: &mut bool,
) -> Option<Job> {
    while *has_space_to_give {
        match inbox.try_recv() {
            Ok(job) => return Some(job),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => {
                *has_space_to_give = free_space::give_back(session, end_of_call(time_limit));
            }
        }
    }
    inbox.recv().ok()
}
