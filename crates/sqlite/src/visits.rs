//! Look-ups for visitors. Those that wait at the same moment share a turn of a reading thread (ADR 44).
//!
//! A look-up takes a few microseconds, and waking a thread for it takes as long. So a thread that is awake for one takes all
//! that wait, in one transaction, and wakes those who asked once it has them all. Nobody waits for a batch to fill.

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
use crate::readers::Job;
use crate::session::Session;

/// How many look-ups share a transaction, at most. It bounds how long the first of them waits for the last.
const MOST_LOOK_UPS: usize = 32;

/// How long a batch may take before another thread takes the next one too. So a read that the disk keeps waiting holds up
/// its own batch, and not the others.
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
    /// How many threads serve batches, or have been asked to.
    turns: usize,
    /// When one of them last took a batch, or was asked to.
    progress: Instant,
}

/// A caller who waits.
struct Visit {
    host: String,
    slug: String,
    answer_to: AnswerTo<Found>,
}

impl Visits {
    /// Look-ups on the threads that take from `queue`, on half of them at most.
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

    /// The link at an address, which is written as the columns write it.
    pub(crate) async fn published_link(&self, host: String, slug: String) -> Result<Found, StoreError> {
        let Self(shared) = self;
        let ends = end_of_call(shared.time_limit);
        let (answer_to, mut answer) = oneshot::channel();
        shared.enter(Visit { host, slug, answer_to })?;
        let outcome = match timeout(SLOW, &mut answer).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => return Err(StoreError::unavailable("the look-up was given up")),
            Err(_) => {
                shared.hurry()?;
                answer_by(ends, answer).await?
            }
        };
        outcome.map_err(Failure::into_store_error)
    }
}

impl Shared {
    /// Puts a look-up among those that wait, and asks for a thread unless one comes to it soon.
    fn enter(self: &Arc<Self>, visit: Visit) -> Result<(), StoreError> {
        let mut waiting = self.lock();
        if waiting.visits.len() >= self.most_waiting {
            return Err(too_many());
        }
        waiting.visits.push_back(visit);
        self.see_to(waiting)
    }

    /// Asks for another thread if those that serve batches are slow.
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
                // Nobody would come to them. Dropping what they wait for tells them so.
                waiting.visits.clear();
            }
            too_many()
        })
    }

    /// Serves batches until nobody waits, or until somebody waits for the thread itself.
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
                // Behind the others. If there is no room, those who wait have been told.
                let _ = self.ask_for_a_thread();
                return;
            }
        }
    }

    /// Looks up a batch, and tells those who asked.
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
                // A panic is one look-up's, a connection that cannot be opened is that of the next in line, and a transaction
                // that cannot be ended is nobody's: all of it has been read by then.
                let failed = current.or_else(|| batch.pop_front().map(|visit| visit.answer_to));
                found.extend(failed.map(|answer_to| (answer_to, Err(failure))));
                session.roll_back();
            }
        }
        for (answer_to, outcome) in found {
            // Whoever asked may have gone.
            let _ = answer_to.send(outcome);
        }
    }

    /// Look-ups run after the lock was given back, so no panic leaves this half changed.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn too_many() -> StoreError {
    StoreError::unavailable("too many reads wait for the store")
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread::JoinHandle;

    use diesel::connection::SimpleConnection as _;
    use tokio::task::JoinSet;

    use super::*;
    use crate::connection::Task;
    use crate::database_file::DatabaseFile;

    const LONG: Duration = Duration::from_mins(1);

    /// Look-ups on threads that do nothing else.
    struct Scene {
        visits: Visits,
        queue: Arc<JobQueue<Job>>,
        threads: Vec<JoinHandle<()>>,
        _folder: tempfile::TempDir,
    }

    impl Scene {
        fn new(
            threads: usize,
            most_waiting: usize,
            find: impl Fn(&mut SqliteConnection, &str) -> Result<Found, Failure> + Send + Sync + 'static,
        ) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let file = DatabaseFile::at(folder.path().join("test.db")).unwrap();
            crate::migrate(&file, LONG).unwrap();
            let queue = Arc::new(JobQueue::<Job>::new(NonZeroUsize::new(100).unwrap()));
            let find =
                Box::new(move |connection: &mut SqliteConnection, _, slug: String| find(connection, &slug));
            let visits = Visits::finding(Arc::clone(&queue), threads, most_waiting, LONG, find);
            let threads = (0..threads)
                .map(|_| {
                    let mut session = Session::open(file.clone(), Task::Read, LONG).unwrap();
                    let queue = Arc::clone(&queue);
                    std::thread::spawn(move || {
                        while let Some(job) = queue.take() {
                            job(&mut session);
                        }
                    })
                })
                .collect();
            Self { visits, queue, threads, _folder: folder }
        }

        /// A look-up, which is under way as soon as this returns.
        fn look_up(&self, slug: &str) -> oneshot::Receiver<Result<Found, Failure>> {
            let (answer_to, answer) = oneshot::channel();
            self.visits.0.enter(Visit { host: String::new(), slug: slug.to_owned(), answer_to }).unwrap();
            answer
        }
    }

    impl Drop for Scene {
        fn drop(&mut self) {
            self.queue.close();
            for thread in self.threads.drain(..) {
                thread.join().unwrap();
            }
        }
    }

    #[derive(QueryableByName)]
    struct Version {
        #[diesel(sql_type = diesel::sql_types::Integer)]
        user_version: i32,
        #[diesel(sql_type = diesel::sql_types::Text)]
        file: String,
    }

    /// What waits while a thread is busy is read in one transaction, in the order in which it came.
    #[tokio::test]
    async fn look_ups_that_wait_share_a_transaction() {
        let (begun_to, begun) = mpsc::channel();
        let (go_on, gone_on) = mpsc::channel::<()>();
        let gone_on = Mutex::new(gone_on);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let scene = {
            let seen = Arc::clone(&seen);
            Scene::new(1, 100, move |connection, slug| {
                let version = "SELECT user_version, file FROM pragma_user_version, pragma_database_list WHERE name = 'main'";
                let Version { user_version, file } = diesel::sql_query(version).get_result(connection)?;
                seen.lock().unwrap().push((slug.to_owned(), user_version));
                // Later transactions see this.
                let next = format!("PRAGMA user_version = {}", user_version + 1);
                SqliteConnection::establish(&file).unwrap().batch_execute(&next).unwrap();
                if slug == "first" {
                    begun_to.send(()).unwrap();
                    gone_on.lock().unwrap().recv().unwrap();
                }
                Ok(None)
            })
        };
        let first = scene.look_up("first");
        begun.recv().unwrap();
        let others: Vec<_> = (0..MOST_LOOK_UPS).map(|number| scene.look_up(&number.to_string())).collect();
        go_on.send(()).unwrap();
        for answer in std::iter::once(first).chain(others) {
            assert_eq!(answer.await.unwrap().unwrap(), None);
        }
        let batch = (0..MOST_LOOK_UPS).map(|number| (number.to_string(), 1));
        let expected: Vec<(String, i32)> = std::iter::once(("first".to_owned(), 0)).chain(batch).collect();
        assert_eq!(*seen.lock().unwrap(), expected);
    }

    /// A read that the disk keeps waiting holds up nobody who comes later, whether or not more come after that.
    #[tokio::test]
    async fn a_slow_look_up_keeps_no_other_waiting() {
        let (begun_to, begun) = mpsc::channel();
        let (go_on, gone_on) = mpsc::channel::<()>();
        let gone_on = Mutex::new(gone_on);
        let scene = Scene::new(4, 100, move |_, slug| {
            if slug == "slow" {
                begun_to.send(()).unwrap();
                let _ = gone_on.lock().unwrap().recv();
            }
            Ok(None)
        });
        let slow = scene.look_up("slow");
        begun.recv().unwrap();
        let found = scene.visits.published_link(String::new(), "other".to_owned()).await;
        assert_eq!(found.unwrap(), None);
        drop(go_on);
        assert_eq!(slow.await.unwrap().unwrap(), None);
    }

    /// A defect costs one answer: the others of the batch are read on a new connection.
    #[tokio::test]
    async fn a_panic_fails_only_its_own_look_up() {
        let (begun_to, begun) = mpsc::channel();
        let (go_on, gone_on) = mpsc::channel::<()>();
        let gone_on = Mutex::new(gone_on);
        let scene = Scene::new(1, 100, move |_, slug| {
            match slug {
                "first" => {
                    begun_to.send(()).unwrap();
                    gone_on.lock().unwrap().recv().unwrap();
                }
                "2" => panic!("a defect in a look-up"),
                "4" => return Err(Failure::Other("a row".to_owned())),
                _ => {}
            }
            Ok(None)
        });
        let first = scene.look_up("first");
        begun.recv().unwrap();
        let others: Vec<_> = (1..=5).map(|number| scene.look_up(&number.to_string())).collect();
        go_on.send(()).unwrap();
        assert!(first.await.unwrap().is_ok());
        let mut outcomes = Vec::new();
        for answer in others {
            outcomes.push(answer.await.unwrap());
        }
        assert!(
            matches!(
                &outcomes[..],
                [Ok(None), Err(Failure::Panicked), Ok(None), Err(Failure::Other(_)), Ok(None)]
            ),
            "{outcomes:?}"
        );
    }

    #[tokio::test]
    async fn more_look_ups_than_may_wait_are_refused_and_those_given_up_are_not_run() {
        let (begun_to, begun) = mpsc::channel();
        let (go_on, gone_on) = mpsc::channel::<()>();
        let gone_on = Mutex::new(gone_on);
        let run = Arc::new(AtomicUsize::new(0));
        let scene = {
            let run = Arc::clone(&run);
            Scene::new(1, 2, move |_, slug| {
                run.fetch_add(1, Ordering::SeqCst);
                if slug == "first" {
                    begun_to.send(()).unwrap();
                    gone_on.lock().unwrap().recv().unwrap();
                }
                Ok(None)
            })
        };
        let first = scene.look_up("first");
        begun.recv().unwrap();
        let second = scene.look_up("second");
        drop(scene.look_up("given up"));
        let refused = scene.visits.published_link(String::new(), "one too many".to_owned()).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))));
        go_on.send(()).unwrap();
        assert!(first.await.unwrap().is_ok() && second.await.unwrap().is_ok());
        assert_eq!(run.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn every_one_of_a_crowd_is_answered() {
        let scene = Scene::new(4, 10_000, |_, slug| Err(Failure::Other(slug.to_owned())));
        let mut crowd = JoinSet::new();
        for number in 0..2_000 {
            let visits = scene.visits.clone();
            crowd.spawn(async move {
                let slug = number.to_string();
                let outcome = visits.published_link(String::new(), slug.clone()).await;
                assert!(matches!(outcome, Err(StoreError::Unavailable(cause)) if cause.to_string() == slug));
            });
        }
        assert_eq!(crowd.join_all().await.len(), 2_000);
        assert_eq!(scene.visits.0.lock().turns, 0);
    }
}
