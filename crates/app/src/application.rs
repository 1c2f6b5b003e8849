//! What all use cases share: the ports, and what the operator configured.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use signpost_domain::{
    CustomDomainScheme, FeatureSet, HostBlocklist, LinkContext, NamedDomains, PixelId, Plans, SystemDomain,
    Timestamp, TrustedProxies,
};

use crate::admission::Gatekeeper;
use crate::changes::ChangeFeed;
use crate::lifecycle::Lifecycle;
use crate::ports::{Clock, IdSource, QuotaStore, Randomness, SharedQuotaStore, Store, TargetBlocklist};

/// No account has a custom domain yet, so whatever a request names but the system domain is unknown.
static NO_DOMAINS: LazyLock<NamedDomains> = LazyLock::new(NamedDomains::default);

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
    /// Hosts that may never be targets.
    pub target_blocklist: Arc<dyn TargetBlocklist>,
    /// Who on this node is told of changes that visitors can see.
    pub changes: Arc<ChangeFeed>,
    /// The plans.
    pub plans: Plans,
    /// The system domain.
    pub system: SystemDomain,
    /// The scheme of custom domains' addresses.
    pub custom_domain_scheme: CustomDomainScheme,
    /// This node's memory of who was refused and who was let in (D18).
    pub gatekeeper: Gatekeeper,
    /// The proxies whose word on a client's address is believed (D18).
    pub trusted_proxies: TrustedProxies,
    /// Whether the program is on its way out.
    pub lifecycle: Lifecycle,
}

impl Application {
    /// What the domain's rules need to know to judge a link of an account whose plan has `features`, and of whose pixels
    /// the request names `known_pixels`.
    pub(crate) fn link_context<'a>(
        &'a self,
        features: FeatureSet,
        blocklist: &'a HostBlocklist,
        known_pixels: &'a BTreeSet<PixelId>,
        now: Timestamp,
    ) -> LinkContext<'a> {
        LinkContext {
            system: &self.system,
            features,
            blocklist,
            named_domains: &NO_DOMAINS,
            known_pixels,
            now,
        }
    }
}
