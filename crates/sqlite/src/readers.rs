//! The threads that read.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use diesel::sqlite::SqliteConnection;
use signpost_app::pool_usage::PoolUsage;
use signpost_app::ports::StoreError;
use signpost_click_store::Priority;
use tokio::sync::{Semaphore, oneshot};

use crate::answer::{answer_by, end_of_call, turn_by};
use crate::connection::Task;
use crate::failure::Failure;
use crate::file_watch::OpenFile;
use crate::job_queue::JobQueue;
use crate::open_error::OpenError;
use crate::options::SqliteOptions;
use crate::session::{Job, Session};
use crate::visits::Visits;

/// The threads that read, each with a connection on which SQLite forbids writing. With write-ahead logging they neither wait
/// for the writer nor block it.
pub(crate) struct Readers {
    queue: Arc<JobQueue<Job>>,
    threads: Vec<JoinHandle<()>>,
    /// Turns for long reads: half of the threads, so that one account's searches leave the other half to all others.
    turns: Arc<Semaphore>,
    visits: Visits,
    time_limit: Duration,
}

impl Readers {
    pub(crate) fn start(
        file: &OpenFile,
        options: &SqliteOptions,
        priority: Priority,
    ) -> Result<Self, OpenError> {
        let SqliteOptions { readers, time_limit, waiting } = options;
        let queue = Arc::new(JobQueue::new(*waiting));
        // Built first, so that running threads end if a later one cannot start.
        let mut started = Self {
            visits: Visits::new(Arc::clone(&queue), readers.get(), waiting.get(), *time_limit),
            queue,
            threads: Vec::with_capacity(readers.get()),
            turns: Arc::new(Semaphore::new(readers.get().div_ceil(2))),
            time_limit: *time_limit,
        };
        for number in 1..=readers.get() {
            let mut session = Session::open(file.clone(), Task::Read, *time_limit)?;
            let queue = Arc::clone(&started.queue);
            let thread = std::thread::Builder::new()
                .name(format!("sqlite-read-{number}"))
                .spawn(move || {
                    priority.take();
                    while let Some(job) = queue.take() {
                        job(&mut session);
                    }
                })
                .map_err(OpenError::NoThread)?;
            started.threads.push(thread);
        }
        Ok(started)
    }

    /// Runs `read` on one of the threads. It does not start if the caller is gone by then. Once started it runs to its end,
    /// but the caller waits no longer than the time limit.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.read_by(end_of_call(self.time_limit), read).await
    }

    /// How busy the threads are.
    pub(crate) fn usage(&self, pool: &'static str) -> PoolUsage {
        let (waiting, resting) = self.queue.waiting_and_resting();
        let threads = self.threads.len();
        PoolUsage {
            pool,
            in_use: threads.saturating_sub(resting),
            idle: resting,
            max: Some(threads),
            waiting,
        }
    }

    /// Look-ups for visitors.
    pub(crate) const fn visits(&self) -> &Visits {
        &self.visits
    }

    /// Like [`Self::read`], for a read that may take long; it waits for a turn first.
    pub(crate) async fn read_at_length<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let ends = end_of_call(self.time_limit);
        let turn = turn_by(ends, &self.turns).await?;
        let read = move |connection: &mut SqliteConnection| {
            // Held until the read ends, even if its caller is gone by then.
            let _turn = turn;
            read(connection)
        };
        self.read_by(ends, read).await
    }

    /// Like [`Self::read`], with a deadline.
    async fn read_by<T: Send + 'static>(
        &self,
        ends: Instant,
        read: impl FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer_to, answer) = oneshot::channel();
        let job: Job = Box::new(move |session| {
            if !answer_to.is_closed() {
                let _ = answer_to.send(session.run(ends, read));
            }
        });
        self.put(job)?;
        answer_by(ends, answer).await?.map_err(Failure::into_store_error)
    }

    /// Gives a job to one of the threads.
    pub(crate) fn put(&self, job: Job) -> Result<(), StoreError> {
        self.queue.put(job).map_err(|_| StoreError::unavailable("too many reads wait for the store"))
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue.close();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a reading thread of the store has panicked");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;

    use super::*;
    use crate::database_file::DatabaseFile;

    fn readers(threads: usize, waiting: usize, time_limit: Duration) -> (tempfile::TempDir, Readers) {
        let folder = tempfile::tempdir().unwrap();
        let file = DatabaseFile::at(folder.path().join("test.db")).unwrap();
        let number = |number| NonZeroUsize::new(number).unwrap();
        let options = SqliteOptions { readers: number(threads), time_limit, waiting: number(waiting) };
        let readers = Readers::start(&OpenFile::new(file), &options, Priority::Normal).unwrap();
        (folder, readers)
    }

    const LONG: Duration = Duration::from_mins(1);

    /// A read that runs until the second value is dropped, and announces its start to the first.
    fn endless() -> (mpsc::Receiver<()>, mpsc::Sender<()>, impl FnOnce(&mut SqliteConnection) -> Done + Send)
    {
        let ((begun_to, begun), (end, ended)) = (mpsc::channel(), mpsc::channel::<()>());
        let read = move |_: &mut SqliteConnection| {
            begun_to.send(()).unwrap();
            let _ = ended.recv();
            Ok(())
        };
        (begun, end, read)
    }

    type Done = Result<(), Failure>;

    /// Polls a future once.
    fn begin<F: Future>(future: F) -> std::pin::Pin<Box<F>> {
        let mut future = Box::pin(future);
        let polled = future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
        assert!(polled.is_pending());
        future
    }

    fn message<T>(outcome: Result<T, StoreError>) -> String {
        match outcome.map(drop).unwrap_err() {
            StoreError::Unavailable(cause) => cause.to_string(),
            other @ (StoreError::Unwritable(_) | StoreError::Contended | StoreError::Corrupt { .. }) => {
                panic!("{other}")
            }
        }
    }

    /// D6: no call hangs, with any statement, and abandoned work is not started.
    #[tokio::test]
    async fn d6_caller_waits_no_longer_than_the_limit() {
        let (_folder, readers) = readers(1, 10, Duration::from_millis(50));
        let (begun, end, read) = endless();
        let first = begin(readers.read(read));
        begun.recv().unwrap();
        let has_run = Arc::new(AtomicBool::new(false));
        let late = {
            let has_run = Arc::clone(&has_run);
            move |_: &mut SqliteConnection| {
                has_run.store(true, Ordering::SeqCst);
                Ok(())
            }
        };
        let (first, second) = tokio::join!(first, readers.read(late));
        assert!(message(first).contains("time limit"));
        assert!(message(second).contains("time limit"));
        drop(end);
        // The thread is free again. It runs this read after the second one, also on a busy machine.
        while readers.read(|_| Ok(())).await.is_err() {}
        assert!(!has_run.load(Ordering::SeqCst));
    }

    #[tokio::test]
    async fn reads_beyond_the_queue_are_rejected_at_once() {
        let (_folder, readers) = readers(1, 2, LONG);
        let (begun, end, read) = endless();
        let running = begin(readers.read(read));
        begun.recv().unwrap();
        let short = |_: &mut SqliteConnection| Ok(());
        let waiting = [begin(readers.read(short)), begin(readers.read(short))];
        assert!(message(readers.read(short).await).contains("too many"));
        drop(end);
        running.await.unwrap();
        for waiting in waiting {
            waiting.await.unwrap();
        }
    }

    #[tokio::test]
    async fn long_reads_leave_threads_to_short_ones() {
        let (_folder, readers) = readers(2, 10, LONG);
        let (begun, end, read) = endless();
        let running = begin(readers.read_at_length(read));
        begun.recv().unwrap();
        let waiting = begin(readers.read_at_length(|_| Ok(())));
        for _ in 0..20 {
            readers.read(|_| Ok(())).await.unwrap();
        }
        drop(end);
        running.await.unwrap();
        waiting.await.unwrap();
    }

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn r46_low_priority_threads_use_only_idle_cores() {
        use thread_priority::{NormalThreadSchedulePolicy, ThreadSchedulePolicy};
        let folder = tempfile::tempdir().unwrap();
        let file = DatabaseFile::at(folder.path().join("test.db")).unwrap();
        // While other programs keep all cores busy, such a thread gets a few thousandths of a core.
        let options = SqliteOptions { time_limit: Duration::from_mins(10), ..SqliteOptions::default() };
        let readers = Readers::start(&OpenFile::new(file), &options, Priority::Low).unwrap();
        let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
        let policy = || thread_priority::thread_schedule_policy().unwrap();
        assert_eq!(readers.read(move |_| Ok(policy())).await.unwrap(), idle);
        assert_ne!(policy(), idle);
    }

    #[tokio::test]
    async fn panic_fails_only_its_own_read_and_keeps_the_thread() {
        let (_folder, readers) = readers(1, 10, LONG);
        let outcome = readers.read(|_| -> Done { panic!("a defect in a read") }).await;
        assert!(message(outcome).contains("panicked"));
        readers.read(|_| Ok(())).await.unwrap();
    }
}
