//! The input of the rules of links for one request, and the locks on the custom domains that it names (D23).

use std::collections::BTreeSet;

use signpost_domain::id::GroupKind;
use signpost_domain::{
    AccountId, Change, CustomDomain, FeatureSet, HostBlocklist, HostReference, Hostname, IdReference, Link,
    LinkContext, LinkId, NamedDomain, NamedDomains, PixelId, Placement, PlacementChange,
};

use crate::application::Application;
use crate::caller::Caller;
use crate::ports::{StoreError, UnitOfWork};
use crate::unit_of_work::Attempts;

/// The input of the rules of links for one request. The states of custom domains are not part of it: each attempt that
/// places a link there must [hold](Self::hold_domains) them.
pub(crate) struct LinkRules<'a> {
    pub(crate) app: &'a Application,
    /// The account that has the links.
    pub(crate) account: AccountId,
    /// The features of the account's plan.
    pub(crate) features: FeatureSet,
    pub(crate) blocklist: &'a HostBlocklist,
    /// The account's pixels among those that the request names.
    pub(crate) known_pixels: &'a BTreeSet<PixelId>,
}

impl<'a> LinkRules<'a> {
    /// The input for a request of this caller.
    pub(crate) fn of_request(
        app: &'a Application,
        caller: &Caller,
        blocklist: &'a HostBlocklist,
        known_pixels: &'a BTreeSet<PixelId>,
    ) -> Self {
        Self { app, account: caller.account_id(), features: caller.plan().features, blocklist, known_pixels }
    }
}

impl LinkRules<'_> {
    /// The context of the rules at this moment.
    pub(crate) fn context<'b>(&'b self, named_domains: &'b NamedDomains) -> LinkContext<'b> {
        let Self { app, account: _, features, blocklist, known_pixels } = self;
        LinkContext {
            system: &app.system,
            features: *features,
            blocklist,
            named_domains,
            known_pixels,
            part_ids: *app,
            now: app.clock.now(),
        }
    }

    /// The hostnames among `references` that are not the system domain's, without duplicates.
    pub(crate) fn custom_hostnames<'b>(
        &self,
        references: impl IntoIterator<Item = &'b HostReference>,
    ) -> Vec<Hostname> {
        let hostnames: BTreeSet<&Hostname> =
            references.into_iter().filter_map(|reference| self.custom_hostname(reference)).collect();
        hostnames.into_iter().cloned().collect()
    }

    fn custom_hostname<'b>(&self, reference: &'b HostReference) -> Option<&'b Hostname> {
        match reference {
            HostReference::Hostname(hostname) if !self.app.system.answers_to(hostname) => Some(hostname),
            HostReference::Hostname(_) | HostReference::Malformed => None,
        }
    }

    /// The current states of these domains, without a lock. Queries the store only if there are some.
    pub(crate) async fn look_up(&self, hostnames: &[Hostname]) -> Result<NamedDomains, StoreError> {
        if hostnames.is_empty() {
            return Ok(NamedDomains::default());
        }
        Ok(self.states(&self.app.store.custom_domains_named(self.account, hostnames).await?))
    }

    /// The states of these domains, which cannot change until the unit of work ends. Runs a statement only if there are
    /// some.
    pub(crate) async fn hold_domains(
        &self,
        work: &mut dyn UnitOfWork,
        hostnames: &[Hostname],
    ) -> Result<NamedDomains, StoreError> {
        if hostnames.is_empty() {
            return Ok(NamedDomains::default());
        }
        Ok(self.states(&work.hold_custom_domains(self.account, hostnames).await?))
    }

    fn states(&self, domains: &[CustomDomain]) -> NamedDomains {
        // Read the clock after the store answers: it may have waited for a lock.
        let now = self.app.clock.now();
        let state = |domain: &CustomDomain| {
            if domain.at(now).status.serves_links() { NamedDomain::Active } else { NamedDomain::NotActive }
        };
        domains.iter().map(|domain| (domain.hostname.clone(), state(domain))).collect()
    }

    /// The custom domain on which `change` would place a link. This is the domain that it names, or, if it changes only the
    /// slug, the link's domain. `None` for a change that places no link on a custom domain.
    pub(crate) fn domain_of_change(
        &self,
        placement: &Placement,
        change: &PlacementChange,
    ) -> Option<Hostname> {
        let PlacementChange { domain, slug } = change;
        match (domain, placement) {
            (Change::Set(reference), _) => self.custom_hostname(reference).cloned(),
            (Change::Keep, Placement::Custom { hostname, .. }) if !slug.is_keep() => Some(hostname.clone()),
            (Change::Keep | Change::Clear, _) => None,
        }
    }

    /// The domain of a link that is left over on a removed domain and would stay there. It may stay, but cannot change its
    /// address, so the domain counts as one that is not active. `None` for any other link, for which `named_domains` count.
    pub(crate) fn removed_domain(
        &self,
        placement: &Placement,
        change: &PlacementChange,
        named_domains: &NamedDomains,
    ) -> Option<NamedDomains> {
        let hostname = self.domain_of_change(placement, change)?;
        let is_removed = placement.hostname(&self.app.system) == Some(&hostname)
            && named_domains.of(&hostname) == NamedDomain::Unknown;
        is_removed.then(|| [(hostname, NamedDomain::NotActive)].into_iter().collect())
    }

    /// Holds the custom domain on which `change` would place the account's link, then locks the link. If `group` moves the
    /// link, no other request moves links of the account meanwhile. `None` if the account has no such link.
    ///
    /// The removal of a domain locks first the domain, then its links, so this keeps the same order to avoid deadlocks.
    /// If only the slug changes, the domain is that of the link, so the link is first read outside the unit of work.
    pub(crate) async fn lock_link(
        &self,
        attempts: &Attempts<'_>,
        id: LinkId,
        change: &PlacementChange,
        group: &Change<IdReference<GroupKind>>,
    ) -> Result<Option<LockedLink>, StoreError> {
        let expected = match change {
            PlacementChange { domain: Change::Set(reference), .. } => {
                self.custom_hostname(reference).cloned()
            }
            PlacementChange { domain: Change::Keep, slug: Change::Set(_) | Change::Clear } => {
                let link = self.app.store.link(self.account, id).await?;
                let Some(link) = link else { return Ok(None) };
                self.domain_of_change(&link.placement, change)
            }
            PlacementChange { domain: Change::Keep | Change::Clear, .. } => None,
        };
        let mut work = attempts.begin().await?;
        let mut named_domains = self.hold_domains(work.as_mut(), expected.as_slice()).await?;
        match group {
            Change::Keep => {}
            Change::Set(_) | Change::Clear => work.expect_move(),
        }
        let Some(link) = work.lock_link(self.account, id).await? else { return Ok(None) };
        let actual = self.domain_of_change(&link.placement, change);
        if actual != expected {
            // The link was moved after it was read. Here the order is reversed; the store resolves a deadlock.
            named_domains = self.hold_domains(work.as_mut(), actual.as_slice()).await?;
        }
        if let Some(of_link) = self.removed_domain(&link.placement, change, &named_domains) {
            named_domains = of_link;
        }
        Ok(Some(LockedLink { work, link, named_domains }))
    }
}

/// A link that a unit of work has locked for a change.
pub(crate) struct LockedLink {
    pub(crate) work: Box<dyn UnitOfWork>,
    pub(crate) link: Link,
    /// The state of the custom domain on which the change would place it.
    pub(crate) named_domains: NamedDomains,
}
