//! Bringing the tables up to date.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use diesel::QueryableByName;
use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::sql_types::{Bool, Text};
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::connecting::connect;
use crate::open_error::OpenError;
use crate::server_address::ServerAddress;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// How often one migration is tried. It fails for nothing if two programs run it at once, and is found done then.
const ATTEMPTS: u32 = 3;

/// How long the server may take to be reached and to say what has run.
const LOOKING_LIMIT: Duration = Duration::from_secs(10);

/// How long a statement waits for a table: as long as every request on that table then waits behind it (R38).
const LOCK_LIMIT: Duration = Duration::from_secs(2);

/// How long requests may go on before it tries again.
const LOCK_PAUSE: Duration = Duration::from_secs(1);

/// How long it goes on so, before somebody has to see who holds the table.
const LOCK_PATIENCE: Duration = Duration::from_mins(2);

/// Runs what is pending in the database that the URL names, and returns the names of what ran, in order.
///
/// Each migration is one transaction, together with the row that remembers it. Any number of programs may do this at
/// once: whoever comes second with a migration has it undone by the server, looks again, and finds it done. While nodes
/// serve, a migration that waits for a table gives way to them every two seconds (R38).
///
/// # Errors
/// [`OpenError::Newer`] if the database has a migration that this program does not know; then nothing is changed.
/// [`OpenError::Migration`] if one fails, and [`OpenError::InUse`] if others held its tables for two minutes; those before
/// it were kept.
pub async fn migrate(url: &str) -> Result<Vec<String>, OpenError> {
    let address = ServerAddress::parse(url)?;
    let mut ran = Vec::new();
    let mut failed: Option<(String, u32)> = None;
    let mut waits_until: Option<Instant> = None;
    loop {
        let (connection, pending) = look(&address, LOOKING_LIMIT).await?;
        let Some(next) = pending.into_iter().next() else { return Ok(ran) };
        let began = Instant::now();
        let Err(error) = run(connection, next.clone()).await else {
            ran.push(next);
            waits_until = None;
            continue;
        };
        // Why it failed diesel does not tell: not the code (55P03), and the words are in the server's language. But what has
        // waited for a table has taken its time; what fails for another reason after as long may fail once more.
        if began.elapsed() >= LOCK_LIMIT {
            if Instant::now() >= *waits_until.get_or_insert(began + LOCK_PATIENCE) {
                return Err(OpenError::InUse { name: next, cause: error });
            }
            tracing::info!(
                migration = next,
                "others hold the tables that the migration needs; it tries again"
            );
            tokio::time::sleep(LOCK_PAUSE).await;
            continue;
        }
        // Another program may have been faster with this one, or with the table that remembers them.
        let attempts = match failed {
            Some((name, attempts)) if name == next => attempts + 1,
            Some(_) | None => 1,
        };
        if attempts == ATTEMPTS {
            return Err(OpenError::Migration(error));
        }
        failed = Some((next, attempts));
    }
}

/// The names of what [`migrate`] would run, in order. Nothing is changed.
///
/// # Errors
/// As those of [`migrate`].
pub async fn pending_migrations(url: &str) -> Result<Vec<String>, OpenError> {
    pending(&ServerAddress::parse(url)?, LOOKING_LIMIT).await
}

pub(crate) async fn pending(address: &ServerAddress, limit: Duration) -> Result<Vec<String>, OpenError> {
    look(address, limit).await.map(|(_, pending)| pending)
}

/// A connection, and what was not run yet where it leads to.
async fn look(
    address: &ServerAddress,
    limit: Duration,
) -> Result<(AsyncPgConnection, Vec<String>), OpenError> {
    let look = async {
        let connected = connect(address).await;
        let mut connection = connected.map_err(|error| OpenError::NoConnection(error.into()))?;
        let pending = not_yet_run(&mut connection).await?;
        Ok((connection, pending))
    };
    let looked = tokio::time::timeout(limit, look).await;
    looked.map_err(|elapsed| OpenError::NoConnection(elapsed.into()))?
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// On a thread of its own, because the trait of migrations blocks.
async fn run(connection: AsyncPgConnection, name: String) -> Result<(), Failed> {
    let run = move || {
        let mut connection = AsyncConnectionWrapper::<AsyncPgConnection>::from(connection);
        connection.batch_execute(&format!("SET lock_timeout = {}", LOCK_LIMIT.as_millis()))?;
        // Makes the table that remembers them.
        connection.applied_migrations()?;
        let all: Vec<Box<dyn Migration<Pg>>> = MIGRATIONS.migrations()?;
        for migration in all.iter().filter(|migration| migration.name().to_string() == name) {
            connection.run_migration(migration)?;
        }
        Ok(())
    };
    tokio::task::spawn_blocking(run).await?
}

#[derive(QueryableByName)]
struct Presence {
    #[diesel(sql_type = Bool)]
    is_there: bool,
}

#[derive(QueryableByName)]
struct Applied {
    #[diesel(sql_type = Text)]
    version: String,
}

/// Diesel's own list of what has run makes its table if there is none, so it is not asked.
async fn not_yet_run(connection: &mut AsyncPgConnection) -> Result<Vec<String>, OpenError> {
    let presence: Presence =
        diesel::sql_query("SELECT to_regclass('__diesel_schema_migrations') IS NOT NULL AS is_there")
            .get_result(connection)
            .await
            .map_err(OpenError::Unusable)?;
    let applied: Vec<Applied> = if presence.is_there {
        let applied = diesel::sql_query("SELECT version::text AS version FROM __diesel_schema_migrations");
        applied.load(connection).await.map_err(OpenError::Unusable)?
    } else {
        Vec::new()
    };
    let applied: BTreeSet<String> = applied.into_iter().map(|row| row.version).collect();
    let all: Vec<Box<dyn Migration<Pg>>> = MIGRATIONS.migrations().map_err(OpenError::Migration)?;
    let all: Vec<(String, String)> = all
        .iter()
        .map(|migration| (migration.name().version().to_string(), migration.name().to_string()))
        .collect();
    let is_known = |applied: &&String| all.iter().any(|(version, _)| version == *applied);
    let unknown: Vec<String> = applied.iter().filter(|applied| !is_known(applied)).cloned().collect();
    if !unknown.is_empty() {
        return Err(OpenError::Newer { versions: unknown });
    }
    Ok(all.into_iter().filter(|(version, _)| !applied.contains(version)).map(|(_, name)| name).collect())
}
