//! The store: how it is opened, and how calls of the ports get a connection.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::pool_usage::PoolUsage;
use signpost_app::ports::{SearchUpkeep, Store, StoreError, UnitOfWork};
use signpost_domain::AccountId;
use tokio::runtime::Handle;

use crate::connections::Connections;
use crate::failure::Failure;
use crate::migrations;
use crate::open_error::OpenError;
use crate::options::PostgresOptions;
use crate::permits::Purpose;
use crate::search_index;
use crate::server_address::ServerAddress;
use crate::statement::statement;
use crate::unit_of_work::{PostgresUnitOfWork, pause};
use crate::visits::Visits;

statement! {
    /// Reads a row, and asks whether the server is writable.
    Check -> (Bool, Bool) {} =
    "SELECT is_the_row, current_setting('transaction_read_only')::boolean FROM first_account"
}

/// The store on a PostgreSQL server. It implements the ports [`Store`] and [`QuotaStore`](signpost_app::ports::QuotaStore);
/// share it in an `Arc`. Any tokio runtime with I/O and timers enabled may call it. Each calling runtime has its own
/// connections, which end with it (ADR 54). The runtime that called [`connect`](Self::connect) must outlive the store.
pub struct PostgresStore {
    connections: Arc<Connections>,
    visits: Visits,
}

impl PostgresStore {
    /// Connects to the database at `url`, and checks that its tables are up to date.
    ///
    /// [`OpenError::Pending`] if they are not: run [`migrate`](crate::migrate) first. [`OpenError::Newer`] if a newer
    /// version of this program has migrated them.
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

    /// How busy the connections are.
    #[must_use]
    pub fn pool_usage(&self) -> Vec<PoolUsage> {
        self.connections.pool_usage()
    }

    /// Runs one short read, or counts a request. The call must not wait long for locks, because others queue behind it for
    /// their answers.
    pub(crate) async fn read<T>(
        &self,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.connections.read(call).await.map_err(Failure::into_store_error)
    }

    /// Runs one call in which each statement is its own transaction.
    pub(crate) async fn change<T>(
        &self,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.connections.call(Purpose::UnitOfWork, call).await.map_err(Failure::into_store_error)
    }

    /// Runs one call that may scan many rows. The number of concurrent ones is limited.
    pub(crate) async fn search<T>(
        &self,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        self.connections.call(Purpose::Search, call).await.map_err(Failure::into_store_error)
    }

    /// Look-ups for visitors, who have connections of their own under any load of requests.
    pub(crate) const fn visits(&self) -> &Visits {
        &self.visits
    }

    /// Runs one call of the node's own work, which has a connection of its own under any load of requests.
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
