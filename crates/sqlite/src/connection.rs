//! A connection to the file, configured for its task.

use std::sync::Arc;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Text};

use crate::database_file::{Contents, DatabaseFile};
use crate::deadline::Deadline;
use crate::open_error::OpenError;
use crate::search;
use crate::search_index;
use crate::sql_errors::is_busy;
use crate::target_hosts;

/// The task of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Running migrations.
    Migrate,
    /// Copying everything to another file, which SQLite treats as a write.
    Copy,
    /// Writing.
    Write,
    /// Reading only: SQLite rejects everything else.
    Read,
}

/// How long the writer's connection waits inside SQLite for another process's transaction before the thread checks whether a
/// caller still waits.
const WRITER_PATIENCE: Duration = Duration::from_millis(100);

/// The setting of a file whose free pages can be returned to the disk.
const INCREMENTAL: &str = "PRAGMA auto_vacuum = INCREMENTAL";

#[derive(QueryableByName)]
struct JournalMode {
    #[diesel(sql_type = Text)]
    journal_mode: String,
}

#[derive(QueryableByName)]
struct Mode {
    #[diesel(sql_type = BigInt)]
    auto_vacuum: i64,
}

impl Contents {
    /// The application id that the first migration writes into the file's header; see there.
    const fn application_id(self) -> i32 {
        match self {
            Self::Links => 0x5349_474e,
            Self::Clicks => 0x5349_4743,
        }
    }
}

#[derive(QueryableByName)]
struct Header {
    #[diesel(sql_type = Integer)]
    application_id: i32,
    #[diesel(sql_type = BigInt)]
    objects: i64,
    #[diesel(sql_type = BigInt)]
    pages: i64,
}

/// Opens a connection. The order matters. The busy timeout comes first, because later steps may have to wait. Then the
/// file's owner is checked, before anything is written. The journal mode comes before the settings that depend on it.
pub(crate) fn open(
    file: &DatabaseFile,
    task: Task,
    time_limit: Duration,
    deadline: &Arc<Deadline>,
) -> Result<SqliteConnection, OpenError> {
    let path = || file.path().to_path_buf();
    let unusable = |source| OpenError::of_statement(path(), source, time_limit);
    let mut connection = SqliteConnection::establish(file.as_str())
        .map_err(|source| OpenError::NoConnection { path: path(), source })?;
    connection
        .batch_execute(&format!("PRAGMA busy_timeout = {}", time_limit.as_millis()))
        .map_err(unusable)?;
    let is_new = refuse_foreign_file(&mut connection, file, time_limit)?;
    if is_new {
        // This must come before the first write.
        prepare_new_file(&mut connection).map_err(unusable)?;
    }
    use_write_ahead_log(&mut connection, file, time_limit)?;
    // A commit is on disk before it is reported.
    connection.batch_execute("PRAGMA synchronous = FULL").map_err(unusable)?;
    // Migrations may rebuild tables; they check all references at their end.
    let foreign_keys = if task == Task::Migrate { "OFF" } else { "ON" };
    connection.batch_execute(&format!("PRAGMA foreign_keys = {foreign_keys}")).map_err(unusable)?;
    connection
        .batch_execute(
            "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864; \
             PRAGMA trusted_schema = OFF",
        )
        .map_err(unusable)?;
    match task {
        Task::Migrate => {}
        Task::Copy => prepare_copy(&mut connection).map_err(unusable)?,
        Task::Write => connection
            .batch_execute(&format!("PRAGMA busy_timeout = {}", WRITER_PATIENCE.as_millis()))
            .map_err(unusable)?,
        Task::Read => connection.batch_execute("PRAGMA query_only = ON").map_err(unusable)?,
    }
    match file.contents() {
        Contents::Links => {
            search::register(&mut connection, Arc::clone(deadline)).map_err(unusable)?;
            match task {
                Task::Write => search_index::keep(&mut connection).map_err(unusable)?,
                Task::Migrate => target_hosts::register(&mut connection).map_err(unusable)?,
                Task::Copy | Task::Read => {}
            }
        }
        // Deleted hashes and keys of visitors must be gone (D48): SQLite overwrites them with zeros. Segments are read once
        // and are large, so a cache of them would take memory for nothing.
        Contents::Clicks => connection
            .batch_execute(
                "PRAGMA secure_delete = ON; PRAGMA cache_size = -2000; PRAGMA journal_size_limit = 4194304",
            )
            .map_err(unusable)?,
    }
    Ok(connection)
}

/// Enables incremental vacuum for a file that is still unwritten.
fn prepare_new_file(connection: &mut SqliteConnection) -> QueryResult<()> {
    connection.batch_execute(INCREMENTAL)
}

/// Enables incremental vacuum for a copy of the file, if the file itself does not have it.
fn prepare_copy(connection: &mut SqliteConnection) -> QueryResult<()> {
    let Mode { auto_vacuum } = diesel::sql_query("PRAGMA auto_vacuum").get_result(connection)?;
    // If the file has it, this would write to the file.
    if auto_vacuum == 0 { connection.batch_execute(INCREMENTAL) } else { Ok(()) }
}

/// A file is ours if it is marked so. An empty file may become ours; this returns whether it is empty.
fn refuse_foreign_file(
    connection: &mut SqliteConnection,
    file: &DatabaseFile,
    time_limit: Duration,
) -> Result<bool, OpenError> {
    let path = || file.path().to_path_buf();
    let Header { application_id, objects, pages } =
        header(connection).map_err(|source| OpenError::of_statement(path(), source, time_limit))?;
    match (application_id, objects) {
        (id, _) if id == file.contents().application_id() => Ok(false),
        // A file that another program is creating keeps that program's choice.
        (0, 0) => Ok(pages == 0),
        _ => Err(OpenError::Foreign { path: path() }),
    }
}

/// Whether the first migration has run.
pub(crate) fn has_tables(connection: &mut SqliteConnection, file: &DatabaseFile) -> QueryResult<bool> {
    Ok(header(connection)?.application_id == file.contents().application_id())
}

fn header(connection: &mut SqliteConnection) -> QueryResult<Header> {
    let header = "SELECT application_id, (SELECT count(*) FROM sqlite_schema) AS objects, (SELECT page_count FROM pragma_page_count) \
         AS pages FROM pragma_application_id";
    diesel::sql_query(header).get_result(connection)
}

/// Two programs that switch a new file to this mode at once may conflict at a point where SQLite does not wait.
fn use_write_ahead_log(
    connection: &mut SqliteConnection,
    file: &DatabaseFile,
    time_limit: Duration,
) -> Result<(), OpenError> {
    let path = file.path().to_path_buf();
    let until = Instant::now() + time_limit;
    loop {
        match diesel::sql_query("PRAGMA journal_mode = WAL").get_result::<JournalMode>(connection) {
            Ok(JournalMode { journal_mode }) if journal_mode == "wal" => return Ok(()),
            Ok(JournalMode { journal_mode: mode }) => return Err(OpenError::NoWriteAheadLog { path, mode }),
            Err(error) if !is_busy(&error) => return Err(OpenError::Unusable { path, source: error }),
            Err(_) if Instant::now() >= until => return Err(OpenError::Locked { path, waited: time_limit }),
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}
