//! Running migrations.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use diesel::migration::CREATE_MIGRATIONS_TABLE;
use tokio_postgres::Client;

use crate::connecting::connect_client;
use crate::embedded_migrations::{EmbeddedMigration, embedded};
use crate::open_error::OpenError;
use crate::server_address::ServerAddress;
use crate::server_error::ServerError;
use crate::target_host_migration;

/// How often a migration is tried. It fails harmlessly if two programs run it at once; the next look finds it done.
const ATTEMPTS: u32 = 3;

/// The time limit for reaching the server and reading which migrations have run.
const LOOKING_LIMIT: Duration = Duration::from_secs(10);

/// How long a statement waits for a table lock. Every request on that table queues behind it for as long (R38).
const LOCK_LIMIT: Duration = Duration::from_secs(2);

/// The pause between attempts, in which requests proceed.
const LOCK_PAUSE: Duration = Duration::from_secs(1);

/// How long it keeps trying before it gives up and an operator must find the lock holder.
const LOCK_PATIENCE: Duration = Duration::from_mins(2);

/// Runs the pending migrations of the database at `url`, and returns the names of those that ran, in order.
///
/// The statements of a migration are one transaction, together with the row that records it. Any number of programs may run this at once:
/// the server rolls the second one back, which then finds the migration done. While nodes serve requests, a migration that
/// waits for a table lock yields every two seconds (R38).
///
/// [`OpenError::Newer`] if the database has a migration that this program does not know; then nothing changes.
/// [`OpenError::Migration`] if a migration fails. [`OpenError::InUse`] if the server reports lock conflicts for two minutes.
/// Migrations before a failed one are kept.
pub async fn migrate(url: &str) -> Result<Vec<String>, OpenError> {
    migrate_within(url, LOCK_PATIENCE).await
}

/// Like [`migrate`], but keeps trying for `patience` while others hold locks, and at least until the first wait ends.
///
/// # Errors
/// As those of [`migrate`].
pub async fn migrate_within(url: &str, patience: Duration) -> Result<Vec<String>, OpenError> {
    let address = ServerAddress::parse(url)?;
    let mut ran = Vec::new();
    let mut failed: Option<(String, u32)> = None;
    let mut waits_until: Option<Instant> = None;
    loop {
        let (client, pending) = look(&address, LOOKING_LIMIT).await?;
        let Some(next) = pending.into_iter().next() else { return Ok(ran) };
        let began = Instant::now();
        let Err(error) = run(client, &next).await else {
            ran.push(next.name);
            waits_until = None;
            continue;
        };
        let name = next.name;
        if error.is_of_a_lock() {
            if Instant::now() >= *waits_until.get_or_insert(began + patience) {
                return Err(OpenError::InUse { name, cause: error.into() });
            }
            tracing::info!(migration = name, "the migration could not get a lock; trying again");
            tokio::time::sleep(LOCK_PAUSE).await;
            continue;
        }
        // Another program may have run this migration, or created the table that records them, first.
        let attempts = match failed {
            Some((last, attempts)) if last == name => attempts + 1,
            Some(_) | None => 1,
        };
        // A cancelled statement must not be started again.
        if attempts == ATTEMPTS || error.is_of_a_cancelled_statement() {
            return Err(OpenError::Migration(format!("{name}: {error}").into()));
        }
        failed = Some((name, attempts));
    }
}

/// The names of the pending migrations, in order. Changes nothing.
///
/// # Errors
/// As those of [`migrate`].
pub async fn pending_migrations(url: &str) -> Result<Vec<String>, OpenError> {
    pending(&ServerAddress::parse(url)?, LOOKING_LIMIT).await
}

pub(crate) async fn pending(address: &ServerAddress, limit: Duration) -> Result<Vec<String>, OpenError> {
    let (_client, pending) = look(address, limit).await?;
    Ok(pending.into_iter().map(|migration| migration.name).collect())
}

/// A connection, and the pending migrations of its database.
async fn look(
    address: &ServerAddress,
    limit: Duration,
) -> Result<(Client, Vec<EmbeddedMigration>), OpenError> {
    let look = async {
        let connected = connect_client(address).await;
        let client = connected.map_err(|error| OpenError::NoConnection(error.into()))?;
        let applied = applied(&client).await.map_err(|error| OpenError::Unusable(error.into()))?;
        Ok((client, not_yet_run(&applied)?))
    };
    let looked = tokio::time::timeout(limit, look).await;
    looked.map_err(|elapsed| OpenError::NoConnection(elapsed.into()))?
}

/// Runs one migration and records it, in one transaction. What the program does for a migration comes before, and may be done again.
///
/// It lifts the statement time limits of the role or the database. They are meant for requests, and building
/// an index may take longer. Only lock waits are limited. So a statement that ends early was cancelled by an
/// operator.
async fn run(mut client: Client, migration: &EmbeddedMigration) -> Result<(), ServerError> {
    let EmbeddedMigration { version, name, statements } = migration;
    let settings = format!(
        "SET lock_timeout = {}; SET statement_timeout = 0; SET TIME ZONE 'UTC'",
        LOCK_LIMIT.as_millis()
    );
    client.batch_execute(&settings).await?;
    client.batch_execute(CREATE_MIGRATIONS_TABLE).await?;
    target_host_migration::prepare(&mut client, name).await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute(statements).await?;
    let remember = "INSERT INTO __diesel_schema_migrations (version) VALUES ($1)";
    transaction.execute(remember, &[version]).await?;
    Ok(transaction.commit().await?)
}

/// The versions that the database records. Diesel's own method would create its table if it is missing.
async fn applied(client: &Client) -> Result<BTreeSet<String>, ServerError> {
    let presence = "SELECT to_regclass('__diesel_schema_migrations') IS NOT NULL";
    let is_there: bool = client.query_one(presence, &[]).await?.try_get(0)?;
    if !is_there {
        return Ok(BTreeSet::new());
    }
    let rows = client.query("SELECT version::text FROM __diesel_schema_migrations", &[]).await?;
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

fn not_yet_run(applied: &BTreeSet<String>) -> Result<Vec<EmbeddedMigration>, OpenError> {
    let all = embedded()?;
    let is_known = |version: &&String| all.iter().any(|migration| migration.version == **version);
    let unknown: Vec<String> = applied.iter().filter(|version| !is_known(version)).cloned().collect();
    if !unknown.is_empty() {
        return Err(OpenError::Newer { versions: unknown });
    }
    Ok(all.into_iter().filter(|migration| !applied.contains(&migration.version)).collect())
}
