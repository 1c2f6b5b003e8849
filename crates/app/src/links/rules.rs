//! What the rules of links are told for one request, and the custom domains that it would place links on (D23).

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

/// What the rules of links are told for one request. Only the states of custom domains belong to an attempt: whoever
/// places a link there has to [hold](Self::hold) them.
pub(crate) struct LinkRules<'a> {
    pub(crate) app: &'a Application,
    /// Whose links these are.
    pub(crate) account: AccountId,
    /// Those of the account's plan.
    pub(crate) features: FeatureSet,
    pub(crate) blocklist: &'a HostBlocklist,
    /// Which of the pixels that the request names are the account's.
    pub(crate) known_pixels: &'a BTreeSet<PixelId>,
}

impl<'a> LinkRules<'a> {
    /// Those of a request.
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
    /// All that the rules need to know, at this moment.
    pub(crate) fn context<'b>(&'b self, named_domains: &'b NamedDomains) -> LinkContext<'b> {
        let Self { app, account: _, features, blocklist, known_pixels } = self;
        LinkContext {
            system: &app.system,
            features: *features,
            blocklist,
            named_domains,
            known_pixels,
            widget_ids: *app,
            now: app.clock.now(),
        }
    }

    /// The hostnames among `references` on which only a custom domain can be, each once.
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

    /// What is known of these domains, for judging what is not going to be written. Asks the store only if there are some.
    pub(crate) async fn look_up(&self, hostnames: &[Hostname]) -> Result<NamedDomains, StoreError> {
        if hostnames.is_empty() {
            return Ok(NamedDomains::default());
        }
        Ok(self.known(&self.app.store.custom_domains_named(self.account, hostnames).await?))
    }

    /// What is known of these domains, which stays so until the unit of work ends. Costs a statement only if there are
    /// some.
    pub(crate) async fn hold(
        &self,
        work: &mut dyn UnitOfWork,
        hostnames: &[Hostname],
    ) -> Result<NamedDomains, StoreError> {
        if hostnames.is_empty() {
            return Ok(NamedDomains::default());
        }
        Ok(self.known(&work.hold_custom_domains(self.account, hostnames).await?))
    }

    fn known(&self, domains: &[CustomDomain]) -> NamedDomains {
        // Only now: they may have been waited for.
        let now = self.app.clock.now();
        let state = |domain: &CustomDomain| {
            if domain.at(now).status.serves_links() { NamedDomain::Active } else { NamedDomain::NotActive }
        };
        domains.iter().map(|domain| (domain.hostname.clone(), state(domain))).collect()
    }

    /// The custom domain on which `change` would place a link: the one that it names, or, if it changes only the slug, the
    /// one where the link is. `None` for a change that places no link on a custom domain.
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

    /// Locks the account's link, and before it holds the custom domain on which `change` would place it; says what is known
    /// of that. If `group` would move the link, nobody else moves links of the account meanwhile. `None` if the account has no such link.
    ///
    /// Whoever removes a domain holds first the domain, then its links, so this keeps that order too. Where only the slug
    /// changes, the link says which domain it is, so it is read once beforehand, outside the unit of work.
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
        let mut named_domains = self.hold(work.as_mut(), expected.as_slice()).await?;
        match group {
            Change::Keep => {}
            Change::Set(_) | Change::Clear => work.expect_move(),
        }
        let Some(link) = work.lock_link(self.account, id).await? else { return Ok(None) };
        let actual = self.domain_of_change(&link.placement, change);
        if actual != expected {
            // It was moved since it was read. This once the order is another; the store resolves what comes of it.
            named_domains = self.hold(work.as_mut(), actual.as_slice()).await?;
        }
        if let Some(hostname) = actual
            && link.placement.hostname(&self.app.system) == Some(&hostname)
            && named_domains.of(&hostname) == NamedDomain::Unknown
        {
            // The link was left behind on a domain that is gone, where it may stay but not move.
            named_domains = [(hostname, NamedDomain::NotActive)].into_iter().collect();
        }
        Ok(Some(LockedLink { work, link, named_domains }))
    }
}

/// A link that a unit of work has locked in order to change it.
pub(crate) struct LockedLink {
    pub(crate) work: Box<dyn UnitOfWork>,
    pub(crate) link: Link,
    /// What is known of the custom domain on which the change would place it.
    pub(crate) named_domains: NamedDomains,
}
