//! Reads outside units of work.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use signpost_app::ports::{
    AccountReads, CustomDomainReads, GroupReads, KeyHolder, LinkReads, PixelReads, PublishedFile,
    PublishedLink, PublishedSite, ScheduledDomain, StoreError, TagReads,
};
use signpost_domain::{
    Account, AccountId, Address, ApiKey, AppFileKind, CustomDomain, DomainId, Email, ExternalId, Group,
    GroupFilter, GroupId, Hostname, KeyHash, LandingId, LandingPage, Link, LinkFilter, LinkId, LinkKind,
    Page, PageLimit, PagePosition, Pixel, PixelId, PlanName, Site, Tag, Usage,
};

use crate::store::MemoryStore;

#[async_trait]
impl AccountReads for MemoryStore {
    async fn key_holder(&self, hash: &KeyHash) -> Result<Option<KeyHolder>, StoreError> {
        self.read(|state| {
            state.all().find_map(|owned| {
                let key = owned.keys.values().find(|key| key.hash == *hash)?.clone();
                let usage = state.usage(owned.account.id)?;
                Some(KeyHolder { key, account: owned.account.clone(), usage })
            })
        })
    }

    async fn key_holder_with_link(
        &self,
        hash: &KeyHash,
        link: LinkId,
    ) -> Result<(Option<KeyHolder>, Option<Link>), StoreError> {
        let holder = self.key_holder(hash).await?;
        let link = match &holder {
            Some(holder) => self.link(holder.account.id, link).await.unwrap_or_default(),
            None => None,
        };
        Ok((holder, link))
    }

    async fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError> {
        self.read(|state| state.owned(id).map(|owned| owned.account.clone()))
    }

    async fn accounts_with_ids(&self, ids: &[AccountId]) -> Result<Vec<Account>, StoreError> {
        self.read(|state| {
            ids.iter().filter_map(|id| state.owned(*id).map(|owned| owned.account.clone())).collect()
        })
    }

    async fn account_with_email(&self, email: &Email) -> Result<Option<Account>, StoreError> {
        let key = email.comparison_key();
        self.read(|state| {
            let mut accounts = state.all().map(|owned| &owned.account);
            accounts.find(|account| account.email.comparison_key() == key).cloned()
        })
    }

    async fn usage(&self, id: AccountId) -> Result<Option<Usage>, StoreError> {
        self.read(|state| state.usage(id))
    }

    async fn usage_of_each(&self, ids: &[AccountId]) -> Result<Vec<(AccountId, Usage)>, StoreError> {
        self.read(|state| ids.iter().filter_map(|id| Some((*id, state.usage(*id)?))).collect())
    }

    async fn accounts(
        &self,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Account>, StoreError> {
        self.read(|state| {
            let newest_first = state.all().rev().map(|owned| &owned.account);
            page(newest_first, |account| account.id.to_bytes(), limit, after)
        })
    }

    async fn plans_in_use(&self) -> Result<Vec<(PlanName, u64)>, StoreError> {
        self.read(|state| {
            let mut counts = BTreeMap::<PlanName, u64>::new();
            for owned in state.all() {
                *counts.entry(owned.account.plan.clone()).or_default() += 1;
            }
            counts.into_iter().collect()
        })
    }

    async fn keys(&self, account: AccountId) -> Result<Vec<ApiKey>, StoreError> {
        self.read(|state| {
            state.owned(account).map_or_else(Vec::new, |owned| owned.keys.values().rev().cloned().collect())
        })
    }
}

#[async_trait]
impl CustomDomainReads for MemoryStore {
    async fn custom_domain(
        &self,
        account: AccountId,
        id: DomainId,
    ) -> Result<Option<ScheduledDomain>, StoreError> {
        self.read(|state| state.whole_domain(account, id))
    }

    async fn custom_domains(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<ScheduledDomain>, StoreError> {
        self.read(|state| {
            let newest_first = state.domains.all_of(account).rev();
            page(newest_first, |domain| domain.id.to_bytes(), limit, after)
                .map(|domain| state.scheduled(domain))
        })
    }

    async fn custom_domains_named(
        &self,
        account: AccountId,
        hostnames: &[Hostname],
    ) -> Result<Vec<CustomDomain>, StoreError> {
        self.read(|state| state.domains_named(account, hostnames))
    }

    async fn holder_of(&self, hostname: &Hostname) -> Result<Option<CustomDomain>, StoreError> {
        self.read(|state| state.domains.holder(hostname).cloned())
    }

    async fn published_site(&self, hostname: &Hostname) -> Result<Option<PublishedSite>, StoreError> {
        let found = self.read(|state| state.published_site(hostname))?;
        self.site_reads().pass().await;
        Ok(found)
    }

    async fn published_file(
        &self,
        hostname: &Hostname,
        kind: AppFileKind,
    ) -> Result<Option<PublishedFile>, StoreError> {
        let found = self.read(|state| state.published_file(hostname, kind))?;
        self.site_reads().pass().await;
        Ok(found)
    }
}

#[async_trait]
impl GroupReads for MemoryStore {
    async fn group(&self, account: AccountId, id: GroupId) -> Result<Option<Group>, StoreError> {
        let found = self.read(|state| state.owned(account).and_then(|owned| owned.group(id)))?;
        self.faults().judge(found, |group| group.id.to_bytes())
    }

    async fn taken_group_ids(&self, ids: &[GroupId]) -> Result<Vec<GroupId>, StoreError> {
        let ids: BTreeSet<GroupId> = ids.iter().copied().collect();
        self.read(|state| ids.into_iter().filter(|id| state.has_group(*id)).collect())
    }

    async fn groups(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Group>, StoreError> {
        let page = self.read(|state| {
            let Some(owned) = state.owned(account) else { return Page::empty() };
            let page = page(owned.groups.values().rev(), |group| group.id.to_bytes(), limit, after);
            page.map(|group| owned.group(group.id).unwrap_or(group))
        })?;
        Ok(page.filter_map(|group| self.faults().is_readable(group.id.to_bytes()).then_some(group)))
    }
}

#[async_trait]
impl LinkReads for MemoryStore {
    async fn link(&self, account: AccountId, id: LinkId) -> Result<Option<Link>, StoreError> {
        let found = self.read(|state| {
            let link = state.owned(account).and_then(|owned| owned.links.get(&id));
            link.map(|link| state.seen(account, link))
        })?;
        self.faults().judge(found, |link| link.id().to_bytes())
    }

    async fn links_with_ids(&self, account: AccountId, ids: &[LinkId]) -> Result<Vec<Link>, StoreError> {
        let found: Vec<Link> = self.read(|state| {
            let links = state.owned(account).map(|owned| &owned.links);
            let found = links.into_iter().flat_map(|links| ids.iter().filter_map(|id| links.get(id)));
            found.map(|link| state.seen(account, link)).collect()
        })?;
        let readable =
            found.into_iter().map(|link| self.faults().judge(Some(link), |link| link.id().to_bytes()));
        readable.filter_map(Result::transpose).collect()
    }

    async fn occupied(
        &self,
        account: AccountId,
        addresses: &[Address],
    ) -> Result<Vec<(Address, Option<LinkId>)>, StoreError> {
        self.read(|state| state.occupied(account, addresses))
    }

    async fn taken_link_ids(&self, ids: &[LinkId]) -> Result<Vec<LinkId>, StoreError> {
        let ids: BTreeSet<LinkId> = ids.iter().copied().collect();
        self.read(|state| ids.into_iter().filter(|id| state.link_of_any_account(*id).is_some()).collect())
    }

    async fn links_with_external_ids(
        &self,
        account: AccountId,
        ids: &[ExternalId],
    ) -> Result<Vec<(ExternalId, LinkId)>, StoreError> {
        self.read(|state| state.owned(account).map(|owned| owned.with_external_ids(ids)).unwrap_or_default())
    }

    async fn landing_page(
        &self,
        account: AccountId,
        id: LandingId,
    ) -> Result<Option<LandingPage>, StoreError> {
        self.read(|state| {
            let (link, content) = state.owned(account)?.page(id)?;
            Some(state.seen(account, link).into_landing()?.with_content(content))
        })
    }

    async fn links(
        &self,
        account: AccountId,
        kind: LinkKind,
        filter: &LinkFilter,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Link>, StoreError> {
        let page = self.read(|state| {
            let Some(owned) = state.owned(account) else { return Page::empty() };
            let seen: Vec<Link> = owned.links_of(kind).rev().map(|link| state.seen(account, link)).collect();
            let passing = seen.iter().filter(|link| filter.matches(link));
            page(passing, |link| link.id().to_bytes(), limit, after)
        })?;
        Ok(page.filter_map(|link| self.faults().is_readable(link.id().to_bytes()).then_some(link)))
    }

    async fn link_ids(
        &self,
        account: AccountId,
        group: GroupFilter,
        site: Option<&Site>,
        at_most: usize,
    ) -> Result<Vec<LinkId>, StoreError> {
        let filter = LinkFilter { group, site: site.cloned(), ..LinkFilter::default() };
        self.read(|state| {
            let Some(owned) = state.owned(account) else { return Vec::new() };
            let passing = owned.links.values().filter(|link| filter.matches(link));
            passing.map(Link::id).take(at_most).collect()
        })
    }

    async fn published_link(&self, address: &Address) -> Result<Option<PublishedLink>, StoreError> {
        let found = self.read(|state| state.published_link(address))?;
        self.link_reads().pass().await;
        self.faults().judge(found, |link| link.id.to_bytes())
    }
}

#[async_trait]
impl PixelReads for MemoryStore {
    async fn pixel(&self, account: AccountId, id: PixelId) -> Result<Option<Pixel>, StoreError> {
        self.read(|state| state.owned(account)?.pixels.get(&id).cloned())
    }

    async fn pixels(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Pixel>, StoreError> {
        self.read(|state| {
            let Some(owned) = state.owned(account) else { return Page::empty() };
            page(owned.pixels.values().rev(), |pixel| pixel.id.to_bytes(), limit, after)
        })
    }

    async fn pixels_with_ids(&self, account: AccountId, ids: &[PixelId]) -> Result<Vec<Pixel>, StoreError> {
        self.read(|state| state.pixels_with_ids(account, ids))
    }
}

#[async_trait]
impl TagReads for MemoryStore {
    async fn tags(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Tag>, StoreError> {
        self.read(|state| {
            let Some(owned) = state.owned(account) else { return Page::empty() };
            let page = page(owned.tags.values().rev(), |tag| tag.id.to_bytes(), limit, after);
            page.map(|tag| owned.tag(tag.id).unwrap_or(tag))
        })
    }
}

/// The page of `items`, newest first, after `after`.
pub(crate) fn page<'a, T: Clone + 'a>(
    items: impl Iterator<Item = &'a T>,
    id_of: impl Fn(&T) -> [u8; 16],
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Page<T> {
    let behind = |item: &&T| after.is_none_or(|after| id_of(item) < after.to_bytes());
    let one_more = usize::from(limit.get()) + 1;
    Page::from_one_more(items.filter(behind).take(one_more).cloned().collect(), limit, id_of)
}
