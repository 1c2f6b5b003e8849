//! Stores and servers for a single test.

use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::{Clock, QuotaStore as _, StoreError};
use signpost_domain::{AccountId, RequestBudget};
use signpost_memory::ManualClock;
use signpost_port_contracts::samples;
use signpost_redis::{RedisOptions, RedisQuotaStore};
use signpost_test_servers::redis::{RedisServer, Setup};

pub(crate) const WHO: &str = "crates/redis";

/// Longer than anything takes here. Only a failure waits for it.
pub(crate) const AT_LAST: Duration = Duration::from_secs(90);

pub(crate) const BUDGET: RequestBudget = RequestBudget { per_minute: 1_000, per_day: 10_000 };

pub(crate) fn server() -> RedisServer {
    RedisServer::start(WHO)
}

/// A server that keeps its counts when it is killed.
pub(crate) fn lasting_server() -> RedisServer {
    RedisServer::start_with(WHO, &Setup { keeps: true, ..Setup::default() })
}

/// Options whose time limit ends only calls that hang: no answer of a busy machine takes that long.
pub(crate) fn options() -> RedisOptions {
    RedisOptions { time_limit: Duration::from_secs(20), ..RedisOptions::default() }
}

pub(crate) fn open(url: &str) -> RedisQuotaStore {
    open_with(url, options())
}

pub(crate) fn open_with_time_limit(url: &str, time_limit: Duration) -> RedisQuotaStore {
    open_with(url, RedisOptions { time_limit, ..RedisOptions::default() })
}

/// A clock that stands still.
pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(ManualClock::new(samples::at(0)))
}

pub(crate) fn open_with(url: &str, options: RedisOptions) -> RedisQuotaStore {
    RedisQuotaStore::open(url.parse().unwrap(), options, clock()).unwrap()
}

pub(crate) async fn admit(store: &RedisQuotaStore, account: AccountId) -> Result<(), StoreError> {
    store.admit(account, BUDGET, samples::at(0)).await.map(|_| ())
}

/// How many requests of today the store has counted.
pub(crate) async fn counted(store: &RedisQuotaStore, account: AccountId) -> u32 {
    BUDGET.per_day - store.remaining(account, BUDGET, samples::at(0)).await.unwrap().day
}

/// The whole chain of causes.
pub(crate) fn unavailable<T: std::fmt::Debug>(result: Result<T, StoreError>) -> String {
    match result.unwrap_err() {
        StoreError::Unavailable(cause) => cause.to_string(),
        error @ (StoreError::Unwritable(_) | StoreError::Contended | StoreError::Corrupt { .. }) => {
            panic!("{error:?}")
        }
    }
}

/// The key of the account's counts on the day of the samples.
pub(crate) fn key(account: AccountId) -> String {
    format!("signpost:quota:{{{account}}}:2026-01-31")
}
