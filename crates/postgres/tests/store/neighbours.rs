//! One account's load while others want to be served (R46).

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use signpost_app::ports::{LinkReads, Store};
use signpost_domain::{
    AccountId, Address, GroupFilter, LinkFilter, LinkId, LinkKind, PageLimit, SearchText, Site,
};
use signpost_port_contracts::samples;
use signpost_postgres::{PostgresOptions, PostgresStore};
use signpost_test_servers::postgres::PostgresDatabase;
use tokio::time::timeout;
use tokio_postgres::NoTls;

use super::database::{
    AT_LAST, PATIENT, account, do_they_wait, insert, migrated, open, open_with, until_they_wait,
};

/// The number of concurrent calls, more than there are connections.
const CROWD: usize = 24;

/// The time limit of a link's read when no slow read is before it.
const SHORTLY: Duration = Duration::from_millis(250);

/// A noisy account with one link, whose reads last until the test ends them, and a quiet account with one link.
struct Neighbours {
    database: PostgresDatabase,
    store: Arc<PostgresStore>,
    noisy: (AccountId, LinkId),
    quiet: (AccountId, LinkId),
}

impl Neighbours {
    async fn new() -> Self {
        let database = migrated().await;
        let first = open(&database).await;
        let mut accounts = Vec::new();
        for slug in ["noisy", "quiet"] {
            let (account, link) = (account(&first).await, samples::redirect(slug));
            insert(&first, account, link.clone()).await;
            accounts.push((account, LinkId::from(link.id)));
        }
        let [noisy, quiet] = [accounts[0], accounts[1]];
        // Reads of the noisy account's links also read a table that the test has locked.
        database.run(&format!(
            "CREATE TABLE gate (); ALTER TABLE links RENAME TO all_links; \
             CREATE FUNCTION passed() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN \
             LOCK TABLE gate IN ACCESS SHARE MODE; RETURN true; END $$; \
             CREATE VIEW links AS SELECT * FROM all_links \
             WHERE CASE WHEN account_id = '{:032x}' THEN passed() ELSE true END",
            u128::from_be_bytes(noisy.0.to_bytes())
        ));
        let options = PostgresOptions {
            connections: NonZeroUsize::new(8).unwrap(),
            ..PostgresOptions::with_time_limit(PATIENT)
        };
        let store = Arc::new(open_with(&database, &options).await);
        Self { database, store, noisy, quiet }
    }

    /// A list of an account's links.
    async fn list(store: &PostgresStore, account: AccountId, filter: LinkFilter) {
        let limit = PageLimit::new(25).unwrap();
        let page = store.links(account, LinkKind::Redirect, &filter, limit, None).await.unwrap();
        assert_eq!(page.items.len(), 1);
    }

    async fn visit(store: &PostgresStore, slug: &str) {
        let address = Address { site: Site::System, slug: Some(samples::slug(slug)) };
        assert!(store.published_link(&address).await.unwrap().is_some());
    }

    /// Runs `call` for the noisy account's clients until `at_work` of them are served, and checks that `meanwhile` ends.
    async fn meet<C: Future<Output = ()> + Send + 'static>(
        &self,
        at_work: usize,
        call: impl Fn(Arc<PostgresStore>, AccountId, LinkId) -> C,
        meanwhile: impl Future<Output = ()>,
    ) {
        let (mut client, connection) = tokio_postgres::connect(&self.database.url(), NoTls).await.unwrap();
        tokio::spawn(connection);
        let gate = client.transaction().await.unwrap();
        gate.batch_execute("LOCK TABLE gate IN ACCESS EXCLUSIVE MODE").await.unwrap();
        let (account, link) = self.noisy;
        let served = Arc::new(AtomicUsize::new(0));
        let crowd = (0..CROWD).map(|_| {
            let (call, served) = (call(Arc::clone(&self.store), account, link), Arc::clone(&served));
            async move {
                call.await;
                served.fetch_add(1, Ordering::Relaxed);
            }
        });
        // One task, so that all of them choose their connection before the first one waits.
        let crowd = tokio::spawn(join_all(crowd.collect::<Vec<_>>()));
        until_they_wait(&self.database, at_work).await;
        timeout(AT_LAST, meanwhile).await.expect("the others had to wait");
        assert_eq!(served.load(Ordering::Relaxed), 0);
        until_they_wait(&self.database, at_work).await;
        gate.rollback().await.unwrap();
        crowd.await.unwrap();
        assert_eq!(served.load(Ordering::Relaxed), CROWD);
    }

    /// All kinds of calls of the quiet account's clients and visitors.
    async fn are_served(&self) {
        let (account, link) = self.quiet;
        Self::visit(&self.store, "quiet").await;
        // A read right behind a slow one waits with it.
        while timeout(SHORTLY, self.store.link(account, link)).await.is_err() {}
        self.store.link(account, link).await.unwrap().unwrap();
        Self::list(&self.store, account, LinkFilter::default()).await;
        let mut work = self.store.begin().await.unwrap();
        work.lock_link(account, link).await.unwrap().unwrap();
        drop(work);
    }
}

fn search() -> LinkFilter {
    LinkFilter { search: Some(SearchText::parse("example").unwrap()), ..LinkFilter::default() }
}

/// R46: long searches of one account take at most a quarter of the connections. Visitors, reads and writes are served at
/// once.
#[tokio::test(flavor = "multi_thread")]
async fn r46_searches_of_one_account_block_no_other_call() {
    let neighbours = Neighbours::new().await;
    let several = LinkFilter { site: Some(Site::System), is_active: Some(true), ..LinkFilter::default() };
    let groups = LinkFilter { group: GroupFilter::Ungrouped, is_active: Some(true), ..LinkFilter::default() };
    for filter in [search(), several, groups] {
        let call = |store: Arc<PostgresStore>, account, _| {
            let filter = filter.clone();
            async move { Neighbours::list(&store, account, filter).await }
        };
        neighbours.meet(2, call, neighbours.are_served()).await;
    }
}

/// R46: slow reads wait for each other on their shared connection. Visitors and later calls are served.
#[tokio::test(flavor = "multi_thread")]
async fn r46_slow_reads_block_no_other_call() {
    let neighbours = Neighbours::new().await;
    let call = |store: Arc<PostgresStore>, account, link| async move {
        store.link(account, link).await.unwrap().unwrap();
    };
    neighbours.meet(1, call, neighbours.are_served()).await;
}

/// Two look-ups hang, and one of their visitors leaves. Returns whether the server cancels that look-up.
async fn is_cancelled_with_its_visitor(neighbours: &Neighbours) -> bool {
    let (mut client, connection) = tokio_postgres::connect(&neighbours.database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let gate = client.transaction().await.unwrap();
    gate.batch_execute("LOCK TABLE gate IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let visit = |slug| {
        let store = Arc::clone(&neighbours.store);
        tokio::spawn(async move { Neighbours::visit(&store, slug).await })
    };
    let hanging = [visit("noisy"), visit("noisy")];
    until_they_wait(&neighbours.database, 2).await;
    timeout(AT_LAST, visit("quiet")).await.expect("it waits for the others").unwrap();
    assert!(hanging.iter().all(|visit| !visit.is_finished()));
    let [stays, leaves] = hanging;
    leaves.abort();
    leaves.await.unwrap_err();
    let is_cancelled = do_they_wait(&neighbours.database, 1).await;
    for _ in 0..4 {
        timeout(AT_LAST, visit("quiet")).await.expect("its turn is lost").unwrap();
    }
    gate.rollback().await.unwrap();
    stays.await.unwrap();
    is_cancelled
}

/// ADR 38: a hanging look-up passes its turn on, and so does one whose visitor leaves.
#[tokio::test(flavor = "multi_thread")]
async fn r46_hanging_look_ups_block_no_other_visitor() {
    let neighbours = Neighbours::new().await;
    // The store gives up a cancel request that a busy server does not serve within two seconds.
    let is_cancelled =
        is_cancelled_with_its_visitor(&neighbours).await || is_cancelled_with_its_visitor(&neighbours).await;
    assert!(is_cancelled, "the look-up of a visitor who has left still waits");
}
