//! The change log: written in the transaction of the change, and read by time.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::time::Duration;

use signpost_app::ports::{Affected, ChangeLog, LinkReads, ReadChanges, Store, StoreError, VisibleChange};
use signpost_domain::{AccountId, Address, Redirect, Site};
use signpost_port_contracts::samples;
use signpost_postgres::{PostgresOptions, PostgresStore};
use tokio_postgres::NoTls;

use super::database::{
    PATIENT, PLENTY, account, active_domain, insert, migrated, open, open_with, patiently, unavailable,
};

const MANY: u32 = 1_000;

fn change(account: AccountId, slug: &str) -> VisibleChange {
    let address = Address { site: Site::System, slug: Some(samples::slug(slug)) };
    VisibleChange { account, affected: Affected::Addresses(BTreeSet::from([address])) }
}

async fn read(store: &PostgresStore, read: ReadChanges) -> (Vec<VisibleChange>, ReadChanges) {
    let ReadChanges::These { position, .. } = read else { panic!("{read:?}") };
    let next = patiently(async || store.changes_since(position, MANY).await).await;
    let ReadChanges::These { changes, .. } = &next else { panic!("{next:?}") };
    (changes.iter().map(|logged| logged.change.clone()).collect(), next)
}

/// An entry carries its insertion time. A reader that passes between insertion and commit finds it later.
#[tokio::test(flavor = "multi_thread")]
async fn entry_that_commits_late_is_found() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let (mut client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let begun = ReadChanges::These { changes: vec![], position: store.end_of_changes().await.unwrap() };
    let late = client.transaction().await.unwrap();
    let row = format!(
        "INSERT INTO changes (account_id, hosts, slugs) SELECT id, '{{\"\"}}', '{{late}}' FROM accounts WHERE id = \
         '{:032x}'",
        u128::from_be_bytes(account.to_bytes())
    );
    assert_eq!(late.execute(&row, &[]).await.unwrap(), 1);
    let mut last = begun;
    for slug in ["a", "b", "c"] {
        insert(&store, account, samples::redirect(slug)).await;
        let (changes, next) = read(&store, last).await;
        assert!(changes.contains(&change(account, slug)) && !changes.contains(&change(account, "late")));
        last = next;
    }
    late.commit().await.unwrap();
    let (changes, _) = read(&store, last).await;
    assert!(changes.contains(&change(account, "late")), "{changes:?}");
}

/// An abandoned commit may take effect after all time limits. Its transaction is still open when the reader passes it, and
/// its entry is found after the commit.
#[tokio::test(flavor = "multi_thread")]
async fn d58_entry_of_an_abandoned_commit_is_found_however_late() {
    let database = migrated().await;
    let limit = Duration::from_secs(1);
    let store = open_with(&database, &PostgresOptions::with_time_limit(limit)).await;
    let account = account(&open(&database).await).await;
    let (mut client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let late = client.transaction().await.unwrap();
    let row = format!(
        "INSERT INTO changes (account_id, hosts, slugs) SELECT id, '{{\"\"}}', '{{late}}' FROM accounts WHERE id = \
         '{:032x}'",
        u128::from_be_bytes(account.to_bytes())
    );
    assert_eq!(late.execute(&row, &[]).await.unwrap(), 1);
    // One reader was there before, the other starts now.
    let begun = async || {
        let position = patiently(async || store.end_of_changes().await).await;
        ReadChanges::These { changes: vec![], position }
    };
    let mut readers = [begun().await, begun().await];
    let is_long_ago = format!(
        "SELECT clock_timestamp() - xact_start > interval '{} s' FROM pg_stat_activity \
         WHERE state = 'idle in transaction' AND datname = current_database()",
        3 * limit.as_secs()
    );
    while database.query(&is_long_ago).trim() != "t" {
        let (changes, next) = read(&store, readers[0].clone()).await;
        assert_eq!(changes, []);
        readers[0] = next;
    }
    readers[1] = begun().await;
    late.commit().await.unwrap();
    for reader in readers {
        let (changes, next) = read(&store, reader).await;
        assert_eq!(changes, [change(account, "late")]);
        // Transactions that have ended are read past.
        let (_, next) = read(&store, next).await;
        let ReadChanges::These { position, .. } = next else { panic!("{next:?}") };
        let since = database
            .query("SELECT (extract(epoch FROM max(at)) * 1000000)::bigint - 946684800000000 FROM changes");
        assert!(position.to_store() > since.trim().parse().unwrap(), "{position:?}");
    }
}

/// A server whose clock was set back returns entries again and misses none.
#[tokio::test(flavor = "multi_thread")]
async fn position_in_the_future_misses_no_entry() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let position = store.end_of_changes().await.unwrap();
    let hour = 3_600_000_000;
    let future = signpost_app::ports::ChangePosition::from_store(position.to_store() + hour);
    insert(&store, account, samples::redirect("a")).await;
    let (changes, _) = read(&store, ReadChanges::These { changes: vec![], position: future }).await;
    assert_eq!(changes, [change(account, "a")]);
}

/// On new and old connections, the entry belongs to the transaction of the change: it is pipelined with the COMMIT and must
/// arrive first.
#[tokio::test(flavor = "multi_thread")]
async fn entry_is_part_of_its_transaction() {
    let database = migrated().await;
    let mut number = 0;
    for _ in 0..5 {
        let one =
            PostgresOptions { connections: NonZeroUsize::MIN, ..PostgresOptions::with_time_limit(PATIENT) };
        let store = open_with(&database, &one).await;
        let account = account(&store).await;
        for _ in 0..20 {
            insert(&store, account, samples::redirect(&format!("link-{number}"))).await;
            number += 1;
        }
    }
    let together = database.query(
        "SELECT count(*) FROM changes AS c JOIN links AS l ON c.slugs = ARRAY[l.slug] AND c.xmin = l.xmin",
    );
    assert_eq!(together.trim(), number.to_string());
}

/// A change that cannot be logged is rolled back, and the connection stays usable.
#[tokio::test(flavor = "multi_thread")]
async fn change_that_cannot_be_logged_is_rolled_back() {
    let database = migrated().await;
    let one = PostgresOptions { connections: NonZeroUsize::MIN, ..PostgresOptions::with_time_limit(PATIENT) };
    let store = open_with(&database, &one).await;
    let account = account(&store).await;
    database.run("ALTER TABLE changes ADD CONSTRAINT none CHECK (slugs <> '{unlogged}')");
    let link = samples::redirect("unlogged");
    let mut work = store.begin().await.unwrap();
    work.insert_links(account, &[link.clone().into()], PLENTY).await.unwrap();
    let words = unavailable(work.commit().await);
    assert!(words.contains("none"), "{words}");
    assert_eq!(store.link(account, link.id.into()).await.unwrap(), None);
    insert(&store, account, Redirect { placement: samples::on_system("logged"), ..link }).await;
    let [links, changes] =
        ["links", "changes"].map(|table| database.query(&format!("SELECT count(*) FROM {table}")));
    assert_eq!((links.trim(), changes.trim()), ("1", "1"));
}

/// During an upgrade, a node of an older version takes a domain's entry for one of the account, which includes the domain's
/// links: it reads only the columns that it knows.
#[tokio::test(flavor = "multi_thread")]
async fn older_nodes_read_a_domains_entry_as_one_of_the_account() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let position = store.end_of_changes().await.unwrap();
    let domain = active_domain(&store, account, "go.example.com").await;
    let mut work = store.begin().await.unwrap();
    assert!(work.delete_custom_domain(account, domain.id).await.unwrap());
    work.commit().await.unwrap();
    let (changes, _) = read(&store, ReadChanges::These { changes: vec![], position }).await;
    assert_eq!(changes, [VisibleChange { account, affected: Affected::Domain(domain.hostname) }]);
    assert_eq!(database.query("SELECT hosts IS NULL AND slugs IS NULL FROM changes").trim(), "t");
}

#[tokio::test(flavor = "multi_thread")]
async fn corrupt_entry_is_reported() {
    let database = migrated().await;
    let store = open(&database).await;
    let position = store.end_of_changes().await.unwrap();
    database.run(
        "INSERT INTO changes (account_id, hosts, slugs) VALUES (gen_random_uuid(), '{\"no host\"}', '{a}')",
    );
    let read = store.changes_since(position, MANY).await;
    assert!(matches!(read, Err(StoreError::Corrupt { table: "changes", column: "host", .. })), "{read:?}");
    database.run("UPDATE changes SET hosts = NULL, slugs = NULL, hostname = 'no host'");
    let read = store.changes_since(position, MANY).await;
    assert!(
        matches!(read, Err(StoreError::Corrupt { table: "changes", column: "hostname", .. })),
        "{read:?}"
    );
}

/// Deletion uses the server's clock.
#[tokio::test(flavor = "multi_thread")]
async fn oldest_entries_are_deleted_first() {
    let database = migrated().await;
    let store = open(&database).await;
    database.run(
        "INSERT INTO changes (at, account_id) SELECT now() - n * interval '1 hour', gen_random_uuid() \
         FROM generate_series(1, 100) AS n",
    );
    let sixty = Duration::from_hours(60);
    assert_eq!(store.forget_changes(sixty, 10).await.unwrap(), 10);
    // The test itself takes less than an hour.
    let oldest = "SELECT floor(extract(epoch FROM now() - min(at)) / 3600) FROM changes";
    assert_eq!(database.query(oldest).trim(), "90");
    assert_eq!(store.forget_changes(sixty, MANY).await.unwrap(), 31);
    assert_eq!(database.query("SELECT count(*) FROM changes").trim(), "59");
}
