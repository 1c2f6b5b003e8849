//! The connections of each runtime (ADR 54).

use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use signpost_app::ports::{AccountReads, Store, UnitOfWork};
use signpost_domain::{AccountId, Timestamp};
use signpost_postgres::{PostgresOptions, PostgresStore};
use signpost_test_servers::postgres::PostgresDatabase;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::database::{AT_LAST, PATIENT, account, migrated, open, open_with};

/// Four connections: three for units of work and one shared reader; and one more for visitors.
fn options() -> PostgresOptions {
    PostgresOptions {
        connections: NonZeroUsize::new(4).unwrap(),
        ..PostgresOptions::with_time_limit(PATIENT)
    }
}

/// A worker's runtime.
fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Runs `work` on a worker's runtime, and ends the runtime.
fn on_a_worker<T: Send>(work: impl Future<Output = T> + Send) -> T {
    thread::scope(|scope| scope.spawn(|| runtime().block_on(work)).join().unwrap())
}

/// The number of server processes of the store.
fn processes(database: &PostgresDatabase) -> usize {
    let count = database.query(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'signpost' AND datname = current_database()",
    );
    count.trim().parse().unwrap()
}

/// Waits until the store has this many server processes.
fn until_processes(database: &PostgresDatabase, number: usize) {
    let ends = Instant::now() + AT_LAST;
    loop {
        let now = processes(database);
        if now == number {
            return;
        }
        assert!(Instant::now() < ends, "{now} processes, not {number}");
        thread::yield_now();
    }
}

struct Scene {
    database: PostgresDatabase,
    store: Arc<PostgresStore>,
    account: AccountId,
}

impl Scene {
    /// A store without connections.
    async fn new() -> Self {
        let database = migrated().await;
        let first = open(&database).await;
        let account = account(&first).await;
        drop(first);
        let store = Arc::new(open_with(&database, &options()).await);
        until_processes(&database, 0);
        Self { database, store, account }
    }

    async fn read(&self) {
        self.store.account(self.account).await.unwrap().unwrap();
    }

    /// A unit of work with an open transaction.
    async fn begun(&self) -> Box<dyn UnitOfWork> {
        let mut work = self.store.begin().await.unwrap();
        assert!(work.any_account().await.unwrap());
        work
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_of_a_worker_share_a_connection() {
    let scene = Scene::new().await;
    on_a_worker(async {
        join_all((0..50).map(|_| scene.read())).await;
        assert_eq!(processes(&scene.database), 1);
    });
}

/// D64: when a node stops, its workers end one after the other.
#[tokio::test(flavor = "multi_thread")]
async fn d64_connections_end_with_their_worker_and_others_continue() {
    let scene = Scene::new().await;
    on_a_worker(async {
        scene.read().await;
        let works = [scene.begun().await, scene.begun().await, scene.begun().await];
        drop(works);
    });
    until_processes(&scene.database, 0);
    // The ended worker's capacity is free again.
    scene.read().await;
    let works = [scene.begun().await, scene.begun().await, scene.begun().await];
    drop(works);
}

/// D64: its transaction is rolled back, and its row locks are released.
#[tokio::test(flavor = "multi_thread")]
async fn d64_worker_that_ends_during_a_unit_of_work_leaves_no_locks() {
    let scene = Scene::new().await;
    let mut left = None;
    on_a_worker(async {
        let mut work = scene.begun().await;
        assert!(work.set_suspended(scene.account, None).await.unwrap());
        left = Some(work);
    });
    let mut work = scene.begun().await;
    let suspended = timeout(AT_LAST, work.set_suspended(scene.account, None)).await;
    assert!(suspended.expect("the row is still locked").unwrap());
    work.commit().await.unwrap();
    // The abandoned unit of work can do nothing more.
    left.unwrap().commit().await.unwrap_err();
}

/// After a panic in a request, its transaction is rolled back, and the worker serves the next request.
#[tokio::test(flavor = "multi_thread")]
async fn request_that_panics_in_a_unit_of_work_leaves_no_locks() {
    let scene = Scene::new().await;
    on_a_worker(async {
        let request = async {
            let mut work = scene.begun().await;
            assert!(work.set_suspended(scene.account, Some(Timestamp::EPOCH)).await.unwrap());
            panic!("on purpose");
        };
        assert!(AssertUnwindSafe(request).catch_unwind().await.is_err());
        let mut work = scene.begun().await;
        let suspended = timeout(AT_LAST, work.set_suspended(scene.account, None)).await;
        assert!(suspended.expect("the row is still locked").unwrap());
        work.commit().await.unwrap();
        let account = scene.store.account(scene.account).await.unwrap().unwrap();
        assert!(!account.is_suspended());
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_at_the_connection_limit_borrows_idle_connections_of_another() {
    let scene = Scene::new().await;
    // Visitors run no units of work, so the whole capacity is opened here.
    let all = [scene.begun().await, scene.begun().await, scene.begun().await];
    drop(all);
    let opened = processes(&scene.database);
    on_a_worker(async {
        // One connection is opened within the capacity, and the others are borrowed.
        let works = [scene.begun().await, scene.begun().await, scene.begun().await];
        assert_eq!(processes(&scene.database), opened + 1);
        drop(works);
    });
    until_processes(&scene.database, opened);
}
