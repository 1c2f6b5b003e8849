//! What a migration reports about a lock that it cannot get, and about other failures.

use std::time::Duration;

use signpost_postgres::{OpenError, migrate_within, pending_migrations};
use signpost_test_servers::postgres::PostgresDatabase;
use tokio_postgres::{Client, NoTls};

use super::database::empty;

const NONE: Duration = Duration::ZERO;

/// A database without recorded migrations, and a connection to it.
async fn remembering_none() -> (PostgresDatabase, Client) {
    let database = empty();
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let table = "CREATE TABLE __diesel_schema_migrations (version varchar(50) PRIMARY KEY, \
        run_on timestamp NOT NULL DEFAULT current_timestamp)";
    client.batch_execute(table).await.unwrap();
    (database, client)
}

/// Makes the last statement of each migration run `statements` and count its attempts.
async fn before_each_is_remembered(client: &Client, statements: &str) {
    let trigger = format!(
        "CREATE SEQUENCE attempts; \
         CREATE FUNCTION hinder() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN PERFORM nextval('attempts'); {statements} END $$; \
         CREATE TRIGGER hindrance BEFORE INSERT ON __diesel_schema_migrations \
         FOR EACH ROW EXECUTE FUNCTION hinder()"
    );
    client.batch_execute(&trigger).await.unwrap();
}

#[tokio::test]
async fn r38_unavailable_lock_is_reported_with_advice() {
    let (database, mut holder) = remembering_none().await;
    let lock = holder.transaction().await.unwrap();
    lock.batch_execute("LOCK TABLE __diesel_schema_migrations IN SHARE MODE").await.unwrap();
    let refused = migrate_within(&database.url(), NONE).await.unwrap_err();
    let OpenError::InUse { name, .. } = &refused else { panic!("{refused}") };
    assert_eq!(name, "0001_accounts");
    let words = refused.to_string();
    for word in ["0001_accounts", "others hold", "(55P03)", "pg_stat_activity", "`signpost migrate` again"] {
        assert!(words.contains(word), "{word} is not in: {words}");
    }
    lock.rollback().await.unwrap();
    let pending = pending_migrations(&database.url()).await.unwrap();
    assert_eq!(migrate_within(&database.url(), NONE).await.unwrap(), pending);
}

/// The first attempt is as slow as a lock timeout.
#[tokio::test]
async fn r38_slowly_failing_statement_is_not_taken_for_a_lock() {
    let (database, client) = remembering_none().await;
    let slow =
        "IF currval('attempts') = 1 THEN PERFORM pg_sleep(2.2); END IF; RAISE EXCEPTION 'out of paper';";
    before_each_is_remembered(&client, slow).await;
    let refused = migrate_within(&database.url(), Duration::from_secs(4)).await.unwrap_err();
    assert!(matches!(refused, OpenError::Migration(_)), "{refused}");
    let words = refused.to_string();
    assert!(words.contains("0001_accounts: out of paper (P0001)"), "{words}");
    // An attempt that met a lock would not count.
    assert_eq!(database.query("SELECT last_value FROM attempts").trim(), "3");
}

/// However quickly they fail.
#[tokio::test]
async fn r38_error_codes_distinguish_locks_from_other_failures() {
    for (code, is_of_a_lock, attempts) in
        [("55P03", true, "1"), ("40P01", true, "1"), ("57014", false, "1"), ("22012", false, "3")]
    {
        let (database, client) = remembering_none().await;
        let raise = format!("RAISE EXCEPTION 'no' USING ERRCODE = '{code}';");
        before_each_is_remembered(&client, &raise).await;
        let refused = migrate_within(&database.url(), NONE).await.unwrap_err();
        assert_eq!(matches!(refused, OpenError::InUse { .. }), is_of_a_lock, "{refused}");
        assert_eq!(matches!(refused, OpenError::Migration(_)), !is_of_a_lock, "{refused}");
        assert!(refused.to_string().contains(code), "{refused}");
        assert_eq!(database.query("SELECT last_value FROM attempts").trim(), attempts, "{code}");
    }
}

/// The database's time limit for requests does not apply to a migration, which may build an index.
#[tokio::test]
async fn migration_has_no_time_limit() {
    let (database, client) = remembering_none().await;
    let name = database.name();
    client.batch_execute(&format!("ALTER DATABASE {name} SET statement_timeout = '1s'")).await.unwrap();
    let slow = "IF NEW.version = '0001' THEN PERFORM pg_sleep(1.5); END IF; RETURN NEW;";
    before_each_is_remembered(&client, slow).await;
    let pending = pending_migrations(&database.url()).await.unwrap();
    assert_eq!(migrate_within(&database.url(), NONE).await.unwrap(), pending);
    let limit = "SELECT setting FROM pg_settings WHERE name = 'statement_timeout'";
    assert_eq!(database.query(limit).trim(), "1000");
    let versions: Vec<String> = database
        .query("SELECT version FROM __diesel_schema_migrations ORDER BY version")
        .lines()
        .map(str::to_owned)
        .collect();
    let expected: Vec<&str> = pending.iter().filter_map(|name| name.split('_').next()).collect();
    assert_eq!(versions, expected);
}
