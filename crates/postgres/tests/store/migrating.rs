//! Running migrations, by one program or several.

use std::path::Path;
use std::time::Instant;

use signpost_postgres::{OpenError, PostgresOptions, PostgresStore, migrate, pending_migrations};

use tokio_postgres::NoTls;

use super::database::{AT_LAST, PATIENT, empty, migrated};

fn options() -> PostgresOptions {
    PostgresOptions::with_time_limit(PATIENT)
}

#[tokio::test]
async fn pending_migrations_run_once_and_in_order() {
    let database = empty();
    let pending = pending_migrations(&database.url()).await.unwrap();
    assert_eq!(pending.first().map(String::as_str), Some("0001_accounts"));
    assert_eq!(migrate(&database.url()).await.unwrap(), pending);
    assert!(pending_migrations(&database.url()).await.unwrap().is_empty());
    assert!(migrate(&database.url()).await.unwrap().is_empty());
}

/// One of them runs each migration, and none fails.
#[tokio::test(flavor = "multi_thread")]
async fn any_number_of_programs_may_migrate_at_once() {
    for _ in 0..3 {
        let database = empty();
        let pending = pending_migrations(&database.url()).await.unwrap();
        let programs: Vec<_> = (0..6)
            .map(|_| {
                let url = database.url();
                tokio::spawn(async move { migrate(&url).await.unwrap() })
            })
            .collect();
        let mut ran = Vec::new();
        for program in programs {
            ran.extend(program.await.unwrap());
        }
        ran.sort();
        assert_eq!(ran, pending);
        PostgresStore::connect(&database.url(), &options()).await.map(drop).unwrap();
    }
}

#[tokio::test]
async fn store_checks_migrations_and_runs_none() {
    let database = empty();
    let refused = PostgresStore::connect(&database.url(), &options()).await.map(drop).unwrap_err();
    let OpenError::Pending { names } = &refused else { panic!("{refused}") };
    assert_eq!(names, &pending_migrations(&database.url()).await.unwrap());
    assert!(refused.to_string().contains("signpost migrate"), "{refused}");
    assert_eq!(database.query("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").trim(), "0");
}

#[tokio::test]
async fn database_of_a_newer_version_is_rejected() {
    let database = migrated().await;
    database.run("INSERT INTO __diesel_schema_migrations (version) VALUES ('9999')");
    for refused in [
        PostgresStore::connect(&database.url(), &options()).await.map(drop).unwrap_err(),
        migrate(&database.url()).await.map(drop).unwrap_err(),
    ] {
        assert!(matches!(&refused, OpenError::Newer { versions } if versions == &["9999"]), "{refused}");
    }
}

/// It was rolled back, earlier ones were kept, and it can be run again after the obstacle is removed.
#[tokio::test]
async fn failed_migration_can_be_run_again() {
    let database = empty();
    database.run("CREATE TABLE links (x integer)");
    let refused = migrate(&database.url()).await.unwrap_err();
    assert!(matches!(refused, OpenError::Migration(_)), "{refused}");
    assert!(refused.to_string().contains("links"), "{refused}");
    let pending = pending_migrations(&database.url()).await.unwrap();
    assert_eq!(pending.first().map(String::as_str), Some("0004_links"));
    database.run("DROP TABLE links");
    assert_eq!(migrate(&database.url()).await.unwrap(), pending);
}

/// All requests queue behind a migration that waits for a table lock, so it yields to them after a while (R38).
#[tokio::test(flavor = "multi_thread")]
async fn r38_migration_that_waits_for_a_table_yields_and_retries() {
    let database = empty();
    let (mut holder, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    // Every migration changes the table that records them.
    holder
        .batch_execute(
            "CREATE TABLE __diesel_schema_migrations (version varchar(50) PRIMARY KEY, \
             run_on timestamp NOT NULL DEFAULT current_timestamp)",
        )
        .await
        .unwrap();
    let lock = holder.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE __diesel_schema_migrations IN SHARE MODE").await.unwrap();
    let url = database.url();
    let program = tokio::spawn(async move { migrate(&url).await });
    // It waits, yields, and waits again.
    for waits in ["1", "0", "1"] {
        let ends = Instant::now() + AT_LAST;
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
            AND datname = current_database()";
        while database.query(waiting).trim() != waits {
            assert!(Instant::now() < ends, "not {waits}");
            tokio::task::yield_now().await;
        }
    }
    lock.rollback().await.unwrap();
    assert!(!program.await.unwrap().unwrap().is_empty());
    assert!(pending_migrations(&database.url()).await.unwrap().is_empty());
}

/// The existing tables on which this transaction blocks others.
const HELD: &str = "SELECT count(DISTINCT c.oid) FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation \
    WHERE l.pid = pg_backend_pid() AND c.relkind = 'r' AND c.relname = ANY ($1) \
    AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')";

/// A migration and a table that the one before it made: the nodes that use it start after both.
const NOT_IN_USE: (&str, &str) = ("0047_tags_of_links", "tags");

/// A migration that holds one table and waits for another may meet a node with the opposite order (R38). The migrations that
/// made the first tables are older than any node.
#[tokio::test]
async fn r38_each_migration_locks_at_most_one_table_in_use() {
    let database = empty();
    let names = pending_migrations(&database.url()).await.unwrap();
    let (mut client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    for name in names {
        let tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'";
        let tables = client.query(tables, &[]).await.unwrap();
        let tables = tables.iter().map(|row| row.get(0));
        let tables: Vec<String> =
            tables.filter(|table: &String| NOT_IN_USE != (name.as_str(), table.as_str())).collect();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/postgres").join(&name);
        let statements = std::fs::read_to_string(file.join("up.sql")).unwrap();
        let migration = client.transaction().await.unwrap();
        migration.batch_execute(&statements).await.unwrap();
        let held: i64 = migration.query_one(HELD, &[&tables]).await.unwrap().get(0);
        assert!(held <= 1 || name.as_str() <= "0004_links", "{name} holds {held} tables");
        migration.commit().await.unwrap();
    }
}
