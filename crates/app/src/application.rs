//! What all use cases share: the ports, and the operator's configuration.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signpost_domain::{
    CustomDomainScheme, Edge, HostnameRules, PartIds, Plans, RuleId, SplitKey, SystemDomain, WidgetId,
};

use crate::admission::{ClientAddresses, Gatekeeper, ProxySignIn};
use crate::analytics::Analytics;
use crate::certificates::Issuance;
use crate::changes::ChangeFeed;
use crate::node_health::NodeHealth;
use crate::nodes::ThisNode;
use crate::people::identity::ProviderSignIn;
use crate::ports::{
    AgentReader, BotDetector, ClickSink, ClickStore, Clock, CountryLookup, DnsProvider, ExplainerSlot,
    IdSource, NodeReports, PasswordHasher, QuotaStore, Randomness, RefusalCounts, Sealer, SharedQuotaStore,
    Store, TargetBlocklist,
};
use crate::visits::LinkMemory;

/// The ports and the configuration of one running program.
pub struct Application {
    /// Stores accounts, links and everything else except clicks.
    pub store: Arc<dyn Store>,
    /// Counts requests.
    pub quota: Arc<dyn QuotaStore>,
    /// The store behind `quota`, if nodes share it and it is not the database. Health checks report on it.
    pub shared_quota: Option<Arc<dyn SharedQuotaStore>>,
    /// The reports of the nodes that share `store`. `None` if this node has it to itself (ADR 91).
    pub node_reports: Option<Arc<dyn NodeReports>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New identifiers.
    pub ids: Arc<dyn IdSource>,
    /// Random bytes.
    pub randomness: Arc<dyn Randomness>,
    /// Hashes the passwords of people.
    pub passwords: Arc<dyn PasswordHasher>,
    /// Hashes the passwords of links, so that whoever guesses at links keeps nobody from signing in (D131).
    pub link_passwords: Arc<dyn PasswordHasher>,
    /// Seals secrets of people that go into the store or to their browsers. `None` without a secrets key (D192).
    pub sealer: Option<Arc<dyn Sealer>>,
    /// How certificates are obtained. `None` if TLS ends in front of the service, or the operator has certificates (D180).
    pub issuance: Option<Issuance>,
    /// Looks up custom domains in DNS.
    pub dns: Arc<dyn DnsProvider>,
    /// Hosts that may never be targets.
    pub target_blocklist: Arc<dyn TargetBlocklist>,
    /// Takes the clicks of visitors.
    pub clicks: Arc<dyn ClickSink>,
    /// Stores and counts recorded clicks.
    pub click_store: Arc<dyn ClickStore>,
    /// Whether visits may be answered from the links in this node's memory (D58).
    pub link_memory: Arc<LinkMemory>,
    /// Looks up the countries of visitors (D55).
    pub countries: Arc<dyn CountryLookup>,
    /// Tells the visits of bots from those of people (D48, D57).
    pub bots: Arc<dyn BotDetector>,
    /// Names the devices, systems and browsers of visitors (D133).
    pub agents: Arc<dyn AgentReader>,
    /// Explains what visits of this node would get (D136). What serves visits fills it.
    pub explainer: ExplainerSlot,
    /// Publishes changes that visitors can see to the parts of this node.
    pub changes: Arc<ChangeFeed>,
    /// The plans.
    pub plans: Plans,
    /// The system domain.
    pub system: SystemDomain,
    /// The scheme of custom domains' addresses.
    pub custom_domain_scheme: CustomDomainScheme,
    /// Which hostnames may be connected (D37).
    pub hostname_rules: HostnameRules,
    /// Where custom domains have to point (D38, D39).
    pub edge: Edge,
    /// This node's state of admission (D18).
    pub gatekeeper: Gatekeeper,
    /// Finds out which address a request counts for (D18).
    pub client_addresses: ClientAddresses,
    /// The proxy that signs people in, if there is one. Passwords are off then (D77).
    pub proxy_sign_in: Option<ProxySignIn>,
    /// The identity provider at which people may sign in, if there is one. Its flows need the `sealer` (D77).
    pub provider_sign_in: Option<ProviderSignIn>,
    /// How many bytes of answers are remembered for one account (D12).
    pub room_for_answers: u64,
    /// Limits how much of this node analytics may use.
    pub analytics: Analytics,
    /// Who this node is among those that share the store.
    pub node: ThisNode,
    /// What this node has noticed about the parts that it depends on.
    pub health: Arc<NodeHealth>,
    /// What this node has refused since it started. `None` if it records no metrics.
    pub refusals: Option<Arc<dyn RefusalCounts>>,
    /// Whether the program is shutting down.
    pub lifecycle: Lifecycle,
}

/// Tells readiness checks that the program was asked to stop, before it stops accepting connections (D64).
#[derive(Debug, Default)]
pub struct Lifecycle {
    draining: AtomicBool,
}

impl Lifecycle {
    /// From now on the program is not ready. This cannot be undone.
    pub fn begin_draining(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// Whether the program was asked to stop.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }
}

impl PartIds for Application {
    fn next_widget_id(&self) -> WidgetId {
        self.ids.next()
    }

    fn next_rule_id(&self) -> RuleId {
        self.ids.next()
    }

    fn next_split_key(&self) -> SplitKey {
        let mut bytes = [0; 16];
        if self.randomness.fill(&mut bytes).is_err() {
            // The key is no secret: it only has to be another one for each redirect.
            bytes = self.ids.next_bits();
        }
        SplitKey::from_bytes(bytes)
    }
}
