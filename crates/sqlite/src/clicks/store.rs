//! The click store: how it is opened, and how calls of the port reach a thread.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use signpost_app::pool_usage::PoolUsage;
use signpost_app::ports::{Appended, ClickStore, EncodedClicks, OldClicks, Packed, StoreError, Upkeep};
use signpost_click_store::{DiskNearlyFull, FreeSpace, Priority, Reading};
use signpost_domain::analytics::{
    ClickId, ClickSelection, ExportedClick, PlannedDeletion, Question, RecentClicks, Report, UtcDay,
    VisitorKey,
};
use signpost_domain::{AccountId, LinkId, Timestamp};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::writer::ClickWriter;
use super::{inbox, retention, visitor_keys};
use crate::answer::turn_by;
use crate::database_file::DatabaseFile;
use crate::file_watch::{FileWatch, OpenFile};
use crate::migrations::migrate;
use crate::open_error::OpenError;
use crate::options::SqliteOptions;
use crate::readers::Readers;

/// The threads that read clicks: one for each turn of [`Turns`], and one for reads that need no snapshot. All have low
/// priority, so that a question takes no core from answers to visitors (R46).
const READERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4 * READINGS_AT_ONCE + 1);

/// How many readings of a kind take place at the same time, except for upkeep.
const READINGS_AT_ONCE: usize = 2;

/// The click store, on a file beside the database; see [`DatabaseFile::of_clicks`]. It implements the port [`ClickStore`];
/// share it in an `Arc`.
///
/// Dropping it waits until its threads have finished their jobs, and closes the file.
pub struct SqliteClickStore {
    readers: Readers,
    turns: Turns,
    writer: ClickWriter,
    file: DatabaseFile,
    free_space: Mutex<FreeSpace>,
    options: SqliteOptions,
    /// Dropped last, because it may have to save what the others wrote.
    _watch: FileWatch,
}

/// Turns to borrow a reading thread, by kind. They are given in the order of arrival.
struct Turns {
    short_questions: Arc<Semaphore>,
    long_questions: Arc<Semaphore>,
    recent_clicks: Arc<Semaphore>,
    many_recent_clicks: Arc<Semaphore>,
    upkeep: Arc<Semaphore>,
}

impl Turns {
    fn new() -> Self {
        let turns = |number| Arc::new(Semaphore::new(number));
        Self {
            short_questions: turns(READINGS_AT_ONCE),
            long_questions: turns(READINGS_AT_ONCE),
            recent_clicks: turns(READINGS_AT_ONCE),
            many_recent_clicks: turns(READINGS_AT_ONCE),
            upkeep: turns(1),
        }
    }
}

impl SqliteClickStore {
    /// Opens the clicks of a database. It creates their file if it is missing, runs pending migrations, and starts the
    /// threads. Open the clicks first: if only their file is missing, a line of the log says so.
    ///
    /// This call blocks and is meant for the start of a program. The store itself needs a tokio runtime with timers enabled.
    pub fn open(database: &DatabaseFile, options: &SqliteOptions) -> Result<Self, OpenError> {
        let file = database.of_clicks();
        let (is_new, has_database) = (!file.holds_something(), database.holds_something());
        let migrations = migrate(&file, options.time_limit)?;
        if is_new && has_database {
            tracing::warn!(
                path = %file.path().display(),
                "the file of clicks was missing beside its database, so a new one was made; earlier clicks are not in it"
            );
        } else if is_new {
            // The line about the database beside it is enough.
            tracing::debug!(path = %file.path().display(), "the database of clicks was created");
        } else {
            for name in migrations {
                tracing::info!(path = %file.path().display(), name, "the database of clicks was migrated");
            }
        }
        let options = SqliteOptions { readers: READERS, ..options.clone() };
        let open = OpenFile::new(file.clone());
        let writer = ClickWriter::start(&open, options.time_limit)?;
        let readers = Readers::start(&open, &options, Priority::of_counting())?;
        let watch = FileWatch::start(&open, options.time_limit)?;
        Ok(Self {
            readers,
            turns: Turns::new(),
            writer,
            file,
            free_space: Mutex::new(FreeSpace::of_system()),
            options,
            _watch: watch,
        })
    }

    /// How busy the threads that count clicks are.
    #[must_use]
    pub fn pool_usage(&self) -> Vec<PoolUsage> {
        vec![self.readers.usage("click_reads")]
    }

    /// Opens the clicks of a database like [`open`](Self::open), but only if the database itself exists.
    ///
    /// # Errors
    /// [`OpenError::NoDatabase`] if the file of the database does not exist or is empty; otherwise those of
    /// [`open`](Self::open).
    pub fn open_existing(database: &DatabaseFile, options: &SqliteOptions) -> Result<Self, OpenError> {
        database.must_hold_a_database()?;
        Self::open(database, options)
    }

    pub(super) const fn readers(&self) -> &Readers {
        &self.readers
    }

    pub(super) const fn options(&self) -> &SqliteOptions {
        &self.options
    }

    pub(super) const fn writer(&self) -> &ClickWriter {
        &self.writer
    }

    /// Whether the disk has room for more clicks. Packing and deleting go on without: they make room.
    fn has_room(&self) -> Result<(), DiskNearlyFull> {
        let folder = self.file.path().parent().unwrap_or(self.file.path());
        // A panic within the lock leaves nothing half changed.
        self.free_space.lock().unwrap_or_else(PoisonError::into_inner).check(folder)
    }

    /// Waits for a turn to read a snapshot.
    pub(super) async fn turn(
        &self,
        reading: Reading,
        ends: Instant,
    ) -> Result<OwnedSemaphorePermit, StoreError> {
        let Turns { short_questions, long_questions, recent_clicks, many_recent_clicks, upkeep } =
            &self.turns;
        let turns = match reading {
            Reading::ShortQuestion => short_questions,
            Reading::LongQuestion => long_questions,
            Reading::RecentClicks => recent_clicks,
            Reading::ManyRecentClicks => many_recent_clicks,
            Reading::Upkeep => upkeep,
        };
        turn_by(ends, turns).await
    }
}

#[async_trait]
impl ClickStore for SqliteClickStore {
    async fn append(&self, batch: &EncodedClicks) -> Result<Appended, StoreError> {
        self.has_room().map_err(StoreError::unwritable)?;
        let batch = batch.clone();
        let accounts = inbox::accounts_column(&batch.segment);
        self.writer.write(move |connection| inbox::append(connection, batch, accounts)).await
    }

    async fn answer(&self, question: &Question, deadline: Instant) -> Result<Report, StoreError> {
        signpost_click_store::answer(self, question, deadline).await
    }

    async fn clicks(
        &self,
        selection: &ClickSelection,
        after: Option<ClickId>,
        at_most: usize,
        deadline: Instant,
    ) -> Result<Vec<ExportedClick>, StoreError> {
        signpost_click_store::clicks(self, selection, after, at_most, deadline).await
    }

    async fn recent_clicks(
        &self,
        account: AccountId,
        links: &[LinkId],
        since: Timestamp,
    ) -> Result<Vec<RecentClicks>, StoreError> {
        signpost_click_store::recent_clicks(self, account, links, since).await
    }

    async fn visitor_key(&self, day: UtcDay, proposed: VisitorKey) -> Result<VisitorKey, StoreError> {
        let stored = self.readers.read(move |connection| visitor_keys::stored(connection, day)).await?;
        match stored {
            Some(key) => Ok(key),
            None => {
                self.writer.write(move |connection| visitor_keys::of_day(connection, day, &proposed)).await
            }
        }
    }

    async fn forget_visitor_keys(&self, day: UtcDay) -> Result<(), StoreError> {
        self.writer.write(move |connection| visitor_keys::forget_before(connection, day)).await?;
        self.writer.empty_log().await
    }

    async fn pack(&self, now: Timestamp) -> Result<Packed, StoreError> {
        signpost_click_store::pack(self, now).await
    }

    async fn digest(&self, now: Timestamp) -> Result<Upkeep, StoreError> {
        signpost_click_store::digest(self, now).await
    }

    async fn seal(&self, now: Timestamp) -> Result<Upkeep, StoreError> {
        let upkeep = signpost_click_store::seal(self, now).await?;
        if upkeep == Upkeep::More {
            // The hashes of visitors must be gone from the disk, not only from the tables.
            self.writer.empty_log().await?;
        }
        Ok(upkeep)
    }

    /// The node's clock is the store's own.
    async fn today(&self, now: Timestamp) -> Result<UtcDay, StoreError> {
        Ok(UtcDay::of(now))
    }

    async fn accounts_with_clicks_before(
        &self,
        day: UtcDay,
        after: Option<AccountId>,
        at_most: usize,
    ) -> Result<Vec<AccountId>, StoreError> {
        let accounts = self.readers.read(move |connection| {
            snapshot(connection, |connection| {
                retention::accounts_with_clicks_before(connection, day, after, at_most)
            })
        });
        accounts.await
    }

    async fn old_clicks(&self, account: AccountId, day: UtcDay) -> Result<Option<OldClicks>, StoreError> {
        let clicks = self.readers.read(move |connection| {
            snapshot(connection, |connection| retention::old_clicks(connection, account, day))
        });
        clicks.await
    }

    async fn planned_deletion(&self, account: AccountId) -> Result<Option<PlannedDeletion>, StoreError> {
        self.readers.read(move |connection| retention::planned(connection, account)).await
    }

    async fn plan_deletion(
        &self,
        account: AccountId,
        planned: Option<PlannedDeletion>,
    ) -> Result<(), StoreError> {
        self.writer.write(move |connection| retention::plan(connection, account, planned)).await
    }

    async fn forget_clicks(&self, account: AccountId, day: Option<UtcDay>) -> Result<Upkeep, StoreError> {
        signpost_click_store::forget(self, account, day).await
    }
}

/// Runs reads on one snapshot.
fn snapshot<T>(
    connection: &mut diesel::SqliteConnection,
    read: impl FnOnce(&mut diesel::SqliteConnection) -> Result<T, crate::failure::Failure>,
) -> Result<T, crate::failure::Failure> {
    diesel::Connection::transaction(connection, read)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use signpost_click_store::DiskSpace;
    use signpost_port_contracts::click_samples::{ClickedLink, at};

    use super::*;

    const MIB: u64 = 1024 * 1024;

    #[tokio::test]
    async fn r40_clicks_leave_a_reserve_on_the_disk_and_are_still_packed() {
        let folder = tempfile::tempdir().unwrap();
        let database = DatabaseFile::at(folder.path().join("test.db")).unwrap();
        let options = SqliteOptions { time_limit: Duration::from_mins(1), ..SqliteOptions::default() };
        let mut store = SqliteClickStore::open(&database, &options).unwrap();
        let free = Arc::new(AtomicU64::new(8 * MIB));
        let found = Arc::clone(&free);
        let look =
            move |_: &std::path::Path| Ok(DiskSpace { total: 64 * MIB, free: found.load(Ordering::SeqCst) });
        store.free_space = Mutex::new(FreeSpace::new(look.clone()));
        let clicked = ClickedLink::new();
        assert_eq!(store.append(&clicked.batch(1)).await.unwrap(), Appended::Now);
        free.store(8 * MIB - 1, Ordering::SeqCst);
        store.free_space = Mutex::new(FreeSpace::new(look.clone()));
        let refused = store.append(&clicked.batch(2)).await.unwrap_err();
        assert!(
            matches!(&refused, StoreError::Unwritable(cause) if cause.to_string().contains("nearly full"))
        );
        assert_eq!(store.pack(at(3_600_000)).await.unwrap().upkeep, Upkeep::More);
        free.store(8 * MIB, Ordering::SeqCst);
        store.free_space = Mutex::new(FreeSpace::new(look));
        assert_eq!(store.append(&clicked.batch(2)).await.unwrap(), Appended::Now);
    }
}
