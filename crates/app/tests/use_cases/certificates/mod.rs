//! Certificates from an authority (D185 to D194).

mod budgets;
mod interruptions;
mod issuance;
mod renewals;
mod resealing;
mod setbacks;

use std::sync::Arc;
use std::time::Duration;

use signpost_app::background::{
    CheckDomains, Job, KeepCertificates, MaintainDomains, ObtainCertificates, Progress,
};
use signpost_app::certificates::{Issuance, ShownCertificate};
use signpost_app::domains;
use signpost_app::{Application, Caller};
use signpost_domain::{CustomDomain, CustomDomainStatus, DomainId, Email, Hostname};
use signpost_memory::{FakeCertificateAuthority, MarkingSealer};
use signpost_port_contracts::samples;

use crate::domain_owners::Owner;
use crate::given_domains::given_domain;
use crate::world::World;

pub(super) const SECOND: Duration = Duration::from_secs(1);
pub(super) const MINUTE: Duration = Duration::from_mins(1);
pub(super) const HOUR: Duration = Duration::from_hours(1);
pub(super) const DAY: Duration = Duration::from_hours(24);

/// A world whose program obtains certificates from a fake authority.
pub(super) struct Scene {
    pub(super) world: World,
    pub(super) authority: Arc<FakeCertificateAuthority>,
}

impl Scene {
    pub(super) async fn new() -> Self {
        let mut world = World::new().await;
        let authority = Arc::new(FakeCertificateAuthority::new(Arc::clone(&world.app.clock)));
        world.app = Arc::new(node(&world, &authority, 1, &[]));
        Self { world, authority }
    }

    /// Another node that orders at another authority.
    pub(super) fn ordering_at(&self, directory: &str) -> Arc<Application> {
        let app = node(&self.world, &self.authority, 1, &[]);
        let directory = directory.to_owned();
        let issuance = app.issuance.map(|issuance| Issuance { directory, ..issuance });
        Arc::new(Application { issuance, ..self.world.memory.application() })
    }

    /// Another node whose secrets are sealed by another sealer.
    pub(super) fn sealing(&self, sealer: MarkingSealer) -> Arc<Application> {
        let app = node(&self.world, &self.authority, sealer.number, &[]);
        let issuance = app.issuance.map(|issuance| Issuance { sealer: Arc::new(sealer), ..issuance });
        Arc::new(Application { issuance, ..self.world.memory.application() })
    }

    /// Another node, with this number of its secrets key.
    pub(super) fn node(&self, secrets_key: u8, own_names: &[&str]) -> Arc<Application> {
        Arc::new(node(&self.world, &self.authority, secrets_key, own_names))
    }

    pub(super) async fn owner(&self) -> Owner<'_> {
        Owner::first(&self.world).await
    }

    /// A domain of the world's account that was just proven.
    pub(super) async fn proven(&self, host: &str) -> CustomDomain {
        let owner = self.owner().await;
        let id = owner.connect(host).await.id;
        owner.publish_proof(host);
        self.world.point_here(host);
        assert_eq!(owner.verify(id).await, "ssl_pending");
        owner.get(id).await
    }

    /// A proven domain that is in the store already, for scenes with more of them than requests are allowed.
    pub(super) async fn given(&self, host: &str) -> CustomDomain {
        self.world.point_here(host);
        let expires_at = clock_now(&self.world).plus(3 * DAY);
        let status = CustomDomainStatus::SslPending { expires_at };
        given_domain(&self.world.app, self.world.account.id, host, status).await
    }

    /// A domain that is in service, from before certificates were ordered.
    pub(super) async fn in_service(&self, host: &str) -> CustomDomain {
        self.world.point_here(host);
        let status = CustomDomainStatus::Active { misdirected_since: None };
        given_domain(&self.world.app, self.world.account.id, host, status).await
    }

    /// The stored status of a domain, and the reason why its certificate is missing.
    pub(super) async fn stored(&self, domain: &CustomDomain) -> (&'static str, Option<String>) {
        let stored = self.world.app.store.custom_domain(domain.account_id, domain.id).await.unwrap().unwrap();
        let failure = stored.certificate.and_then(|certificate| certificate.plan.failure);
        (stored.domain.status.as_str(), failure.map(|failure| failure.reason.as_str().to_owned()))
    }

    /// A domain in service, with its certificate.
    pub(super) async fn served(&self, host: &str) -> CustomDomain {
        let domain = self.proven(host).await;
        self.pass(3 * SECOND).await;
        assert_eq!(self.status(domain.id).await, "active");
        domain
    }

    /// Lets time pass on one node: the jobs run every second for a minute, and then every minute.
    pub(super) async fn pass(&self, time: Duration) {
        self.pass_on(&[&self.world.app], time).await;
    }

    /// Lets time pass while these nodes run their jobs.
    pub(super) async fn pass_on(&self, nodes: &[&Arc<Application>], time: Duration) {
        let clock = &self.world.memory.clock;
        let (start, end) = (clock_now(&self.world), clock_now(&self.world).plus(time));
        loop {
            for app in nodes {
                run(app).await;
            }
            let now = clock_now(&self.world);
            if now >= end {
                return;
            }
            clock.advance(if now < start.plus(MINUTE) { SECOND } else { MINUTE });
        }
    }

    pub(super) async fn shown(&self, id: DomainId) -> ShownCertificate {
        let caller: Caller = self.world.caller().await;
        domains::get(&self.world.app, &caller, id.into()).await.unwrap().certificate
    }

    pub(super) async fn status(&self, id: DomainId) -> &'static str {
        self.owner().await.status(id).await
    }

    pub(super) async fn certificate_status(&self, id: DomainId) -> &'static str {
        self.shown(id).await.status.as_str()
    }

    /// The reason that the domain shows for its missing certificate.
    pub(super) async fn reason(&self, id: DomainId) -> Option<String> {
        self.shown(id).await.failure.map(|failure| failure.reason.as_str().to_owned())
    }

    /// How many orders the authority has got for a hostname.
    pub(super) fn orders_of(&self, host: &str) -> usize {
        let hostname = samples::hostname(host);
        self.authority.orders().iter().filter(|(ordered, _)| *ordered == hostname).count()
    }
}

pub(super) fn clock_now(world: &World) -> signpost_domain::Timestamp {
    world.app.clock.now()
}

fn node(
    world: &World,
    authority: &Arc<FakeCertificateAuthority>,
    secrets_key: u8,
    own_names: &[&str],
) -> Application {
    let issuance = Issuance {
        authority: Arc::<FakeCertificateAuthority>::clone(authority),
        directory: "https://fake.example.net/directory".to_owned(),
        contact: Email::parse("ada@example.com").unwrap(),
        sealer: Arc::new(MarkingSealer::of(secrets_key)),
        own_names: own_names.iter().map(|name| Hostname::parse(name).unwrap()).collect(),
    };
    Application { issuance: Some(issuance), ..world.memory.application() }
}

/// Runs the jobs of a node that have to do with certificates.
pub(super) async fn run(app: &Arc<Application>) {
    let jobs: [Box<dyn Job>; 4] = [
        Box::new(CheckDomains::new(Arc::clone(app))),
        Box::new(MaintainDomains::new(Arc::clone(&app.store), Arc::clone(&app.clock))),
        Box::new(KeepCertificates::new(Arc::clone(app))),
        Box::new(ObtainCertificates::new(Arc::clone(app))),
    ];
    for job in jobs {
        while job.step().await.unwrap() == Progress::More {}
    }
}
