//! Custom domains in any state, stored without the use cases that lead there.

use signpost_app::Application;
use signpost_app::ports::LinksOf;
use signpost_domain::{
    AccountId, Change, CheckPlan, CustomDomain, CustomDomainStatus, HostReference, RedirectRequest,
};
use signpost_port_contracts::samples;

use crate::world::{World, draft_without_slug};

pub(crate) const ACTIVE: CustomDomainStatus = CustomDomainStatus::Active { misdirected_since: None };

/// The states without service, long before their deadlines.
pub(crate) fn not_active(app: &Application) -> [CustomDomainStatus; 3] {
    let expires_at = app.clock.now().plus(std::time::Duration::from_hours(1));
    [
        CustomDomainStatus::Pending { expires_at },
        CustomDomainStatus::SslPending { expires_at },
        CustomDomainStatus::Failed,
    ]
}

/// A plan without any check.
pub(crate) const UNCHECKED: CheckPlan = CheckPlan { next_check_at: None, checks_made: 0 };

/// A domain of an account.
pub(crate) async fn given_domain(
    app: &Application,
    account: AccountId,
    host: &str,
    status: CustomDomainStatus,
) -> CustomDomain {
    let now = app.clock.now();
    let domain = CustomDomain {
        status,
        ..CustomDomain::connect(app.ids.next(), account, samples::hostname(host), now)
    };
    let mut work = app.store.begin().await.unwrap();
    work.insert_custom_domain(&domain, UNCHECKED, u64::MAX).await.unwrap();
    work.commit().await.unwrap();
    domain
}

/// Changes the state of a domain.
pub(crate) async fn becomes(app: &Application, domain: &CustomDomain, status: CustomDomainStatus) {
    let mut work = app.store.begin().await.unwrap();
    work.lock_custom_domain(domain.account_id, domain.id).await.unwrap().unwrap();
    work.update_custom_domain(&CustomDomain { status, ..domain.clone() }, UNCHECKED).await.unwrap();
    work.commit().await.unwrap();
}

/// Removes a domain, whose links are lost in the same unit of work (D43).
pub(crate) async fn removed(app: &Application, domain: &CustomDomain) {
    let CustomDomain { id, account_id, hostname, .. } = domain;
    let mut work = app.store.begin().await.unwrap();
    work.lock_custom_domain(*account_id, *id).await.unwrap().unwrap();
    work.lose_some_links(LinksOf::Account(*account_id), hostname, 1_000, app.clock.now()).await.unwrap();
    assert!(work.delete_custom_domain(*account_id, *id).await.unwrap());
    work.commit().await.unwrap();
}

impl World {
    /// An active domain of the world's account.
    pub(crate) async fn active_domain(&self, host: &str) -> CustomDomain {
        given_domain(&self.app, self.account.id, host, ACTIVE).await
    }
}

/// A draft of a redirect at the root of a domain, or with a slug there.
pub(crate) fn draft_on(host: &str, slug: Option<&str>) -> RedirectRequest {
    let slug = slug.map_or(Change::Clear, |slug| Change::Set(samples::slug(slug)));
    RedirectRequest { domain: Change::Set(HostReference::parse(host)), slug, ..draft_without_slug() }
}
