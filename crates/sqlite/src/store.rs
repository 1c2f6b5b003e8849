//! The store: how it is opened and closed, and how calls of the ports reach a thread.

use std::time::Instant;

use async_trait::async_trait;
use diesel::prelude::*;
use signpost_app::pool_usage::PoolUsage;
use signpost_app::ports::{Store, StoreError, UnitOfWork};
use signpost_click_store::Priority;

use crate::columns::UpperBound;
use crate::database_file::DatabaseFile;
use crate::failure::Failure;
use crate::file_watch::{FileWatch, OpenFile};
use crate::merged_counts;
use crate::migrations::migrate;
use crate::open_error::OpenError;
use crate::options::SqliteOptions;
use crate::readers::Readers;
use crate::schema::accounts;
use crate::writer::Writer;

/// The store on an SQLite file. It implements the ports [`Store`] and
/// [`QuotaStore`](signpost_app::ports::QuotaStore); share it in an `Arc`.
///
/// Dropping it waits until its threads have finished their jobs, and closes the file.
pub struct SqliteStore {
    readers: Readers,
    writer: Writer,
    file: OpenFile,
    /// Dropped last, because it may have to save what the others wrote.
    _watch: FileWatch,
}

impl SqliteStore {
    /// Opens the database. It creates a missing file, runs pending migrations, and starts the threads.
    ///
    /// This call blocks and is meant for the start of a program. The store itself needs a tokio runtime with timers enabled.
    pub fn open(file: &DatabaseFile, options: &SqliteOptions) -> Result<Self, OpenError> {
        let is_new = !file.holds_something();
        let migrations = migrate(file, options.time_limit)?;
        if is_new {
            // The migrations of an empty database are no news to its operator.
            tracing::info!(path = %file.path().display(), migrations = migrations.len(), "the database was created");
        } else {
            for name in migrations {
                tracing::info!(path = %file.path().display(), name, "the database was migrated");
            }
        }
        let file = OpenFile::new(file.clone());
        let writer = Writer::start(&file, options)?;
        let readers = Readers::start(&file, options, Priority::Normal)?;
        let watch = FileWatch::start(&file, options.time_limit)?;
        Ok(Self { readers, writer, file, _watch: watch })
    }

    /// Opens a database like [`open`](Self::open), but never creates one.
    ///
    /// # Errors
    /// [`OpenError::NoDatabase`] if the file does not exist or is empty; otherwise those of [`open`](Self::open).
    pub fn open_existing(file: &DatabaseFile, options: &SqliteOptions) -> Result<Self, OpenError> {
        file.must_hold_a_database()?;
        Self::open(file, options)
    }

    /// How busy the store's threads are.
    #[must_use]
    pub fn pool_usage(&self) -> Vec<PoolUsage> {
        vec![self.readers.usage("reads"), self.writer.usage()]
    }

    pub(crate) const fn readers(&self) -> &Readers {
        &self.readers
    }

    pub(crate) const fn writer(&self) -> &Writer {
        &self.writer
    }
}

impl SqliteStore {
    /// Runs one step as its own unit of work.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        step: impl FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let mut work = Box::new(self.writer.begin().await?);
        let outcome = work.step(step).await?;
        #[expect(clippy::disallowed_methods, reason = "it changes nothing that visitors see")]
        work.commit().await?;
        Ok(outcome)
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>, StoreError> {
        Ok(Box::new(self.writer.begin().await?))
    }

    async fn begin_again(&self, first_begun: Instant) -> Result<Box<dyn UnitOfWork>, StoreError> {
        Ok(Box::new(self.writer.begin_again(first_begun).await?))
    }

    async fn check(&self) -> Result<(), StoreError> {
        if !self.writer.is_running() {
            return Err(StoreError::unavailable("the writing thread of the store has ended"));
        }
        // A statement without a table would not touch the file.
        let read = |connection: &mut SqliteConnection| {
            let first = accounts::table.filter(accounts::id.lt(UpperBound::None)).select(accounts::plan);
            Ok(first.first::<String>(connection).optional()?)
        };
        self.readers.read(read).await.map(drop)
    }

    async fn check_writes(&self) -> Result<(), StoreError> {
        // A write of a moment ago says nothing about the file that has its name now.
        self.file.may_be_written().map_err(Failure::into_write_error)?;
        self.writer.check().run(self.write(merged_counts::try_write)).await
    }
}
