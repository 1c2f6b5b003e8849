//! Accounts that connect hostnames, and the records in their zones.

use signpost_app::domains::{self, Connected, DomainWithInstructions};
use signpost_app::idempotency::Idempotency;
use signpost_app::visits::{self, Resolution};
use signpost_app::{AppError, Caller};
use signpost_domain::{
    AccountId, CustomDomain, DomainId, PageLimit, Precondition, Redirect, RedirectRequest, Refusal,
    VerificationRecord,
};
use signpost_port_contracts::samples;

use crate::given_domains::draft_on;
use crate::world::{World, create_as};

/// The default hostname of tests.
pub(crate) const HOST: &str = "links.shop.com";

/// An account and what it does with its hostnames.
pub(crate) struct Owner<'a> {
    pub(crate) world: &'a World,
    pub(crate) caller: Caller,
}

impl<'a> Owner<'a> {
    /// The world's own account.
    pub(crate) async fn first(world: &'a World) -> Self {
        Self { world, caller: world.caller().await }
    }

    /// One more account.
    pub(crate) async fn another(world: &'a World) -> Self {
        Self { world, caller: world.stranger().await }
    }

    pub(crate) fn account(&self) -> AccountId {
        self.caller.account_id()
    }

    pub(crate) async fn try_to_connect(&self, host: &str) -> Result<Connected, AppError> {
        domains::connect(&self.world.app, &self.caller, host, Idempotency::disabled()).await
    }

    /// Connects what is free.
    pub(crate) async fn connect(&self, host: &str) -> CustomDomain {
        self.try_to_connect(host).await.unwrap().domain.domain
    }

    pub(crate) async fn try_to_verify(&self, id: DomainId) -> Result<DomainWithInstructions, AppError> {
        domains::verify(&self.world.app, &self.caller, id.into(), Idempotency::disabled()).await
    }

    /// Verifies a domain and returns its status.
    pub(crate) async fn verify(&self, id: DomainId) -> &'static str {
        self.try_to_verify(id).await.unwrap().domain.status.as_str()
    }

    pub(crate) async fn delete(&self, id: DomainId) -> Result<DomainId, AppError> {
        domains::delete(&self.world.app, &self.caller, id.into(), &Precondition::None).await
    }

    pub(crate) async fn get(&self, id: DomainId) -> CustomDomain {
        domains::get(&self.world.app, &self.caller, id.into()).await.unwrap().domain
    }

    /// The status as it is shown now.
    pub(crate) async fn status(&self, id: DomainId) -> &'static str {
        self.get(id).await.status.as_str()
    }

    /// All of the account's domains as the list shows them.
    pub(crate) async fn list(&self) -> Vec<CustomDomain> {
        let limit = PageLimit::new(100).unwrap();
        let page = domains::list(&self.world.app, &self.caller, limit, None).await.unwrap();
        page.items.into_iter().map(|shown| shown.domain).collect()
    }

    /// Adds the account's `TXT` record, in the place of all others.
    pub(crate) fn publish_proof(&self, host: &str) {
        let record = self.record(host);
        self.world.memory.dns.set_texts(&record.name(), [record.value()]);
    }

    pub(crate) fn record(&self, host: &str) -> VerificationRecord {
        VerificationRecord::of(self.account(), &samples::hostname(host))
    }

    /// The refusal of a hostname that another account holds.
    pub(crate) fn taken(&self, host: &str) -> Refusal {
        Refusal::HostnameTaken { record: Box::new(self.record(host)) }
    }

    /// Connects a hostname and brings it into service.
    pub(crate) async fn activate(&self, host: &str) -> CustomDomain {
        let id = self.connect(host).await.id;
        self.publish_proof(host);
        self.world.point_here(host);
        assert_eq!(self.verify(id).await, "active");
        self.get(id).await
    }

    /// Creates a redirect on an active domain.
    pub(crate) async fn link(&self, host: &str, slug: Option<&str>) -> Redirect {
        self.try_to_link(draft_on(host, slug)).await.unwrap()
    }

    pub(crate) async fn try_to_link(&self, draft: RedirectRequest) -> Result<Redirect, AppError> {
        create_as(&self.world.app, &self.caller, draft).await
    }
}

impl World {
    /// From now on the hostname points at the edge.
    pub(crate) fn point_here(&self, host: &str) {
        self.memory.dns.set_alias(host, "edge.example.net");
    }

    /// From now on the hostname points elsewhere.
    pub(crate) fn point_elsewhere(&self, host: &str) {
        self.memory.dns.set_addresses(host, ["203.0.113.80".parse().unwrap()]);
    }

    /// Whether this address leads anywhere.
    pub(crate) async fn resolves(&self, host: &str, slug: Option<&str>) -> bool {
        self.resolved(host, slug).await.resolution != Resolution::NotThere
    }

    /// Where an address leads.
    pub(crate) async fn resolved(&self, host: &str, slug: Option<&str>) -> visits::Resolved {
        let address = visits::address_of(&self.app, samples::hostname(host), slug.map(samples::slug));
        visits::resolve(&self.app, address).await.unwrap()
    }

    pub(crate) async fn may_have_certificate(&self, host: &str) -> bool {
        match domains::certifiable_hostname(&self.app, host) {
            None => false,
            Some(hostname) => domains::may_have_certificate(&self.app, &hostname).await.unwrap(),
        }
    }
}
