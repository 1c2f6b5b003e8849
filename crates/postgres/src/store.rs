//! The store: what opens it, and what leads from a port to a connection.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{SearchUpkeep, Store, StoreError, UnitOfWork};
use signpost_domain::AccountId;
use tokio::runtime::Handle;

use crate::connections::Connections;
use crate::failure::Failure;
use crate::migrations;
use crate::open_error::OpenError;
use crate::options::PostgresOptions;
use crate::places::Purpose;
use crate::search_index;
use crate::server_address::ServerAddress;
use crate::statement::statement;
use crate::unit_of_work::{PostgresUnitOfWork, pause};
use crate::visits::Visits;

statement! {
    /// Reads a row, and asks whether the server would take changes.
    Check -> (Bool, Bool) {} =
    "SELECT is_the_row, current_setting('transaction_read_only')::boolean FROM first_account"
}

/// The store on a PostgreSQL server. It implements the ports [`Store`] and
/// [`QuotaStore`](signpost_app::ports::QuotaStore); share it in an `Arc`. It may be used from any tokio runtime that has input,
/// output and timer switched on; each that asks has connections of its own, which end with it (ADR 54). The runtime on which it was
/// connected must not end before the store.
pub struct PostgresStore {
    connections: Arc<Connections>,
    visits: Visits,
}

impl PostgresStore {
    /// Connects to the database that the URL names, and checks that its tables are up to date.
    ///
    /// # Errors
    /// [`OpenError::Pending`] if they are not: [`migrate`](crate::migrate) first. [`OpenError::Newer`] if a newer version
    /// of this program has migrated them.
    pub async fn connect(url: &str, options: &PostgresOptions) -> Result<Self, OpenError> {
        let runtime = Handle::try_current().map_err(|error| OpenError::NoConnection(error.into()))?;
        let address = ServerAddress::parse(url)?;
        let pending = migrations::pending(&address, options.time_limit).await?;
        if !pending.is_empty() {
            return Err(OpenError::Pending { names: pending });
        }
        let connections = Arc::new(Connections::new(address, options, runtime)?);
        Ok(Self { visits: Visits::new(Arc::clone(&connections)), connections })
    }

    /// Runs one call that reads a few rows, or counts a request. It waits for no rows that others hold for long, since others
    /// wait behind it for their answers.
    pub(crate) async fn read<T>(
        &self,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.connections.read(call).await.map_err(Failure::into_store_error)
    }

    /// Runs one call whose statements are each a transaction of their own.
    pub(crate) async fn change<T>(
        &self,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.connections.call(Purpose::UnitOfWork, call).await.map_err(Failure::into_store_error)
    }

    /// Runs one call that may read many rows for few, of which only so many run at once.
    pub(crate) async fn search<T>(
        &self,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.connections.call(Purpose::Search, call).await.map_err(Failure::into_store_error)
    }

    /// Looks up links for visitors, who find a connection however busy requests keep theirs.
    pub(crate) const fn visits(&self) -> &Visits {
        &self.visits
    }

    /// Runs one call of the node's own work, which finds a connection however busy requests keep theirs.
    pub(crate) async fn own_work<T>(
        &self,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.connections.call(Purpose::OwnWork, call).await.map_err(Failure::into_store_error)
    }

    pub(crate) const fn connections(&self) -> &Arc<Connections> {
        &self.connections
    }

    pub(crate) fn time_limit(&self) -> Duration {
        self.connections.time_limit()
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>, StoreError> {
        Ok(Box::new(PostgresUnitOfWork::begin(&self.connections, Instant::now()).await?))
    }

    async fn begin_again(&self, first_begun: Instant) -> Result<Box<dyn UnitOfWork>, StoreError> {
        pause(first_begun + self.time_limit()).await;
        Ok(Box::new(PostgresUnitOfWork::begin(&self.connections, first_begun).await?))
    }

    async fn check(&self) -> Result<(), StoreError> {
        let checked = self.connections.call(Purpose::Check, async |connection| {
            let (_is_the_row, only_reads): (bool, bool) = Check {}.get_result(connection).await?;
            if only_reads { Err(Failure::ReadOnly) } else { Ok(()) }
        });
        checked.await.map_err(Failure::into_store_error)
    }

    async fn tend_search_index(&self, after: Option<AccountId>) -> Result<SearchUpkeep, StoreError> {
        search_index::tend(self, after).await.map_err(Failure::into_store_error)
    }
}
