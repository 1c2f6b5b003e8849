//! The connections to one database, and the choice of a connection for each call.
//!
//! A request's calls run on connections of its own runtime, so no call wakes another thread (ADR 54).

use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool::managed::{Object, PoolError};
use diesel_async::AsyncPgConnection;
use signpost_app::pool_usage::PoolUsage;
use tokio::runtime::Handle;
use tokio::task::yield_now;

use crate::connecting::Connector;
use crate::failure::{Failure, NotOpened};
use crate::lease::{CLEANING_LIMIT, Lease, cancel};
use crate::open_error::OpenError;
use crate::opener::{Opener, Pool, pool};
use crate::options::PostgresOptions;
use crate::permits::{Permit, Permits, Purpose};
use crate::pool_health::{PoolHealth, Suspects};
use crate::runtime_pools::{RuntimePool, RuntimePools};
use crate::server_address::{Security, ServerAddress};
use crate::time_limit::{end_of_call, in_time};

/// The connections to one database. They are opened on demand and kept.
pub(crate) struct Connections {
    /// For requests and visitors.
    runtime_pools: RuntimePools,
    /// For purposes with their own permits.
    own: Pool,
    permits: Permits,
    suspects: Arc<Suspects>,
    security: Security,
    runtime: Handle,
    time_limit: Duration,
    wait_limit: Duration,
}

impl Connections {
    /// The node's own connections run on `runtime`, which must outlive them.
    pub(crate) fn new(
        address: ServerAddress,
        options: &PostgresOptions,
        runtime: Handle,
    ) -> Result<Self, OpenError> {
        let PostgresOptions { connections, time_limit, wait_limit, statement_limit, idle_limit, age_limit } =
            *options;
        let security = address.security.clone();
        let suspects = Arc::new(Suspects::default());
        let health = PoolHealth::new(Arc::clone(&suspects), idle_limit, age_limit);
        let connector = Connector::new(address, time_limit, statement_limit);
        let permits = Permits::new(connections);
        let own = Opener::new(connector.clone(), runtime.clone(), health.clone(), permits.own_capacity());
        let own = pool(own, wait_limit, time_limit)?;
        let runtime_pools =
            RuntimePools::new(connector, health, &runtime, &permits, (wait_limit, time_limit));
        Ok(Self { runtime_pools, own, permits, suspects, security, runtime, time_limit, wait_limit })
    }

    /// How busy the connections are: those for requests and visitors, and those with permits of their own.
    pub(crate) fn pool_usage(&self) -> Vec<PoolUsage> {
        let (open, idle, max) = self.runtime_pools.open_idle_and_max();
        let own = self.own.status();
        let usage = |pool, open: usize, idle, max, waiting| PoolUsage {
            pool,
            in_use: open.saturating_sub(idle),
            idle,
            max: Some(max),
            waiting,
        };
        vec![
            usage("requests", open, idle, max, self.permits.waiting()),
            usage("node", own.size, own.available, own.max_size, self.permits.own_waiting()),
        ]
    }

    /// A connection for a unit of work that ends at `ends`.
    pub(crate) async fn lease(&self, ends: Instant) -> Result<Lease, Failure> {
        let permit = self.permits.take(Purpose::UnitOfWork, self.waits_until(ends)).await?;
        self.lease_in(permit, Purpose::UnitOfWork, ends).await
    }

    /// A connection for several calls of this purpose that end at `ends`.
    pub(crate) async fn lease_for(&self, purpose: Purpose, ends: Instant) -> Result<Lease, Failure> {
        let permit = self.permits.take(purpose, ends).await?;
        self.lease_in(permit, purpose, ends).await
    }

    async fn lease_in(&self, permit: Permit, purpose: Purpose, ends: Instant) -> Result<Lease, Failure> {
        let object = match purpose {
            Purpose::Read | Purpose::Search | Purpose::UnitOfWork | Purpose::Visit => {
                self.pooled_connection(ends).await?
            }
            Purpose::Check
            | Purpose::OwnWork
            | Purpose::ClickAppend
            | Purpose::ClickUpkeep
            | Purpose::ClickQuestion
            | Purpose::LongClickQuestion => in_time(ends, async { Ok(self.own.get().await?) }).await?,
        };
        Ok(Lease::new(
            object,
            permit,
            Arc::clone(&self.suspects),
            self.security.clone(),
            self.runtime.clone(),
        ))
    }

    /// A connection from this runtime's pool. At the capacity limit, it first closes a long-idle connection of another
    /// runtime, else borrows an idle one.
    async fn pooled_connection(&self, ends: Instant) -> Result<Object<Opener>, Failure> {
        let runtime_pool = self.runtime_pools.current()?;
        loop {
            match in_time(ends, async { Ok(runtime_pool.get().await) }).await? {
                Err(PoolError::Backend(NotOpened::AtCapacity)) => {}
                outcome => return Ok(outcome?),
            }
            if self.runtime_pools.close_idle_elsewhere(&runtime_pool) {
                continue;
            }
            if let Some(object) =
                in_time(ends, async { Ok(self.runtime_pools.idle_elsewhere(&runtime_pool).await) }).await?
            {
                return Ok(object);
            }
            // The holder is returning the connection right now: there are never more permits than connections.
            yield_now().await;
            if Instant::now() >= ends {
                return Err(Failure::OutOfTime);
            }
        }
    }

    /// Runs one call, after waiting for a permit of its purpose.
    pub(crate) async fn call<T>(
        &self,
        purpose: Purpose,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let ends = end_of_call(self.time_limit);
        let permit = self.permits.take(purpose, self.waits_until(ends)).await?;
        let mut lease = self.lease_in(permit, purpose, ends).await?;
        lease.call(ends, call).await
    }

    /// Runs one short read on the connection that many reads share. If its answers are late, new reads take a pooled
    /// connection when a permit is free.
    pub(crate) async fn read<T>(
        &self,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let ends = end_of_call(self.time_limit);
        let runtime_pool: Arc<RuntimePool> = self.runtime_pools.current()?;
        let reader = runtime_pool.reader();
        if reader.is_held_up()
            && let Ok(permit) = self.permits.take(Purpose::Read, Instant::now()).await
        {
            // Boxed because it is rare: it would make the futures of all reads as large as this one.
            let detour = Box::pin(async {
                let mut lease = self.lease_in(permit, Purpose::Read, ends).await?;
                lease.call(ends, call).await
            });
            return detour.await;
        }
        let connection = in_time(ends, reader.connection(runtime_pool.opener())).await?;
        let began = Instant::now();
        let turn = connection.enter();
        let outcome = in_time(ends, call(&mut &connection.connection)).await;
        let is_first_to_fail = turn.end(outcome.as_ref().err());
        if let Err(failure) = &outcome {
            self.suspects.note(failure, began);
            if is_first_to_fail && matches!(failure, Failure::OutOfTime) {
                // Cancels the statement that blocks all reads behind it.
                self.stop_statement(&connection.connection);
            }
        }
        outcome
    }

    fn stop_statement(&self, connection: &AsyncPgConnection) {
        let (token, security) = (connection.cancel_token(), self.security.clone());
        self.runtime.spawn(async move {
            let _ = tokio::time::timeout(CLEANING_LIMIT, cancel(token, security)).await;
        });
    }

    fn waits_until(&self, ends: Instant) -> Instant {
        end_of_call(self.wait_limit).min(ends)
    }

    /// Runs a task on the node's own runtime.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(task);
    }

    pub(crate) const fn time_limit(&self) -> Duration {
        self.time_limit
    }
}
