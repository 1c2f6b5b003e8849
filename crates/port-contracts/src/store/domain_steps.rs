//! Steps for cases about custom domains.

use std::collections::BTreeSet;
use std::sync::Arc;

use signpost_app::ports::{
    Claims, ConcludedCheck, DueCheck, InsertCustomDomainError, LinksOf, Store, StoreError,
    UpdateCustomDomainError,
};
use signpost_domain::{
    AccountId, CheckPlan, CustomDomain, CustomDomainStatus, DomainId, Hostname, Placement, Site, Timestamp,
};

use super::given::{Decision, PLENTY, unit};
use crate::samples;

/// The plan of a domain that is never checked.
pub(super) const NO_CHECKS: CheckPlan = CheckPlan { next_check_at: None, checks_made: 0 };

pub(super) const ACTIVE: CustomDomainStatus = CustomDomainStatus::Active { misdirected_since: None };

/// The plan of a domain whose first check is at this instant.
pub(super) fn checked_at(millis: i64) -> CheckPlan {
    CheckPlan { next_check_at: Some(samples::at(millis)), checks_made: 0 }
}

/// Every status, with distinct instants of all kinds.
pub(super) fn every_status() -> Vec<CustomDomainStatus> {
    vec![
        CustomDomainStatus::claimed(samples::at(1)),
        CustomDomainStatus::Pending { expires_at: Timestamp::EPOCH },
        CustomDomainStatus::Pending { expires_at: Timestamp::LAST },
        CustomDomainStatus::SslPending { expires_at: samples::at(2) },
        CustomDomainStatus::SslPending { expires_at: Timestamp::LAST },
        ACTIVE,
        CustomDomainStatus::Active { misdirected_since: Some(samples::at(3)) },
        CustomDomainStatus::Active { misdirected_since: Some(Timestamp::EPOCH) },
        CustomDomainStatus::Failed,
    ]
}

impl From<InsertCustomDomainError> for Decision {
    fn from(error: InsertCustomDomainError) -> Self {
        match error {
            InsertCustomDomainError::HostnameTaken => Self::HostnameTaken,
            InsertCustomDomainError::Resource(error) => error.into(),
        }
    }
}

impl From<UpdateCustomDomainError> for Decision {
    fn from(error: UpdateCustomDomainError) -> Self {
        match error {
            UpdateCustomDomainError::HostnameTaken => Self::HostnameTaken,
            UpdateCustomDomainError::Store(error) => error.into(),
        }
    }
}

/// Inserts a domain that is never checked.
pub(super) async fn insert(
    store: &Arc<dyn Store>,
    domain: &CustomDomain,
    limit: u64,
) -> Result<(), Decision> {
    unit!(store, async |work| Ok(work.insert_custom_domain(domain, NO_CHECKS, limit).await?)).await
}

/// A stored domain that is never checked.
pub(super) async fn domain(
    store: &Arc<dyn Store>,
    account: AccountId,
    host: &str,
    status: CustomDomainStatus,
) -> CustomDomain {
    let domain = CustomDomain { status, ..samples::custom_domain(account, host) };
    insert(store, &domain, PLENTY).await.unwrap();
    domain
}

/// A stored `pending` domain with this plan.
pub(super) async fn planned(
    store: &Arc<dyn Store>,
    account: AccountId,
    host: &str,
    checks: CheckPlan,
) -> CustomDomain {
    let domain = samples::custom_domain(account, host);
    unit!(store, async |work| Ok(work.insert_custom_domain(&domain, checks, PLENTY).await?)).await.unwrap();
    domain
}

/// Locks a domain and gives it this status and this plan.
pub(super) async fn update(
    store: &Arc<dyn Store>,
    domain: &CustomDomain,
    status: CustomDomainStatus,
    checks: CheckPlan,
) -> Result<CustomDomain, Decision> {
    let after = CustomDomain { status, ..domain.clone() };
    unit!(store, async |work| {
        let before = work.lock_custom_domain(domain.account_id, domain.id).await?;
        assert!(before.is_some(), "no such domain");
        work.update_custom_domain(&after, checks).await?;
        Ok(after.clone())
    })
    .await
}

/// Deletes a domain; `true` if it existed.
pub(super) async fn delete(store: &Arc<dyn Store>, account: AccountId, id: DomainId) -> bool {
    unit!(store, async |work| Ok(work.delete_custom_domain(account, id).await?)).await.unwrap()
}

/// The claims of a hostname, as a unit of work locks them.
pub(super) async fn claims(store: &Arc<dyn Store>, account: AccountId, hostname: &Hostname) -> Claims {
    unit!(store, async |work| Ok(work.lock_claims(account, hostname).await?)).await.unwrap()
}

pub(super) async fn lose(
    store: &Arc<dyn Store>,
    whose: LinksOf,
    host: &str,
    at_most: u16,
    now: Timestamp,
) -> u16 {
    let hostname = samples::hostname(host);
    let lost = unit!(store, async |work| Ok(work.lose_some_links(whose, &hostname, at_most, now).await?));
    lost.await.unwrap()
}

/// Claims checks, and repeats the unit of work if the store asks for it.
pub(super) async fn claim(
    store: &Arc<dyn Store>,
    now: Timestamp,
    until: Timestamp,
    at_most: u16,
) -> Vec<DueCheck> {
    loop {
        match store.claim_due_checks(now, until, at_most).await {
            Err(StoreError::Contended) => tokio::task::yield_now().await,
            claimed => return claimed.unwrap(),
        }
    }
}

/// Writes the plans of unanswered checks.
pub(super) async fn plan(store: &Arc<dyn Store>, claimed_until: Timestamp, plans: &[(DomainId, CheckPlan)]) {
    let unanswered =
        |(id, plan): &(DomainId, CheckPlan)| ConcludedCheck { id: *id, plan: *plan, observation: None };
    let checks: Vec<ConcludedCheck> = plans.iter().map(unanswered).collect();
    conclude(store, claimed_until, &checks).await;
}

/// Writes plans and observations, and repeats the unit of work if the store asks for it.
pub(super) async fn conclude(store: &Arc<dyn Store>, claimed_until: Timestamp, checks: &[ConcludedCheck]) {
    loop {
        match store.plan_checks(claimed_until, checks).await {
            Err(StoreError::Contended) => tokio::task::yield_now().await,
            planned => return planned.unwrap(),
        }
    }
}

/// Expires domains, and repeats the unit of work if the store asks for it.
pub(super) async fn expire(store: &Arc<dyn Store>, now: Timestamp, at_most: u16) -> u16 {
    loop {
        match store.expire_domains(now, at_most).await {
            Err(StoreError::Contended) => tokio::task::yield_now().await,
            expired => return expired.unwrap(),
        }
    }
}

/// Releases given-up checks, and repeats the unit of work if the store asks for it.
pub(super) async fn release(store: &Arc<dyn Store>, now: Timestamp, at_most: u16) -> u16 {
    loop {
        match store.release_checks(now, at_most).await {
            Err(StoreError::Contended) => tokio::task::yield_now().await,
            released => return released.unwrap(),
        }
    }
}

pub(super) fn sorted(mut domains: Vec<CustomDomain>) -> Vec<CustomDomain> {
    domains.sort_by_key(|domain| domain.id);
    domains
}

/// The ids of claimed domains, in their order.
pub(super) fn ids(claimed: &[DueCheck]) -> Vec<DomainId> {
    claimed.iter().map(|due| due.domain.id).collect()
}

/// Gives the account an active domain for each custom hostname among these placements.
pub(super) async fn serve(
    store: &Arc<dyn Store>,
    account: AccountId,
    placements: impl IntoIterator<Item = &Placement>,
) {
    let sites = placements.into_iter().filter_map(Placement::address).map(|address| address.site);
    let sites: BTreeSet<Site> = sites.collect();
    for site in sites {
        match site {
            Site::System => {}
            Site::Custom(hostname) => {
                domain(store, account, hostname.as_str(), ACTIVE).await;
            }
        }
    }
}
