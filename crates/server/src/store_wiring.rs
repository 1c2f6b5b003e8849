//! Opens the stores behind the ports: the embedded ones, or PostgreSQL, with or without Redis.

use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::Result;
use signpost_app::pool_usage::PoolUsage;
use signpost_app::ports::{
    ClickStore, CountId, MergingQuotaStore, NodeReports, QuotaStore, SharedQuotaStore, Store,
};
use signpost_postgres::{PostgresOptions, PostgresStore};
use signpost_quota_fallback::{FallbackOptions, FallbackQuotaStore};
use signpost_redis::{RedisOptions, RedisQuotaStore, RedisUrl};
use signpost_sqlite::{SqliteClickStore, SqliteOptions, SqliteStore};
use tokio::runtime::Handle;

use crate::sampled_metrics::PoolSampler;
use crate::settings::{CommonSettings, Database, PoolSettings};
use crate::system::{OsRandomness, SystemClock};
use crate::upgrade_copies;

/// What to do if `database-url` names a file that does not exist. If a command created it, an operator in the
/// wrong folder would work on an empty database (D61).
#[derive(Clone, Copy)]
pub(crate) enum IfNoDatabase {
    Create,
    Fail,
}

/// The stores behind the ports.
pub(crate) struct Stores {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clicks: Arc<dyn ClickStore>,
    pub(crate) quota: Arc<dyn QuotaStore>,
    pub(crate) shared_quota: Option<Arc<dyn SharedQuotaStore>>,
    /// `None` if only one node can use the store.
    pub(crate) node_reports: Option<Arc<dyn NodeReports>>,
    pub(crate) pools: Vec<PoolSampler>,
}

impl Stores {
    /// Opens the stores of the settings.
    ///
    /// # Errors
    /// There is no database, or it cannot be opened.
    pub(crate) async fn open(
        common: &CommonSettings,
        if_no_database: IfNoDatabase,
        redis: Option<&RedisUrl>,
    ) -> Result<Self> {
        let CommonSettings { database, store_timeout, pool, .. } = common;
        let stores = match database {
            Database::File(file) => {
                upgrade_copies::make(file, *store_timeout)?;
                let options = SqliteOptions { time_limit: *store_timeout, ..SqliteOptions::default() };
                let clicks = Arc::new(match if_no_database {
                    IfNoDatabase::Create => SqliteClickStore::open(file, &options)?,
                    IfNoDatabase::Fail => SqliteClickStore::open_existing(file, &options)?,
                });
                let store = Arc::new(match if_no_database {
                    IfNoDatabase::Create => SqliteStore::open(file, &options)?,
                    IfNoDatabase::Fail => SqliteStore::open_existing(file, &options)?,
                });
                let (of_links, of_clicks) = (Arc::downgrade(&store), Arc::downgrade(&clicks));
                let pools = vec![
                    sampler(of_links, SqliteStore::pool_usage),
                    sampler(of_clicks, SqliteClickStore::pool_usage),
                ];
                // On a full disk requests are counted in memory, so that reads still work.
                let quota = fallback(store.clone(), FallbackOptions::for_disk(*store_timeout))?;
                Self { store, clicks, quota, shared_quota: None, node_reports: None, pools }
            }
            Database::Server(url) => {
                let options = postgres_options(*store_timeout, *pool);
                let store = Arc::new(PostgresStore::connect(url.expose(), &options).await?);
                Self {
                    store: Arc::<PostgresStore>::clone(&store),
                    clicks: Arc::<PostgresStore>::clone(&store),
                    node_reports: Some(Arc::<PostgresStore>::clone(&store)),
                    pools: vec![sampler(Arc::downgrade(&store), PostgresStore::pool_usage)],
                    quota: store,
                    shared_quota: None,
                }
            }
        };
        let Some(url) = redis else { return Ok(stores) };
        let mut stores = stores;
        // Not `store-timeout`, which belongs to the database: the fallback before Redis gives up after 50 ms
        // (D19).
        let options = RedisOptions::default();
        let clock = Arc::new(SystemClock);
        let shared = Arc::new(RedisQuotaStore::open(url.clone(), options, clock)?);
        stores.pools.push(sampler(Arc::downgrade(&shared), RedisQuotaStore::pool_usage));
        let quota = fallback(shared, FallbackOptions::default())?;
        Ok(Self { quota: Arc::<FallbackQuotaStore>::clone(&quota), shared_quota: Some(quota), ..stores })
    }
}

/// A sampler that does not keep the store open.
fn sampler<S: Send + Sync + 'static>(store: Weak<S>, usage: fn(&S) -> Vec<PoolUsage>) -> PoolSampler {
    Box::new(move || store.upgrade().map(|store| usage(&store)).unwrap_or_default())
}

/// Wraps a quota store in a fallback that counts in memory while the store fails (D19).
fn fallback(store: Arc<dyn MergingQuotaStore>, options: FallbackOptions) -> Result<Arc<FallbackQuotaStore>> {
    let first = CountId::random(&OsRandomness)?;
    Ok(Arc::new(FallbackQuotaStore::new(store, options, first, Handle::current())))
}

/// The options of PostgreSQL: the operator's settings, and `store-timeout` for each time limit that is not set.
pub(crate) fn postgres_options(store_timeout: Duration, pool: PoolSettings) -> PostgresOptions {
    let PoolSettings { connections, wait, statement_timeout } = pool;
    let default = PostgresOptions::with_time_limit(store_timeout);
    PostgresOptions {
        connections: connections.unwrap_or(default.connections),
        wait_limit: wait.unwrap_or(default.wait_limit),
        statement_limit: statement_timeout.unwrap_or(default.statement_limit),
        ..default
    }
}
