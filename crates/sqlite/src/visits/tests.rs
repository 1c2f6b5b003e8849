//! Look-ups of visitors while the disk is slow or after a failure.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use diesel::connection::SimpleConnection as _;
use tokio::task::JoinSet;

use super::*;
use crate::connection::Task;
use crate::database_file::DatabaseFile;
use crate::file_watch::OpenFile;

const LONG: Duration = Duration::from_mins(1);

/// Look-ups on dedicated threads.
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
                let mut session = Session::open(OpenFile::new(file.clone()), Task::Read, LONG).unwrap();
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

    /// Starts a look-up.
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

/// Look-ups that wait while a thread is busy are read in one transaction, in order of arrival.
#[tokio::test]
async fn waiting_look_ups_share_a_transaction() {
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

/// A read that waits for the disk delays no later look-up, whether or not more arrive after that.
#[tokio::test]
async fn slow_look_up_delays_no_other() {
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

/// A panic fails one look-up; the others of the batch are read on a new connection.
#[tokio::test]
async fn panic_fails_only_its_own_look_up() {
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
async fn look_ups_beyond_the_queue_are_rejected_and_abandoned_ones_not_run() {
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
async fn all_of_many_look_ups_are_answered() {
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
