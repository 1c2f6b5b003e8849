//! The connections to one database: which of them a call is run on.
//!
//! A request's calls run on connections of its own runtime, so that neither asking nor answering wakes another thread (ADR 54).

use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool::managed::{Object, PoolError};
use diesel_async::AsyncPgConnection;
use tokio::runtime::Handle;
use tokio::task::yield_now;

use crate::connecting::Connector;
use crate::failure::Failure;
use crate::homes::{Home, Homes};
use crate::lease::{CLEANING_LIMIT, Lease, cancel};
use crate::open_error::OpenError;
use crate::opener::{NotOpened, Opener, Pool, pool};
use crate::options::PostgresOptions;
use crate::places::{Place, Places, Purpose};
use crate::server_address::{Security, ServerAddress};
use crate::suspicions::{Suspicions, Trust};

/// The connections to one database. They are opened when they are needed, and kept.
pub(crate) struct Connections {
    /// For requests and visitors.
    homes: Homes,
    /// For what has places of its own.
    own: Pool,
    places: Places,
    suspicions: Arc<Suspicions>,
    security: Security,
    runtime: Handle,
    time_limit: Duration,
    wait_limit: Duration,
}

impl Connections {
    /// The node's own connections belong to the runtime: it may not end before them.
    pub(crate) fn new(
        address: ServerAddress,
        options: &PostgresOptions,
        runtime: Handle,
    ) -> Result<Self, OpenError> {
        let PostgresOptions { connections, time_limit, wait_limit, statement_limit, idle_limit, age_limit } =
            *options;
        let security = address.security.clone();
        let suspicions = Arc::new(Suspicions::default());
        let trust = Trust::new(Arc::clone(&suspicions), idle_limit, age_limit);
        let connector = Connector::new(address, time_limit, statement_limit);
        let places = Places::new(connections);
        let own = Opener::new(connector.clone(), runtime.clone(), trust.clone(), places.own_room());
        let own = pool(own, wait_limit, time_limit)?;
        let homes = Homes::new(connector, trust, &runtime, &places, (wait_limit, time_limit));
        Ok(Self { homes, own, places, suspicions, security, runtime, time_limit, wait_limit })
    }

    /// One of the connections, for a unit of work that must have it then.
    pub(crate) async fn lease(&self, ends: Instant) -> Result<Lease, Failure> {
        let place = self.places.take(Purpose::UnitOfWork, self.waits_until(ends)).await?;
        self.lease_in(place, Purpose::UnitOfWork, ends).await
    }

    /// One of the connections, for several calls of this purpose that must be over then.
    pub(crate) async fn lease_for(&self, purpose: Purpose, ends: Instant) -> Result<Lease, Failure> {
        let place = self.places.take(purpose, ends).await?;
        self.lease_in(place, purpose, ends).await
    }

    async fn lease_in(&self, place: Place, purpose: Purpose, ends: Instant) -> Result<Lease, Failure> {
        let object = match purpose {
            Purpose::Read | Purpose::Search | Purpose::UnitOfWork | Purpose::Visit => {
                self.of_a_home(ends).await?
            }
            Purpose::Check
            | Purpose::OwnWork
            | Purpose::ClickAppend
            | Purpose::ClickUpkeep
            | Purpose::ClickQuestion => in_time(ends, async { Ok(self.own.get().await?) }).await?,
        };
        Ok(Lease::new(
            object,
            place,
            Arc::clone(&self.suspicions),
            self.security.clone(),
            self.runtime.clone(),
        ))
    }

    /// A connection of this runtime, in the place of one that another has not used for long if no more may be open, or else one
    /// that lies idle with another.
    async fn of_a_home(&self, ends: Instant) -> Result<Object<Opener>, Failure> {
        let home = self.homes.here()?;
        loop {
            match in_time(ends, async { Ok(home.lent().await) }).await? {
                Err(PoolError::Backend(NotOpened::NoRoom)) => {}
                outcome => return Ok(outcome?),
            }
            if self.homes.make_room(&home) {
                continue;
            }
            if let Some(object) = in_time(ends, async { Ok(self.homes.idle_elsewhere(&home).await) }).await? {
                return Ok(object);
            }
            // Whoever has it gives it back at this moment: there are as many connections as places.
            yield_now().await;
            if Instant::now() >= ends {
                return Err(Failure::OutOfTime);
            }
        }
    }

    /// Runs one call, waiting for a place of its purpose.
    pub(crate) async fn call<T>(
        &self,
        purpose: Purpose,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let ends = end_of_call(self.time_limit);
        let place = self.places.take(purpose, self.waits_until(ends)).await?;
        let mut lease = self.lease_in(place, purpose, ends).await?;
        lease.call(ends, call).await
    }

    /// Runs one call that reads a few rows, together with others on one connection. If an answer is long in coming, those who
    /// come after it go another way, where there is one.
    pub(crate) async fn read<T>(
        &self,
        call: impl AsyncFnOnce(&mut &AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let ends = end_of_call(self.time_limit);
        let home: Arc<Home> = self.homes.here()?;
        let reader = home.reader();
        if reader.is_held_up()
            && let Ok(place) = self.places.take(Purpose::Read, Instant::now()).await
        {
            // Boxed, since it is rare: the futures of all reads would be as large as this one.
            let detour = Box::pin(async {
                let mut lease = self.lease_in(place, Purpose::Read, ends).await?;
                lease.call(ends, call).await
            });
            return detour.await;
        }
        let connection = in_time(ends, reader.connection(home.opener())).await?;
        let began = Instant::now();
        let turn = connection.enter();
        let outcome = in_time(ends, call(&mut &connection.connection)).await;
        let is_first_to_fail = turn.end(outcome.as_ref().err());
        if let Err(failure) = &outcome {
            self.suspicions.note(failure, began);
            if is_first_to_fail && matches!(failure, Failure::OutOfTime) {
                // The statement that holds up all others; they go on when it has ended.
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

/// When a call that begins now must be over.
pub(crate) fn end_of_call(time_limit: Duration) -> Instant {
    Instant::now() + time_limit
}

/// Gives a call up when its time is over.
pub(crate) async fn in_time<T>(
    ends: Instant,
    call: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::time::timeout_at(ends.into(), call).await.unwrap_or(Err(Failure::OutOfTime))
}
