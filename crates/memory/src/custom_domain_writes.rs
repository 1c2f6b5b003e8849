//! Changing custom domains.

use async_trait::async_trait;
use signpost_app::ports::{
    Claims, CustomDomainWrites, InsertCustomDomainError, LinksOf, ScheduledDomain, StoreError,
    UpdateCustomDomainError,
};
use signpost_domain::{
    AccountId, CheckPlan, CustomDomain, DnsObservation, DomainFiles, DomainId, Hostname, Link, LinkId,
    Placement, PlanResource, Timestamp,
};

use crate::state::{State, absent, twice};
use crate::unit_of_work::MemoryUnitOfWork;

/// Units of work run one by one, so everything that one reads stays locked until it ends.
#[async_trait]
impl CustomDomainWrites for MemoryUnitOfWork {
    async fn lock_custom_domain(
        &mut self,
        account: AccountId,
        id: DomainId,
    ) -> Result<Option<ScheduledDomain>, StoreError> {
        self.write(|state| Ok(state.whole_domain(account, id)))
    }

    async fn lock_claims(&mut self, account: AccountId, hostname: &Hostname) -> Result<Claims, StoreError> {
        self.write(|state| Ok(state.claims(account, hostname)))
    }

    async fn hold_custom_domains(
        &mut self,
        account: AccountId,
        hostnames: &[Hostname],
    ) -> Result<Vec<CustomDomain>, StoreError> {
        self.write(|state| Ok(state.domains_named(account, hostnames)))
    }

    async fn insert_custom_domain(
        &mut self,
        domain: &CustomDomain,
        checks: CheckPlan,
        domains_limit: u64,
    ) -> Result<(), InsertCustomDomainError> {
        self.write(|state| {
            let CustomDomain { id, account_id, hostname, .. } = domain;
            if state.domains.has(*id) {
                return Err(twice(id).into());
            }
            state.owned_with_room(*account_id, PlanResource::Domains, domains_limit)?;
            if state.claims(*account_id, hostname) != Claims::default() {
                return Err(InsertCustomDomainError::HostnameTaken);
            }
            state.domains.insert(domain.clone(), checks);
            Ok(())
        })
    }

    async fn update_custom_domain(
        &mut self,
        domain: &CustomDomain,
        checks: CheckPlan,
    ) -> Result<(), UpdateCustomDomainError> {
        self.write_noting(|state, changes| {
            let CustomDomain { id, account_id, status, .. } = domain;
            let kept = state.domains.of(*account_id, *id).ok_or_else(|| absent(id))?;
            let claims = state.claims(*account_id, &kept.hostname);
            if status.holds_hostname() && claims.holder.is_some() {
                return Err(UpdateCustomDomainError::HostnameTaken);
            }
            let updated = state.domains.update(domain, checks);
            let updated = updated.ok_or_else(|| absent(id))?;
            changes.note_domain(updated.account_id, &updated.hostname);
            if !updated.status.may_have_certificate() {
                state.forget_certificate(&updated);
            }
            Ok(())
        })
    }

    async fn update_domain_settings(
        &mut self,
        domain: &CustomDomain,
        files: &DomainFiles,
    ) -> Result<(), StoreError> {
        self.write_noting(|state, changes| {
            state.domains.configure(domain, files).ok_or_else(|| absent(domain.id))?;
            changes.note_domain(domain.account_id, &domain.hostname);
            Ok(())
        })
    }

    async fn record_observation(
        &mut self,
        account: AccountId,
        id: DomainId,
        observation: &DnsObservation,
    ) -> Result<(), StoreError> {
        self.write(|state| {
            let observed = state.domains.observe(account, id, observation.clone());
            observed.ok_or_else(|| absent(id))
        })
    }

    async fn delete_custom_domain(&mut self, account: AccountId, id: DomainId) -> Result<bool, StoreError> {
        self.write_noting(|state, changes| {
            let Some(deleted) = state.domains.remove(account, id) else { return Ok(false) };
            changes.note_domain(account, &deleted.hostname);
            state.forget_certificate(&deleted);
            Ok(true)
        })
    }

    async fn lose_some_links(
        &mut self,
        whose: LinksOf,
        hostname: &Hostname,
        at_most: u16,
        now: Timestamp,
    ) -> Result<u16, StoreError> {
        self.write_noting(|state, changes| {
            let mut lost = 0;
            for (account, id) in links_on(state, whose, hostname, at_most) {
                let link = state.owned_mut(account).and_then(|owned| owned.links.get_mut(&id));
                if let Some(link) = link {
                    lose_address(link, now);
                    changes.note_domain(account, hostname);
                    lost += 1;
                }
            }
            Ok(lost)
        })
    }
}

/// Up to `at_most` of the links on a hostname.
fn links_on(state: &State, whose: LinksOf, hostname: &Hostname, at_most: u16) -> Vec<(AccountId, LinkId)> {
    let is_meant = |account: AccountId| match whose {
        LinksOf::Account(owner) => account == owner,
        LinksOf::AllBut(owner) => account != owner,
    };
    let is_there = |link: &&Link| match &link.placement {
        Placement::Custom { hostname: place, slug: _ } => place == hostname,
        Placement::System { .. } | Placement::Lost { .. } => false,
    };
    let owners = state.all().filter(|owned| is_meant(owned.account.id));
    let links = owners
        .flat_map(|owned| owned.links.values().filter(is_there).map(|link| (owned.account.id, link.id())));
    links.take(usize::from(at_most)).collect()
}

/// Takes a link's address away, as D22 requires when its domain is gone.
fn lose_address(link: &mut Link, now: Timestamp) {
    link.placement = Placement::Lost { slug: link.placement.slug().cloned() };
    link.mark_changed(now);
}
