//! A file of batches that wait for the store.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::result::Error as SqlError;
use diesel::sql_types::{BigInt, Binary, Nullable};
use signpost_app::ports::EncodedClicks;
use signpost_domain::Timestamp;
use signpost_domain::analytics::ClickSource;

use super::backlog::size;
use super::private_files::{Identity, create_private};

/// A larger file shrinks once it is empty.
const KEPT_PAGES: i64 = 4_096;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// Another process uses it.
    #[error("another process uses it")]
    InUse,
    /// The content is damaged.
    #[error("it is broken")]
    Broken(#[source] SqlError),
    /// It cannot be read or written now.
    #[error("it cannot be read or written")]
    Unusable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Diesel passes on only SQLite's messages.
impl From<SqlError> for FileError {
    fn from(error: SqlError) -> Self {
        let text = match &error {
            SqlError::DatabaseError(_, information) => information.message().to_owned(),
            SqlError::DeserializationError(_) => return Self::Broken(error),
            _ => String::new(),
        };
        match text.as_str() {
            "database is locked" => Self::InUse,
            "database disk image is malformed" | "file is not a database" => Self::Broken(error),
            text if text.starts_with("malformed database schema") || text.starts_with("no such") => {
                Self::Broken(error)
            }
            _ => Self::Unusable(Box::new(error)),
        }
    }
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        Self::Unusable(Box::new(error))
    }
}

/// The totals of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FileTotals {
    pub(crate) batches: u64,
    pub(crate) clicks: u64,
    pub(crate) bytes: u64,
}

impl FileTotals {
    pub(crate) fn add(&mut self, batch: &EncodedClicks) {
        self.batches += 1;
        self.clicks += u64::from(batch.clicks);
        self.bytes += size(batch);
    }

    pub(crate) fn remove(&mut self, batch: &EncodedClicks) {
        self.batches = self.batches.saturating_sub(1);
        self.clicks = self.clicks.saturating_sub(u64::from(batch.clicks));
        self.bytes = self.bytes.saturating_sub(size(batch));
    }
}

/// A small SQLite file that this process locks while it is open. Batches leave it in the order in which they
/// entered.
pub(crate) struct BatchFile {
    path: PathBuf,
    identity: Identity,
    connection: SqliteConnection,
    /// The row of the last batch that the store has. The row may remain if deleting it failed.
    acknowledged: i64,
    /// The row of the next batch to write.
    next: i64,
    held: FileTotals,
    /// Whether a power failure would lose data.
    is_unsynced: bool,
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Binary)]
    source: Vec<u8>,
    #[diesel(sql_type = BigInt)]
    number: i64,
    #[diesel(sql_type = BigInt)]
    clicks: i64,
    #[diesel(sql_type = BigInt)]
    first_at: i64,
    #[diesel(sql_type = BigInt)]
    last_at: i64,
    #[diesel(sql_type = Binary)]
    segment: Vec<u8>,
}

#[derive(QueryableByName)]
struct Summary {
    #[diesel(sql_type = BigInt)]
    batches: i64,
    #[diesel(sql_type = BigInt)]
    clicks: i64,
    #[diesel(sql_type = BigInt)]
    bytes: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    last: Option<i64>,
}

#[derive(QueryableByName)]
struct Pages {
    #[diesel(sql_type = BigInt)]
    pages: i64,
}

/// A batch and its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FiledBatch {
    pub(crate) row: i64,
    pub(crate) batch: EncodedClicks,
}

impl BatchFile {
    /// Opens and locks a file, and creates it if missing.
    ///
    /// In exclusive locking mode SQLite keeps other processes out, and releases the lock when this one dies.
    /// A crash of the process loses no written data. [`BatchFile::sync`] limits what a power failure loses.
    pub(crate) fn open(path: PathBuf) -> Result<Self, FileError> {
        if is_cut_short(&path) {
            return Err(FileError::Broken(SqlError::DeserializationError(
                "the first page is missing".into(),
            )));
        }
        let name = path.to_str().ok_or_else(|| io::Error::other("the path is not UTF-8"))?;
        create_private(&with_companions(&path))?;
        let mut connection =
            SqliteConnection::establish(name).map_err(|error| FileError::Unusable(Box::new(error)))?;
        connection.batch_execute(
            "PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; \
             PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -1000; \
             PRAGMA journal_size_limit = 8388608; PRAGMA trusted_schema = OFF; \
             CREATE TABLE IF NOT EXISTS batches (id INTEGER PRIMARY KEY, source BLOB NOT NULL, \
             number INTEGER NOT NULL, clicks INTEGER NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, \
             segment BLOB NOT NULL) STRICT; BEGIN IMMEDIATE; COMMIT",
        )?;
        let summary: Summary = diesel::sql_query(
            "SELECT count(*) AS batches, coalesce(sum(clicks), 0) AS clicks, \
             coalesce(sum(length(segment) + 96), 0) AS bytes, max(id) AS last FROM batches",
        )
        .get_result(&mut connection)?;
        let Summary { batches, clicks, bytes, last } = summary;
        let [batches, clicks, bytes] = [batches, clicks, bytes].map(|n| u64::try_from(n).unwrap_or_default());
        Ok(Self {
            identity: Identity::at(&path)?,
            path,
            connection,
            acknowledged: 0,
            next: last.unwrap_or_default().saturating_add(1),
            held: FileTotals { batches, clicks, bytes },
            is_unsynced: false,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) const fn held(&self) -> FileTotals {
        self.held
    }

    /// Whether its name still leads to it.
    pub(crate) fn has_its_name(&self) -> bool {
        match Identity::at(&self.path) {
            Ok(found) => found == self.identity,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// All batches that the store does not have, oldest first.
    pub(crate) fn all(&mut self) -> Result<Vec<EncodedClicks>, FileError> {
        let rows: Vec<Row> = diesel::sql_query("SELECT * FROM batches WHERE id > ? ORDER BY id")
            .bind::<BigInt, _>(self.acknowledged)
            .load(&mut self.connection)?;
        rows.into_iter().map(|row| FiledBatch::try_from(row).map(|filed| filed.batch)).collect()
    }

    /// Writes all batches or none.
    pub(crate) fn write<'a>(
        &mut self,
        batches: impl Iterator<Item = &'a EncodedClicks>,
    ) -> Result<(), FileError> {
        // Not with Diesel's transactions: after SQLite itself has rolled back on a full disk, Diesel would
        // never use the connection again.
        self.connection.batch_execute("BEGIN IMMEDIATE")?;
        let written = self.write_rows(batches).and_then(|rows| {
            self.connection.batch_execute("COMMIT")?;
            Ok(rows)
        });
        let (row, held) = match written {
            Ok(rows) => rows,
            Err(error) => {
                // It fails if nothing is left to roll back.
                let _ = self.connection.batch_execute("ROLLBACK");
                return Err(error.into());
            }
        };
        (self.next, self.held, self.is_unsynced) = (row, held, true);
        Ok(())
    }

    /// Writes the rows, and returns the number of the next row and the new totals.
    fn write_rows<'a>(
        &mut self,
        batches: impl Iterator<Item = &'a EncodedClicks>,
    ) -> QueryResult<(i64, FileTotals)> {
        let (mut row, mut held) = (self.next, self.held);
        // New rows get higher numbers than all others, so the numbers of deleted batches are never reused.
        diesel::sql_query("DELETE FROM batches WHERE id <= ?")
            .bind::<BigInt, _>(self.acknowledged)
            .execute(&mut self.connection)?;
        for batch in batches {
            diesel::sql_query("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?)")
                .bind::<BigInt, _>(row)
                .bind::<Binary, _>(batch.source.0.as_slice())
                .bind::<BigInt, _>(i64::try_from(batch.number).unwrap_or(i64::MAX))
                .bind::<BigInt, _>(i64::from(batch.clicks))
                .bind::<BigInt, _>(batch.first.unix_millis())
                .bind::<BigInt, _>(batch.last.unix_millis())
                .bind::<Binary, _>(batch.segment.as_slice())
                .execute(&mut self.connection)?;
            row = row.saturating_add(1);
            held.add(batch);
        }
        Ok((row, held))
    }

    /// The oldest batch that the store does not have.
    pub(crate) fn oldest(&mut self) -> Result<Option<FiledBatch>, FileError> {
        if self.held.batches == 0 {
            return Ok(None);
        }
        let row: Option<Row> = diesel::sql_query("SELECT * FROM batches WHERE id > ? ORDER BY id LIMIT 1")
            .bind::<BigInt, _>(self.acknowledged)
            .get_result(&mut self.connection)
            .optional()?;
        if row.is_none() {
            self.held = FileTotals::default();
        }
        row.map(FiledBatch::try_from).transpose()
    }

    /// Deletes a batch that the store has. If the disk refuses, the next call tries again.
    pub(crate) fn forget(&mut self, filed: &FiledBatch) {
        self.acknowledged = self.acknowledged.max(filed.row);
        self.held.remove(&filed.batch);
        if let Err(error) = self.delete() {
            tracing::debug!(%error, "a batch of clicks that is stored stays in the spool for now");
        }
    }

    fn delete(&mut self) -> Result<(), FileError> {
        diesel::sql_query("DELETE FROM batches WHERE id <= ?")
            .bind::<BigInt, _>(self.acknowledged)
            .execute(&mut self.connection)?;
        if self.held.batches > 0 {
            return Ok(());
        }
        self.is_unsynced = false;
        let Pages { pages } = diesel::sql_query("SELECT page_count AS pages FROM pragma_page_count")
            .get_result(&mut self.connection)?;
        if pages > KEPT_PAGES {
            self.connection.batch_execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?;
        }
        Ok(())
    }

    /// Moves a batch and the later ones of its source to another source, whose numbers begin at 1 with this
    /// batch.
    pub(crate) fn renumber(&mut self, from: &FiledBatch, to: ClickSource) -> Result<(), FileError> {
        let less = i64::try_from(from.batch.number).unwrap_or(i64::MAX).saturating_sub(1);
        diesel::sql_query("UPDATE batches SET source = ?, number = number - ? WHERE source = ? AND id >= ?")
            .bind::<Binary, _>(to.0.as_slice())
            .bind::<BigInt, _>(less)
            .bind::<Binary, _>(from.batch.source.0.as_slice())
            .bind::<BigInt, _>(from.row)
            .execute(&mut self.connection)?;
        Ok(())
    }

    /// Syncs written data to the disk, so that a power failure loses none of it.
    pub(crate) fn sync(&mut self) -> Result<(), FileError> {
        if self.is_unsynced {
            self.connection.batch_execute("PRAGMA wal_checkpoint(PASSIVE)")?;
            self.is_unsynced = false;
        }
        Ok(())
    }

    /// Limits the file to this many pages, like a full disk.
    #[cfg(test)]
    pub(crate) fn limit_pages(&mut self, pages: u32) {
        self.connection.batch_execute(&format!("PRAGMA max_page_count = {pages}")).unwrap();
    }

    /// Deletes the file, which must be empty.
    pub(crate) fn remove(self) {
        let Self { path, connection, .. } = self;
        drop(connection);
        remove(&path);
    }
}

/// Deletes an empty file that is not open.
pub(crate) fn remove(path: &Path) {
    for path in with_companions(path) {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::debug!(path = %path.display(), %error, "a file of the spool was not deleted");
            }
            Ok(()) | Err(_) => {}
        }
    }
}

impl TryFrom<Row> for FiledBatch {
    type Error = FileError;

    fn try_from(row: Row) -> Result<Self, FileError> {
        let Row { id, source, number, clicks, first_at, last_at, segment } = row;
        let broken = || {
            let error = SqlError::DeserializationError("a batch is malformed".into());
            FileError::Broken(error)
        };
        Ok(Self {
            row: id,
            batch: EncodedClicks {
                source: ClickSource(source.try_into().map_err(|_| broken())?),
                number: u64::try_from(number).map_err(|_| broken())?,
                clicks: u32::try_from(clicks).map_err(|_| broken())?,
                first: Timestamp::from_unix_millis(first_at).ok_or_else(broken)?,
                last: Timestamp::from_unix_millis(last_at).ok_or_else(broken)?,
                segment,
            },
        })
    }
}
/// Whether a file lacks its first page, which SQLite writes first. SQLite takes such a file for an empty
/// database, and would delete the log beside it, including the batches in it.
fn is_cut_short(path: &Path) -> bool {
    const SMALLEST_PAGE: u64 = 512;
    let [size, log_size, _] =
        with_companions(path).map(|path| fs::metadata(path).map_or(0, |file| file.len()));
    size < SMALLEST_PAGE && (size > 0 || log_size > 0)
}

/// Renames a broken file to a name that is never opened again, for inspection.
pub(crate) fn set_aside(path: &Path) {
    for path in with_companions(path) {
        let mut name = OsString::from(&path);
        name.push(".broken");
        match fs::rename(&path, &name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(path = %path.display(), %error, "a broken file of the spool was not set aside");
            }
            Ok(()) | Err(_) => {}
        }
    }
}

/// The file and its companions from SQLite.
fn with_companions(path: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|suffix| {
        let mut name = OsString::from(path);
        name.push(suffix);
        PathBuf::from(name)
    })
}
