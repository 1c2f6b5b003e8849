//! The store: what opens it, what closes it, and what leads from a port to a thread.

use std::time::Instant;

use async_trait::async_trait;
use diesel::prelude::*;
use signpost_app::ports::{Store, StoreError, UnitOfWork};

use crate::columns::UpperBound;
use crate::database_file::DatabaseFile;
use crate::failure::Failure;
use crate::merged_counts;
use crate::migrations::migrate;
use crate::open_error::OpenError;
use crate::options::SqliteOptions;
use crate::priority::Priority;
use crate::readers::Readers;
use crate::schema::accounts;
use crate::writer::Writer;

/// The store on an SQLite file. It implements the ports [`Store`] and
/// [`QuotaStore`](signpost_app::ports::QuotaStore); share it in an `Arc`.
///
/// Dropping it waits until its threads have finished what they were given, and closes the file.
pub struct SqliteStore {
    readers: Readers,
    writer: Writer,
}

impl SqliteStore {
    /// Opens the database, creating it if it is not there, brings its tables up to date, and starts the threads.
    ///
    /// This blocks: it is meant for the start of a program. The store itself is to be used on a tokio runtime that
    /// has its timer switched on.
    pub fn open(file: &DatabaseFile, options: &SqliteOptions) -> Result<Self, OpenError> {
        for name in migrate(file, options.time_limit)? {
            tracing::info!(path = %file.path().display(), name, "the database was migrated");
        }
        let writer = Writer::start(file, options)?;
        let readers = Readers::start(file, options, Priority::Normal)?;
        Ok(Self { readers, writer })
    }

    /// Opens a database as [`open`](Self::open) does, and never creates one.
    ///
    /// # Errors
    /// [`OpenError::NoDatabase`] if the file does not exist or is empty; otherwise those of [`open`](Self::open).
    pub fn open_existing(file: &DatabaseFile, options: &SqliteOptions) -> Result<Self, OpenError> {
        file.must_hold_a_database()?;
        Self::open(file, options)
    }

    pub(crate) const fn readers(&self) -> &Readers {
        &self.readers
    }

    pub(crate) const fn writer(&self) -> &Writer {
        &self.writer
    }
}

impl SqliteStore {
    /// Runs one step as a unit of work of its own.
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
        // A table, because a statement without one would not touch the file.
        let read = |connection: &mut SqliteConnection| {
            let first = accounts::table.filter(accounts::id.lt(UpperBound::None)).select(accounts::plan);
            Ok(first.first::<String>(connection).optional()?)
        };
        self.readers.read(read).await.map(drop)
    }

    async fn check_writes(&self) -> Result<(), StoreError> {
        self.writer.check().run(self.write(merged_counts::try_write)).await
    }
}
