//! A complete application on fakes.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use signpost_app::admission::{AccountBounds, ClientAddresses, Gatekeeper};
use signpost_app::analytics::{Analytics, AnalyticsBounds};
use signpost_app::nodes::ThisNode;
use signpost_app::ports::{Clock, ExplainerSlot, NodeId, ROOM_FOR_ANSWERS, ReportText};
use signpost_app::visits::LinkMemory;
use signpost_app::{Application, Lifecycle};
use signpost_domain::{
    CustomDomainScheme, Edge, Hostname, HostnameRules, Plans, SpecialUseName, SystemDomain, Timestamp,
    TrustedProxies,
};

use crate::agents::FixedAgents;
use crate::blocklist::FixedBlocklist;
use crate::bots::FixedBots;
use crate::click_store::MemoryClickStore;
use crate::clicks::KeptClicks;
use crate::clock::ManualClock;
use crate::countries::FixedCountries;
use crate::dns::FakeDns;
use crate::explainer::FakeExplainer;
use crate::ids::SequentialIds;
use crate::passwords::PlainPasswords;
use crate::quota::MemoryQuotaStore;
use crate::randomness::SeededRandomness;
use crate::sealer::MarkingSealer;
use crate::store::MemoryStore;

/// The fakes and the configuration of an application, which a test can inspect and change.
///
/// The default has a system domain at `https://go.example.com`, the built-in plans, the throttle of D18, and
/// the program's default limits on requests in flight. Its edge is named `edge.example.net` and has the
/// addresses `192.0.2.1` and `2001:db8::1`.
#[derive(Clone)]
pub struct InMemory {
    /// The store.
    pub store: MemoryStore,
    /// The request counts.
    pub quota: Arc<MemoryQuotaStore>,
    /// The time.
    pub clock: Arc<ManualClock>,
    /// New identifiers.
    pub ids: Arc<SequentialIds>,
    /// Random bytes.
    pub randomness: Arc<SeededRandomness>,
    /// The passwords of people.
    pub passwords: Arc<PlainPasswords>,
    /// The passwords of links.
    pub link_passwords: Arc<PlainPasswords>,
    /// DNS.
    pub dns: Arc<FakeDns>,
    /// Hosts that may never be targets.
    pub target_blocklist: Arc<FixedBlocklist>,
    /// Clicks of visitors.
    pub clicks: Arc<KeptClicks>,
    /// Recorded clicks.
    pub click_store: Arc<MemoryClickStore>,
    /// How long links in memory stay valid after the last read of the change log (D58).
    pub stale_limit: Duration,
    /// The countries of visitors.
    pub countries: Arc<FixedCountries>,
    /// The agents of bots.
    pub bots: Arc<FixedBots>,
    /// The facts of visitors' agents.
    pub agents: Arc<FixedAgents>,
    /// Explanations of visits, until a link listener puts its own in their place.
    pub explainer: Arc<FakeExplainer>,
    /// The plans.
    pub plans: Plans,
    /// The system domain.
    pub system: SystemDomain,
    /// The scheme of URLs on custom domains.
    pub custom_domain_scheme: CustomDomainScheme,
    /// The edge that custom domains must point to.
    pub edge: Edge,
    /// The special-use names that may be connected (D37).
    pub allowed_special_use: BTreeSet<SpecialUseName>,
    /// How many rejected requests one address may send in a minute (D18); 0 means no limit.
    pub rejections_per_minute: u32,
    /// How many requests of one account each application handles at once.
    pub account_bounds: AccountBounds,
    /// How much analytics work each application does at once.
    pub analytics_bounds: AnalyticsBounds,
    /// The proxies that may name a client's address.
    pub trusted_proxies: TrustedProxies,
}

/// The default of D18.
const REJECTIONS_PER_MINUTE: u32 = 30;

/// The default of D58.
const STALE_LIMIT: Duration = Duration::from_mins(15);

impl InMemory {
    /// Empty fakes behind this system domain.
    #[must_use]
    pub fn new(system: SystemDomain) -> Self {
        let clock = Arc::new(ManualClock::default());
        let now: Arc<dyn Clock> = Arc::<ManualClock>::clone(&clock);
        Self {
            store: MemoryStore::on_clock(Arc::clone(&now)),
            quota: Arc::new(MemoryQuotaStore::new()),
            ids: Arc::new(SequentialIds::new(now)),
            clock,
            randomness: Arc::default(),
            passwords: Arc::default(),
            link_passwords: Arc::default(),
            dns: Arc::default(),
            target_blocklist: Arc::default(),
            clicks: Arc::default(),
            click_store: Arc::default(),
            stale_limit: STALE_LIMIT,
            countries: Arc::default(),
            bots: Arc::default(),
            agents: Arc::default(),
            explainer: Arc::new(FakeExplainer::new(system.clone())),
            plans: Plans::builtin(),
            system,
            custom_domain_scheme: CustomDomainScheme::Https,
            edge: default_edge(),
            allowed_special_use: BTreeSet::new(),
            rejections_per_minute: REJECTIONS_PER_MINUTE,
            account_bounds: AccountBounds::default(),
            analytics_bounds: AnalyticsBounds::default(),
            trusted_proxies: TrustedProxies::default(),
        }
    }

    /// An application on these fakes. Each call makes another one: they are nodes that share their stores, each with its own
    /// throttle. They tell each other nothing, like a node with an embedded store.
    #[must_use]
    pub fn application(&self) -> Application {
        let Self {
            store,
            quota,
            clock,
            ids,
            randomness,
            passwords,
            link_passwords,
            dns,
            target_blocklist,
            clicks,
            click_store,
            stale_limit,
            countries,
            bots,
            agents,
            explainer,
            plans,
            system,
            custom_domain_scheme,
            edge,
            allowed_special_use,
            rejections_per_minute,
            account_bounds,
            analytics_bounds,
            trusted_proxies,
        } = self.clone();
        let hostname_rules = HostnameRules::new(system.clone(), edge.hostname.clone(), allowed_special_use);
        Application {
            store: Arc::new(store),
            quota,
            shared_quota: None,
            node_reports: None,
            node: this_node(clock.now()),
            clock,
            ids,
            randomness,
            passwords,
            link_passwords,
            sealer: Some(Arc::new(MarkingSealer::default())),
            issuance: None,
            dns,
            target_blocklist,
            clicks,
            click_store,
            link_memory: Arc::new(LinkMemory::new(stale_limit)),
            countries,
            bots,
            agents,
            explainer: ExplainerSlot::holding(explainer),
            changes: Arc::default(),
            plans,
            system,
            custom_domain_scheme,
            hostname_rules,
            edge,
            gatekeeper: Gatekeeper::new(rejections_per_minute, account_bounds),
            client_addresses: ClientAddresses::new(trusted_proxies),
            proxy_sign_in: None,
            provider_sign_in: None,
            room_for_answers: ROOM_FOR_ANSWERS,
            analytics: Analytics::new(analytics_bounds),
            health: Arc::default(),
            refusals: None,
            lifecycle: Lifecycle::default(),
        }
    }
}

/// Another node at each call.
fn this_node(now: Timestamp) -> ThisNode {
    static NODES: AtomicU64 = AtomicU64::new(1);
    let number = NODES.fetch_add(1, Ordering::Relaxed);
    let id = NodeId::from_bytes(u128::from(number).to_be_bytes());
    ThisNode { id, host: ReportText::cut("node.test"), started_at: now }
}

fn default_edge() -> Edge {
    let addresses: [IpAddr; 2] =
        [Ipv4Addr::new(192, 0, 2, 1).into(), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into()];
    Edge { hostname: Hostname::parse("edge.example.net").ok(), addresses: addresses.into() }
}

impl Default for InMemory {
    #[expect(
        clippy::expect_used,
        reason = "the origin is a constant, and every test that uses this reads it"
    )]
    fn default() -> Self {
        Self::new(SystemDomain::new("https://go.example.com", Vec::new()).expect("is an origin"))
    }
}
