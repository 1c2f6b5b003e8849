//! What all use cases share: the ports, and what the operator configured.

use std::sync::Arc;

use signpost_domain::{CustomDomainScheme, Edge, HostnameRules, Plans, SystemDomain, WidgetId, WidgetIds};

use crate::admission::{ClientAddresses, Gatekeeper};
use crate::analytics::Analytics;
use crate::changes::ChangeFeed;
use crate::lifecycle::Lifecycle;
use crate::ports::{
    ClickSink, ClickStore, Clock, CountryLookup, DnsProvider, IdSource, QuotaStore, Randomness,
    SharedQuotaStore, Store, TargetBlocklist,
};
use crate::visits::LinkMemory;

/// The ports and the configuration of one running program.
pub struct Application {
    /// What is kept.
    pub store: Arc<dyn Store>,
    /// Where requests are counted.
    pub quota: Arc<dyn QuotaStore>,
    /// What stands behind `quota`, if that is shared by nodes and not the database: health checks tell of it.
    pub shared_quota: Option<Arc<dyn SharedQuotaStore>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New identifiers.
    pub ids: Arc<dyn IdSource>,
    /// Random bytes.
    pub randomness: Arc<dyn Randomness>,
    /// What DNS says of custom domains.
    pub dns: Arc<dyn DnsProvider>,
    /// Hosts that may never be targets.
    pub target_blocklist: Arc<dyn TargetBlocklist>,
    /// Who takes over the clicks of visitors.
    pub clicks: Arc<dyn ClickSink>,
    /// Where recorded clicks are kept and counted.
    pub click_store: Arc<dyn ClickStore>,
    /// How far this node may trust the links it has in memory (D58).
    pub link_memory: Arc<LinkMemory>,
    /// Where visitors are (D55).
    pub countries: Arc<dyn CountryLookup>,
    /// Who on this node is told of changes that visitors can see.
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
    /// This node's memory of who was refused and who was let in (D18).
    pub gatekeeper: Gatekeeper,
    /// Whose address a request counts for (D18).
    pub client_addresses: ClientAddresses,
    /// How many bytes of answers are remembered for one account (D12).
    pub room_for_answers: u64,
    /// How much of this node questions about clicks may take.
    pub analytics: Analytics,
    /// Whether the program is on its way out.
    pub lifecycle: Lifecycle,
}

impl WidgetIds for Application {
    fn next_widget_id(&self) -> WidgetId {
        self.ids.next()
    }
}
