//! Wires the adapters into an application.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use anyhow::Result;
use signpost_app::admission::{AccountBounds, ClientAddresses, Gatekeeper};
use signpost_app::analytics::{Analytics, AnalyticsBounds};
use signpost_app::certificates::Issuance;
use signpost_app::pool_usage::PoolUsage;
use signpost_app::ports::{
    BotDetector, ClickSink, ClickStore, Clock, CountId, CountryLookup, DnsProvider, MergingQuotaStore,
    NoBots, NoCountries, NoPasswords, PasswordHasher, QuotaStore, ROOM_FOR_ANSWERS, SharedQuotaStore, Store,
    TargetBlocklist,
};
use signpost_app::visits::LinkMemory;
use signpost_app::{Application, Lifecycle};
use signpost_click_recorder::ClickRecorder;
use signpost_domain::{CustomDomainScheme, Edge, HostnameRules, SystemDomain, TrustedProxies};
use signpost_passwords::Argon2Hasher;
use signpost_postgres::{PostgresOptions, PostgresStore};
use signpost_quota_fallback::{FallbackOptions, FallbackQuotaStore};
use signpost_redis::{RedisOptions, RedisQuotaStore, RedisUrl};
use signpost_sqlite::{SqliteClickStore, SqliteOptions, SqliteStore};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::background::Background;
use crate::bots::RecordedBots;
use crate::clicks::{CountedClicks, close_recorder, record_clicks};
use crate::country_database_file::CountryDatabaseFile;
use crate::https_wiring::{Certificates, issuance, serve_certificates};
use crate::name_servers;
use crate::sampled_metrics::PoolSampler;
use crate::settings::{CommonSettings, Database, LinkSettings, PoolSettings, ServeSettings, SignInSettings};
use crate::system::{OsRandomness, SystemClock, UlidSource};
use crate::target_blocklist_file::{EmptyBlocklist, TargetBlocklistFile};
use crate::upgrade_copies;

/// How long closing waits until the servers' threads have dropped the application.
const DROPPED_WITHIN: Duration = Duration::from_secs(2);

/// How long a stopping program sends clicks to the store. The rest waits in the spool.
const CLICKS_SENT_WITHIN: Duration = Duration::from_secs(3);

/// A serving application, and the tasks that end with it.
pub(crate) struct Serving {
    pub(crate) app: Arc<Application>,
    /// The samplers of the stores' pools, until the listener for metrics takes them.
    pools: Vec<PoolSampler>,
    background: Background,
    recorder: Option<Arc<ClickRecorder>>,
    /// The certificates of the listener of HTTPS, if there is one.
    certificates: Option<Certificates>,
    /// The tasks that follow files: the blocklist, the database of countries, the certificate.
    followers: Vec<JoinHandle<()>>,
}

impl Serving {
    /// Builds the application for `serve`, and starts its tasks.
    ///
    /// # Errors
    /// The database cannot be opened.
    pub(crate) async fn start(common: &CommonSettings, settings: &ServeSettings) -> Result<Self> {
        let file = settings.target_blocklist.as_ref();
        let blocklist: Arc<dyn TargetBlocklist> = match file {
            Some(file) => Arc::<TargetBlocklistFile>::clone(file),
            None => Arc::new(EmptyBlocklist::default()),
        };
        let database = settings.gates.country_database.as_ref();
        let countries = database.map_or_else(no_countries, |file| file.lookup());
        let is_new_database = common.database.is_missing_file();
        let parts = Parts {
            system: settings.system.clone(),
            blocklist,
            stale_limit: settings.plain.stale_limit,
            countries,
            bots: RecordedBots::of(&settings.clicks),
            custom_domain_scheme: settings.custom_domain_scheme,
            hostname_rules: settings.domains.hostname_rules(
                &settings.system,
                common.dashboard_url.as_ref(),
                &settings.api_hostnames,
            ),
            edge: settings.domains.edge.clone(),
            dns: name_servers::dns(&settings.domains.name_servers)?,
            trusted_proxies: settings.plain.trusted_proxies.clone(),
            throttle_per_minute: settings.plain.throttle_per_minute,
            account_bounds: settings.account_bounds,
            passwords: Arc::new(Argon2Hasher::new()?),
            issuance: issuance(common, settings, is_new_database)?,
        };
        let mut stores =
            Stores::open(common, IfNoDatabase::Create, settings.plain.redis_url.as_ref()).await?;
        let pools = std::mem::take(&mut stores.pools);
        let recorder =
            record_clicks(&settings.clicks, &stores.clicks, &parts.countries, is_new_database).await?;
        let app = Arc::new(application(common, parts, stores, recorder.clone()));
        let background = Background::start(&app, matches!(common.database, Database::File(_))).await;
        let mut followers = Vec::new();
        followers.extend(file.map(TargetBlocklistFile::follow));
        followers.extend(database.map(CountryDatabaseFile::follow));
        let certificates = match &settings.https {
            Some(https) => Some(serve_certificates(&app, settings, https, &mut followers).await?),
            None => None,
        };
        Ok(Self { app, pools, background, recorder, certificates, followers })
    }

    /// The samplers of the stores' pools.
    pub(crate) fn take_pools(&mut self) -> Vec<PoolSampler> {
        std::mem::take(&mut self.pools)
    }

    /// The certificates of the listener of HTTPS, if there is one.
    pub(crate) fn certificates(&self) -> Option<Certificates> {
        self.certificates.clone()
    }

    /// Marks the program as stopping, and leaves background work to other nodes.
    pub(crate) fn begin_stopping(&self) {
        self.app.lifecycle.begin_draining();
        self.background.hand_over();
    }

    /// Writes the received clicks to the spool. Call this instead of [`Serving::close`] when there is no time
    /// to stop in order.
    pub(crate) async fn save_clicks(self) {
        close_recorder(self.recorder, Duration::ZERO).await;
    }

    /// Closes the store after its pending work. Call this when the servers have stopped.
    pub(crate) async fn close(self) {
        let Self { app, pools, background, recorder, certificates, followers } = self;
        drop((pools, certificates));
        close_recorder(recorder, CLICKS_SENT_WITHIN).await;
        background.end().await;
        for follower in followers {
            follower.abort();
        }
        let start = Instant::now();
        while Arc::strong_count(&app) > 1 && start.elapsed() < DROPPED_WITHIN {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if Arc::strong_count(&app) > 1 {
            tracing::warn!("something still uses the store, which is closed only when the process ends");
        }
        // Dropping the store blocks until its threads have ended.
        if let Err(error) = tokio::task::spawn_blocking(|| drop(app)).await {
            tracing::error!(%error, "closing the store failed");
        }
    }
}

/// Builds the application for an operator's command. It shares only the database with a serving application.
///
/// # Errors
/// There is no database, or it cannot be opened.
pub(crate) async fn operators_application(common: &CommonSettings) -> Result<Application> {
    // No operator's command shows addresses of links.
    let system = SystemDomain::new("http://localhost", Vec::new())?;
    let parts = Parts::of_command(system, Arc::new(EmptyBlocklist::default()), CustomDomainScheme::default());
    // No operator's command counts requests.
    let stores = Stores::open(common, IfNoDatabase::Fail, None).await?;
    Ok(application(common, parts, stores, None))
}

/// Builds the application for `signpost certificate`, with the authority if the command gives the settings of `serve`.
///
/// # Errors
/// There is no database, or it cannot be opened; the authority's settings cannot be used.
pub(crate) async fn certificates_application(
    common: &CommonSettings,
    serve: Option<&ServeSettings>,
) -> Result<Application> {
    let mut app = operators_application(common).await?;
    if let Some(serve) = serve {
        app.issuance = issuance(common, serve, false)?;
    }
    Ok(app)
}

/// Builds the application for a command that validates links as `serve` does.
///
/// # Errors
/// There is no database, or it cannot be opened.
pub(crate) async fn link_application(common: &CommonSettings, links: LinkSettings) -> Result<Application> {
    let LinkSettings { system, target_blocklist, custom_domain_scheme } = links;
    let blocklist: Arc<dyn TargetBlocklist> = match target_blocklist {
        Some(file) => file,
        None => Arc::new(EmptyBlocklist::default()),
    };
    let parts = Parts::of_command(system, blocklist, custom_domain_scheme);
    let stores = Stores::open(common, IfNoDatabase::Fail, None).await?;
    Ok(application(common, parts, stores, None))
}

/// What an application needs beside the settings of every command.
struct Parts {
    system: SystemDomain,
    blocklist: Arc<dyn TargetBlocklist>,
    stale_limit: Duration,
    countries: Arc<dyn CountryLookup>,
    bots: Arc<dyn BotDetector>,
    custom_domain_scheme: CustomDomainScheme,
    hostname_rules: HostnameRules,
    edge: Edge,
    dns: Arc<dyn DnsProvider>,
    trusted_proxies: TrustedProxies,
    throttle_per_minute: u32,
    account_bounds: AccountBounds,
    passwords: Arc<dyn PasswordHasher>,
    issuance: Option<Issuance>,
}

impl Parts {
    /// The parts of a command that takes no requests, so it connects no domains and throttles no callers.
    fn of_command(
        system: SystemDomain,
        blocklist: Arc<dyn TargetBlocklist>,
        custom_domain_scheme: CustomDomainScheme,
    ) -> Self {
        Self {
            hostname_rules: HostnameRules::new(system.clone(), None, BTreeSet::new()),
            system,
            blocklist,
            stale_limit: Duration::ZERO,
            countries: no_countries(),
            bots: Arc::new(NoBots),
            custom_domain_scheme,
            edge: Edge::default(),
            dns: name_servers::unused_dns(),
            trusted_proxies: TrustedProxies::default(),
            throttle_per_minute: 0,
            account_bounds: AccountBounds::NONE,
            passwords: Arc::new(NoPasswords),
            issuance: None,
        }
    }
}

fn no_countries() -> Arc<dyn CountryLookup> {
    Arc::new(NoCountries)
}

/// What to do if `database-url` names a file that does not exist. If a command created it, an operator in the
/// wrong folder would work on an empty database (D61).
#[derive(Clone, Copy)]
enum IfNoDatabase {
    Create,
    Fail,
}

/// The stores behind the ports.
struct Stores {
    store: Arc<dyn Store>,
    clicks: Arc<dyn ClickStore>,
    quota: Arc<dyn QuotaStore>,
    shared_quota: Option<Arc<dyn SharedQuotaStore>>,
    pools: Vec<PoolSampler>,
}

impl Stores {
    async fn open(
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
                Self { store, clicks, quota, shared_quota: None, pools }
            }
            Database::Server(url) => {
                let options = postgres_options(*store_timeout, *pool);
                let store = Arc::new(PostgresStore::connect(url.expose(), &options).await?);
                Self {
                    store: Arc::<PostgresStore>::clone(&store),
                    clicks: Arc::<PostgresStore>::clone(&store),
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

fn application(
    common: &CommonSettings,
    parts: Parts,
    stores: Stores,
    recorder: Option<Arc<ClickRecorder>>,
) -> Application {
    let Parts {
        system,
        blocklist,
        stale_limit,
        countries,
        bots,
        custom_domain_scheme,
        hostname_rules,
        edge,
        dns,
        trusted_proxies,
        throttle_per_minute,
        account_bounds,
        passwords,
        issuance,
    } = parts;
    let Stores { store, clicks: click_store, quota, shared_quota, pools: _ } = stores;
    let recorder = recorder.map(|recorder| -> Arc<dyn ClickSink> { recorder });
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    Application {
        store,
        quota,
        shared_quota,
        ids: Arc::new(UlidSource::new(Arc::clone(&clock))),
        clock,
        randomness: Arc::new(OsRandomness),
        passwords,
        issuance,
        dns,
        target_blocklist: blocklist,
        clicks: Arc::new(CountedClicks::before(recorder)),
        click_store,
        link_memory: Arc::new(LinkMemory::new(stale_limit)),
        countries,
        bots,
        changes: Arc::default(),
        plans: common.plans.clone(),
        system,
        custom_domain_scheme,
        hostname_rules,
        edge,
        gatekeeper: Gatekeeper::new(throttle_per_minute, account_bounds),
        client_addresses: ClientAddresses::new(trusted_proxies),
        proxy_sign_in: common.sign_in.as_ref().map(SignInSettings::proxy_sign_in),
        room_for_answers: ROOM_FOR_ANSWERS,
        // A question may take as long as any other call to a store.
        analytics: Analytics::new(AnalyticsBounds {
            time_limit: common.store_timeout,
            ..AnalyticsBounds::default()
        }),
        lifecycle: Lifecycle::default(),
    }
}
