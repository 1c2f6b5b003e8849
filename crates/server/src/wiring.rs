//! Wires the adapters into an application.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use signpost_app::admission::{AccountBounds, ClientAddresses, Gatekeeper};
use signpost_app::analytics::{Analytics, AnalyticsBounds};
use signpost_app::certificates::Issuance;
use signpost_app::node_health::NodeHealth;
use signpost_app::nodes::ThisNode;
use signpost_app::people::identity::ProviderSignIn;
use signpost_app::ports::{
    AgentReader, BotDetector, ClickSink, Clock, CountryLookup, DnsProvider, ExplainerSlot, IdSource as _,
    NoAgents, NoBots, NoCountries, NoPasswords, NodeId, PasswordHasher, ROOM_FOR_ANSWERS, RefusalCounts,
    ReportText, Sealer, TargetBlocklist,
};
use signpost_app::visits::LinkMemory;
use signpost_app::{Application, Lifecycle};
use signpost_click_recorder::ClickRecorder;
use signpost_domain::{CustomDomainScheme, Edge, HostnameRules, SystemDomain, TrustedProxies};
use signpost_oidc::OidcProvider;
use signpost_passwords::Argon2Hasher;
use tokio::task::JoinHandle;

use crate::agents::RecordedAgents;
use crate::background::Background;
use crate::bots::RecordedBots;
use crate::clicks::{CountedClicks, close_recorder, record_clicks};
use crate::country_database_file::CountryDatabaseFile;
use crate::https_wiring::{Certificates, issuance, serve_certificates};
use crate::name_servers;
use crate::sampled_metrics::PoolSampler;
use crate::secrets_key_file::HOW_TO_MAKE;
use crate::settings::{CommonSettings, Database, LinkSettings, ServeSettings, SettingsError, SignInSettings};
use crate::store_wiring::{IfNoDatabase, Stores};
use crate::system::{OsRandomness, SystemClock, UlidSource, machine_name};
use crate::target_blocklist_file::{EmptyBlocklist, TargetBlocklistFile};

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
    /// Builds the application for `serve`, and starts its tasks. `link_port` is the port of the link listener; `refusals` counts what
    /// the node refuses, if it records metrics.
    ///
    /// # Errors
    /// The database cannot be opened.
    pub(crate) async fn start(
        common: &CommonSettings,
        settings: &ServeSettings,
        link_port: u16,
        refusals: Option<Arc<dyn RefusalCounts>>,
    ) -> Result<Self> {
        let file = settings.target_blocklist.as_ref();
        let blocklist: Arc<dyn TargetBlocklist> = match file {
            Some(file) => Arc::<TargetBlocklistFile>::clone(file),
            None => Arc::new(EmptyBlocklist::default()),
        };
        let database = settings.gates.country_database.as_ref();
        let countries = database.map_or_else(no_countries, |file| file.lookup());
        let is_new_database = common.database.is_missing_file();
        let health: Arc<NodeHealth> = Arc::default();
        let parts = Parts {
            system: settings.system.clone(),
            blocklist,
            stale_limit: settings.plain.stale_limit,
            countries,
            bots: RecordedBots::of(&settings.clicks),
            agents: RecordedAgents::of(&settings.clicks),
            custom_domain_scheme: settings.custom_domain_scheme,
            hostname_rules: settings.domains.hostname_rules(
                &settings.system,
                common.dashboard_url.as_ref(),
                &settings.api_hostnames,
            ),
            edge: settings.domains.edge.clone(),
            dns: name_servers::dns(&settings.domains.name_servers, &health)?,
            trusted_proxies: settings.plain.trusted_proxies.clone(),
            throttle_per_minute: settings.plain.throttle_per_minute,
            account_bounds: settings.account_bounds,
            passwords: Arc::new(Argon2Hasher::new()?),
            link_passwords: Arc::new(Argon2Hasher::for_links()?),
            sealer: sealer(settings, is_new_database)?,
            issuance: issuance(common, settings, is_new_database)?,
            provider_sign_in: provider_sign_in(settings)?,
            health: Arc::clone(&health),
            refusals,
        };
        let mut stores =
            Stores::open(common, IfNoDatabase::Create, settings.plain.redis_url.as_ref()).await?;
        let pools = std::mem::take(&mut stores.pools);
        let recorder =
            record_clicks(&settings.clicks, &stores.clicks, &parts.countries, &health, is_new_database)
                .await?;
        let mut app = application(common, parts, stores, recorder.clone());
        // Nodes on one machine differ by it.
        app.node.host = ReportText::cut(&format!("{}:{link_port}", app.node.host.as_str()));
        let app = Arc::new(app);
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
    let parts = Parts {
        // Imports give links passwords.
        link_passwords: Arc::new(Argon2Hasher::for_links()?),
        ..Parts::of_command(system, blocklist, custom_domain_scheme)
    };
    let stores = Stores::open(common, IfNoDatabase::Fail, None).await?;
    Ok(application(common, parts, stores, None))
}

/// Seals with the secrets key, if there is one. A missing file is made as for clicks.
///
/// # Errors
/// The file cannot be made.
fn sealer(settings: &ServeSettings, is_new_database: bool) -> Result<Option<Arc<dyn Sealer>>> {
    let Some(file) = &settings.clicks.secrets_key else { return Ok(None) };
    Ok(Some(Arc::new(file.keys_or_new(&OsRandomness, is_new_database)?.sealer()?)))
}

/// How people sign in at an identity provider, if they may.
///
/// # Errors
/// The secrets key is missing, or there are no root certificates.
fn provider_sign_in(settings: &ServeSettings) -> Result<Option<ProviderSignIn>> {
    let Some(oidc) = &settings.oidc else { return Ok(None) };
    if settings.clicks.secrets_key.is_none() {
        anyhow::bail!(
            "`oidc-issuer` needs `secrets-key`, with which sign-ins on their way are encrypted in browsers: make a file with \
             {HOW_TO_MAKE}, and give the same file to all nodes"
        );
    }
    let provider = OidcProvider::new(oidc.options.clone(), Arc::new(SystemClock))
        .map_err(|error| SettingsError::at("`oidc-roots`", error.to_string()))?;
    let domains = settings.plain_oidc.oidc_domains.clone().unwrap_or_default();
    Ok(Some(ProviderSignIn::new(Arc::new(provider), domains)))
}

/// What an application needs beside the settings of every command.
struct Parts {
    system: SystemDomain,
    blocklist: Arc<dyn TargetBlocklist>,
    stale_limit: Duration,
    countries: Arc<dyn CountryLookup>,
    bots: Arc<dyn BotDetector>,
    agents: Arc<dyn AgentReader>,
    custom_domain_scheme: CustomDomainScheme,
    hostname_rules: HostnameRules,
    edge: Edge,
    dns: Arc<dyn DnsProvider>,
    trusted_proxies: TrustedProxies,
    throttle_per_minute: u32,
    account_bounds: AccountBounds,
    passwords: Arc<dyn PasswordHasher>,
    link_passwords: Arc<dyn PasswordHasher>,
    sealer: Option<Arc<dyn Sealer>>,
    issuance: Option<Issuance>,
    provider_sign_in: Option<ProviderSignIn>,
    health: Arc<NodeHealth>,
    refusals: Option<Arc<dyn RefusalCounts>>,
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
            agents: Arc::new(NoAgents),
            custom_domain_scheme,
            edge: Edge::default(),
            dns: name_servers::unused_dns(),
            trusted_proxies: TrustedProxies::default(),
            throttle_per_minute: 0,
            account_bounds: AccountBounds::NONE,
            passwords: Arc::new(NoPasswords),
            link_passwords: Arc::new(NoPasswords),
            sealer: None,
            issuance: None,
            provider_sign_in: None,
            health: Arc::default(),
            refusals: None,
        }
    }
}

fn no_countries() -> Arc<dyn CountryLookup> {
    Arc::new(NoCountries)
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
        agents,
        custom_domain_scheme,
        hostname_rules,
        edge,
        dns,
        trusted_proxies,
        throttle_per_minute,
        account_bounds,
        passwords,
        link_passwords,
        sealer,
        issuance,
        provider_sign_in,
        health,
        refusals,
    } = parts;
    let Stores { store, clicks: click_store, quota, shared_quota, node_reports, pools: _ } = stores;
    let recorder = recorder.map(|recorder| -> Arc<dyn ClickSink> { recorder });
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let ids = UlidSource::new(Arc::clone(&clock));
    let node = ThisNode {
        id: NodeId::from_bytes(ids.next_bits()),
        host: ReportText::cut(&machine_name()),
        started_at: clock.now(),
    };
    Application {
        store,
        quota,
        shared_quota,
        node_reports,
        node,
        ids: Arc::new(ids),
        clock,
        randomness: Arc::new(OsRandomness),
        passwords,
        link_passwords,
        sealer,
        issuance,
        dns,
        target_blocklist: blocklist,
        clicks: Arc::new(CountedClicks::before(recorder)),
        click_store,
        link_memory: Arc::new(LinkMemory::new(stale_limit)),
        countries,
        bots,
        agents,
        explainer: ExplainerSlot::default(),
        changes: Arc::default(),
        plans: common.plans.clone(),
        system,
        custom_domain_scheme,
        hostname_rules,
        edge,
        gatekeeper: Gatekeeper::new(throttle_per_minute, account_bounds),
        client_addresses: ClientAddresses::new(trusted_proxies),
        proxy_sign_in: common.sign_in.as_ref().map(SignInSettings::proxy_sign_in),
        provider_sign_in,
        room_for_answers: ROOM_FOR_ANSWERS,
        // A question may take as long as any other call to a store.
        analytics: Analytics::new(AnalyticsBounds {
            time_limit: common.store_timeout,
            ..AnalyticsBounds::default()
        }),
        health,
        refusals,
        lifecycle: Lifecycle::default(),
    }
}
