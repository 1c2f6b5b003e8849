//! The store: what opens it, and what leads from a port to a connection.

use std::time::Duration;

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{Store, StoreError, UnitOfWork};

use crate::connections::Connections;
use crate::failure::Failure;
use crate::migrations;
use crate::open_error::OpenError;
use crate::options::PostgresOptions;
use crate::schema::first_account;
use crate::server_address::ServerAddress;
use crate::unit_of_work::PostgresUnitOfWork;

/// The store on a PostgreSQL server. It implements the ports [`Store`] and
/// [`QuotaStore`](signpost_app::ports::QuotaStore); share it in an `Arc`. It belongs to the tokio runtime on which it
/// was connected, which needs its timer switched on.
pub struct PostgresStore {
    connections: Connections,
}

impl PostgresStore {
    /// Connects to the database that the URL names, and checks that its tables are up to date.
    ///
    /// # Errors
    /// [`OpenError::Pending`] if they are not: [`migrate`](crate::migrate) first. [`OpenError::Newer`] if a newer version
    /// of this program has migrated them.
    pub async fn connect(url: &str, options: &PostgresOptions) -> Result<Self, OpenError> {
        let address = ServerAddress::parse(url)?;
        let pending = migrations::pending(&address, options.time_limit).await?;
        if !pending.is_empty() {
            return Err(OpenError::Pending { names: pending });
        }
        Ok(Self { connections: Connections::new(address, options)? })
    }

    /// Runs one call that reads, or that is a transaction of its own.
    pub(crate) async fn call<T>(
        &self,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.connections.call(call).await.map_err(Failure::into_store_error)
    }
}

impl PostgresStore {
    pub(crate) const fn time_limit(&self) -> Duration {
        self.connections.time_limit()
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>, StoreError> {
        Ok(Box::new(PostgresUnitOfWork::begin(&self.connections).await?))
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.call(async |connection| {
            let row = first_account::table.select(first_account::is_the_row);
            row.first::<bool>(connection).await?;
            Ok(())
        })
        .await
    }
}
