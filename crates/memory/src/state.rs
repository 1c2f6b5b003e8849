//! The stored data and its invariants.
//!
//! Nearly everything that an account owns is stored under it. So another account's data cannot be reached by
//! mistake, and deleting an account needs no search. Counts are computed on demand, so no counter can be
//! wrong. An account is copied on its first change in a unit of work.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use signpost_app::ports::{Claims, InsertResourceError, ScheduledDomain, StoreError, StoredCertificate};
use signpost_domain::{
    Account, AccountId, Address, ApiKey, ApiKeyId, CustomDomain, DomainId, ExternalId, Group, GroupId,
    Hostname, LandingId, Link, LinkId, LinkKind, PageContent, PasswordHash, Pixel, PixelId, Placement,
    PlanResource, Tag, TagId, TagName, Usage,
};

use crate::answers::Answers;
use crate::certificates::Certificates;
use crate::custom_domains::Domains;
use crate::people::People;

/// All accounts with their data, the answers to their requests, and people.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    accounts: BTreeMap<AccountId, Arc<Owned>>,
    /// Not under the accounts, because a key may be claimed for a deleted account.
    pub(crate) answers: Answers,
    /// Not under the accounts either, because a hostname is global.
    pub(crate) domains: Domains,
    /// Not under the accounts either: names of the installation have certificates too.
    pub(crate) certificates: Certificates,
    /// Not under the accounts either, because users are in any number of them.
    pub(crate) people: People,
}

/// An account with its data. The counters of `groups` are not maintained; see [`Owned::group`].
#[derive(Debug, Clone)]
pub(crate) struct Owned {
    pub(crate) account: Account,
    pub(crate) keys: BTreeMap<ApiKeyId, ApiKey>,
    pub(crate) groups: BTreeMap<GroupId, Group>,
    pub(crate) links: BTreeMap<LinkId, Link>,
    /// The content of landing pages. A page without an entry is empty.
    pages: BTreeMap<LandingId, PageContent>,
    /// The hashes of the passwords of links.
    passwords: BTreeMap<LinkId, PasswordHash>,
    pub(crate) pixels: BTreeMap<PixelId, Pixel>,
    /// Their counts are not maintained; see [`Owned::tag`]. Links hold the names of their tags.
    pub(crate) tags: BTreeMap<TagId, Tag>,
}

impl State {
    pub(crate) fn pixels_with_ids(&self, account: AccountId, ids: &[PixelId]) -> Vec<Pixel> {
        let Some(owned) = self.owned(account) else { return Vec::new() };
        let each_once: BTreeSet<&PixelId> = ids.iter().collect();
        each_once.into_iter().filter_map(|id| owned.pixels.get(id).cloned()).collect()
    }

    pub(crate) fn owned(&self, account: AccountId) -> Option<&Owned> {
        self.accounts.get(&account).map(Arc::as_ref)
    }

    pub(crate) fn owned_mut(&mut self, account: AccountId) -> Option<&mut Owned> {
        self.accounts.get_mut(&account).map(Arc::make_mut)
    }

    /// By id, lowest first.
    pub(crate) fn all(&self) -> impl DoubleEndedIterator<Item = &Owned> {
        self.accounts.values().map(Arc::as_ref)
    }

    pub(crate) fn insert(&mut self, account: Account) -> Result<(), StoreError> {
        if self.accounts.contains_key(&account.id) {
            return Err(twice(account.id));
        }
        let id = account.id;
        let owned = Owned {
            account,
            keys: BTreeMap::new(),
            groups: BTreeMap::new(),
            links: BTreeMap::new(),
            pages: BTreeMap::new(),
            passwords: BTreeMap::new(),
            pixels: BTreeMap::new(),
            tags: BTreeMap::new(),
        };
        self.accounts.insert(id, Arc::new(owned));
        Ok(())
    }

    /// Removes an account and all of its data. `false` if it does not exist.
    pub(crate) fn remove(&mut self, account: AccountId) -> bool {
        self.answers.forget_account(account);
        self.domains.forget_account(account);
        self.certificates.forget_account(account);
        self.people.forget_account(account);
        self.accounts.remove(&account).is_some()
    }

    /// The account that has the key.
    pub(crate) fn holder_of_key(&self, id: ApiKeyId) -> Option<AccountId> {
        self.all().find(|owned| owned.keys.contains_key(&id)).map(|owned| owned.account.id)
    }

    /// The link that occupies an address, with its owner.
    pub(crate) fn occupant(&self, address: &Address) -> Option<(&Owned, &Link)> {
        // The slug first, because most links differ in it, and building an address costs more.
        let is_there = |link: &&Link| {
            let place = &link.placement;
            place.slug() == address.slug.as_ref() && place.address().as_ref() == Some(address)
        };
        self.all().find_map(|owned| Some((owned, owned.links.values().find(is_there)?)))
    }

    /// Those of `addresses` that links occupy, each with the id of the link if the account has it.
    pub(crate) fn occupied(
        &self,
        account: AccountId,
        addresses: &[Address],
    ) -> Vec<(Address, Option<LinkId>)> {
        let mut occupied = BTreeMap::new();
        for owned in self.all() {
            for link in owned.links.values() {
                if let Some(address) = link.placement.address().filter(|it| addresses.contains(it)) {
                    occupied.insert(address, (owned.account.id == account).then(|| link.id()));
                }
            }
        }
        occupied.into_iter().collect()
    }

    /// The account's link as a store reads it, with the state of its domain.
    pub(crate) fn seen(&self, account: AccountId, link: &Link) -> Link {
        let is_domain_active = match &link.placement {
            Placement::Custom { hostname, slug: _ } => {
                let domain = self.domains.named(account, hostname);
                domain.is_none_or(|domain| domain.status.serves_links())
            }
            Placement::System { .. } | Placement::Lost { .. } => true,
        };
        Link { is_domain_active, ..link.clone() }
    }

    /// Whether another link than `link` occupies the address of `link`.
    pub(crate) fn is_taken_from(&self, link: &Link) -> bool {
        let Some(address) = link.placement.address() else { return false };
        self.occupant(&address).is_some_and(|(_, occupant)| occupant.id() != link.id())
    }

    /// The account's domains with one of these hostnames.
    pub(crate) fn domains_named(&self, account: AccountId, hostnames: &[Hostname]) -> Vec<CustomDomain> {
        let each_once: BTreeSet<&Hostname> = hostnames.iter().collect();
        each_once.into_iter().filter_map(|hostname| self.domains.named(account, hostname).cloned()).collect()
    }

    /// A domain with the plan of its checks and the state of its certificate.
    pub(crate) fn scheduled(&self, domain: CustomDomain) -> ScheduledDomain {
        let certificate = self.certificates.of(&domain.hostname);
        let certificate = certificate.filter(|row| row.account == Some(domain.account_id));
        let certificate = certificate.map(StoredCertificate::summary);
        ScheduledDomain { schedule: self.domains.schedule(domain.id), certificate, domain, files: None }
    }

    /// Everything about the account's domain with this id.
    pub(crate) fn whole_domain(&self, account: AccountId, id: DomainId) -> Option<ScheduledDomain> {
        let domain = self.domains.of(account, id)?;
        Some(ScheduledDomain { files: Some(self.domains.files(id)), ..self.scheduled(domain.clone()) })
    }

    /// The domains with a hostname, as the account sees them.
    pub(crate) fn claims(&self, account: AccountId, hostname: &Hostname) -> Claims {
        let holder = self.domains.holder(hostname).filter(|holder| holder.account_id != account);
        let own = self.domains.named(account, hostname).map(|own| self.scheduled(own.clone()));
        Claims { own, holder: holder.cloned() }
    }

    /// Removes what is stored about the certificate of a domain that may have none.
    pub(crate) fn forget_certificate(&mut self, domain: &CustomDomain) {
        self.certificates.remove(&domain.hostname, Some(domain.account_id));
    }

    /// The usage of an account, as far as its plan limits it.
    pub(crate) fn usage(&self, account: AccountId) -> Option<Usage> {
        let Owned { account: _, keys: _, groups, links, pages: _, passwords: _, pixels, tags } =
            self.owned(account)?;
        Some(Usage {
            links: count(links.len()),
            groups: count(groups.len()),
            domains: count(self.domains.count_of(account)),
            pixels: count(pixels.len()),
            tags: count(tags.len()),
        })
    }

    /// What an account owns, unless it has as many of a resource as the limit allows.
    pub(crate) fn owned_with_room(
        &mut self,
        account: AccountId,
        resource: PlanResource,
        limit: u64,
    ) -> Result<&mut Owned, InsertResourceError> {
        let usage = self.usage(account).ok_or(InsertResourceError::AccountMissing)?;
        if usage.of(resource) >= limit {
            return Err(InsertResourceError::LimitReached);
        }
        self.owned_mut(account).ok_or(InsertResourceError::AccountMissing)
    }

    pub(crate) fn has_group(&self, id: GroupId) -> bool {
        self.all().any(|owned| owned.groups.contains_key(&id))
    }

    pub(crate) fn has_pixel(&self, id: PixelId) -> bool {
        self.all().any(|owned| owned.pixels.contains_key(&id))
    }

    pub(crate) fn has_tag(&self, id: TagId) -> bool {
        self.all().any(|owned| owned.tags.contains_key(&id))
    }

    /// The link of any account and of any kind with the bits of this id.
    pub(crate) fn link_of_any_account(&self, id: LinkId) -> Option<&Link> {
        let kinds = [LinkKind::Landing, LinkKind::Redirect];
        let ids = kinds.map(|kind| LinkId::from_bytes(kind, id.to_bytes()));
        self.all().find_map(|owned| ids.iter().find_map(|id| owned.links.get(id)))
    }
}

impl Owned {
    /// The links that have one of these external ids, each with it.
    pub(crate) fn with_external_ids(&self, ids: &[ExternalId]) -> Vec<(ExternalId, LinkId)> {
        let with_id = |link: &Link| {
            link.external_id.clone().filter(|id| ids.contains(id)).map(|external_id| (external_id, link.id()))
        };
        self.links.values().filter_map(with_id).collect()
    }

    /// Whether another link has the external id of this one (D121).
    pub(crate) fn has_external_id_of(&self, link: &Link) -> bool {
        // Most links have none, and tests have thousands of them.
        if link.external_id.is_none() {
            return false;
        }
        let others = self.with_external_ids(link.external_id.as_slice());
        others.iter().any(|(_, other)| *other != link.id())
    }

    /// The group with its counters.
    pub(crate) fn group(&self, id: GroupId) -> Option<Group> {
        let inside = |kind| count(self.links_of(kind).filter(|link| link.group_id == Some(id)).count());
        let group = self.groups.get(&id)?.clone();
        let (landings_count, redirects_count) = (inside(LinkKind::Landing), inside(LinkKind::Redirect));
        Some(Group { landings_count, redirects_count, ..group })
    }

    /// The tag with the number of its links.
    pub(crate) fn tag(&self, id: TagId) -> Option<Tag> {
        let tag = self.tags.get(&id)?.clone();
        let links_count = count(self.links.values().filter(|link| link.tags.contains(&tag.name)).count());
        Some(Tag { links_count, ..tag })
    }

    /// The account's tag of this name.
    pub(crate) fn tag_named(&self, name: &TagName) -> Option<&Tag> {
        self.tags.values().find(|tag| tag.name.key() == name.key())
    }

    /// The link with those of its tags that the account has, as the account spells them.
    pub(crate) fn tagged(&self, link: &Link) -> Link {
        let known = link.tags.iter().filter_map(|name| self.tag_named(name)).map(|tag| &tag.name);
        Link { tags: link.tags.spelt_as(known), ..link.clone() }
    }

    /// Gives up to `at_most` links of a tag another one in its place, or none. Returns how many.
    pub(crate) fn replace_tag(&mut self, name: &TagName, by: Option<&TagName>, at_most: usize) -> usize {
        let tagged = self.links.values_mut().filter(|link| link.tags.contains(name)).take(at_most);
        tagged.map(|link| link.tags = link.tags.replaced(name, by)).count()
    }

    /// The links of one kind by id, lowest first.
    pub(crate) fn links_of(&self, kind: LinkKind) -> impl DoubleEndedIterator<Item = &Link> {
        let [lowest, highest] = [[0; 16], [u8::MAX; 16]].map(|bytes| LinkId::from_bytes(kind, bytes));
        self.links.range(lowest..=highest).map(|(_, link)| link)
    }

    /// Deletes a link with its content and its password.
    pub(crate) fn remove_link(&mut self, id: LinkId) -> Option<Link> {
        match id {
            LinkId::Landing(page) => self.pages.remove(&page),
            LinkId::Redirect(_) => None,
        };
        self.passwords.remove(&id);
        self.links.remove(&id)
    }

    /// The landing page with this id, and its content.
    pub(crate) fn page(&self, id: LandingId) -> Option<(&Link, PageContent)> {
        let link = self.links.get(&LinkId::Landing(id))?;
        Some((link, self.pages.get(&id).cloned().unwrap_or_default()))
    }

    /// Writes the content of a landing page, and returns the page; `None` if it does not exist.
    pub(crate) fn write_page(&mut self, id: LandingId, content: PageContent) -> Option<&Link> {
        let link = self.links.get(&LinkId::Landing(id))?;
        self.pages.insert(id, content);
        Some(link)
    }

    /// The hash of the password of a link that has one. A missing hash is as corrupt as in a database.
    pub(crate) fn password_of(&self, id: LinkId) -> Option<Result<PasswordHash, StoreError>> {
        let link = self.links.get(&id).filter(|link| link.has_password)?;
        let missing = || StoreError::Corrupt {
            table: "links",
            column: "behaviour",
            row: link.id().to_string(),
            reason: "says that the link has a password, whose hash is missing".to_owned(),
        };
        Some(self.passwords.get(&id).cloned().ok_or_else(missing))
    }

    /// Writes or removes the hash of the password of a link; `None` if the link does not exist.
    pub(crate) fn write_password(&mut self, id: LinkId, hash: Option<PasswordHash>) -> Option<()> {
        self.links.get(&id)?;
        match hash {
            Some(hash) => self.passwords.insert(id, hash),
            None => self.passwords.remove(&id),
        };
        Some(())
    }

    pub(crate) fn has_group_of(&self, link: &Link) -> bool {
        link.group_id.is_none_or(|group| self.groups.contains_key(&group))
    }
}

/// The error of a database for a repeated id.
pub(crate) fn twice(id: impl std::fmt::Display) -> StoreError {
    StoreError::unavailable(format!("{id} exists already"))
}

/// The error for data of a deleted account.
pub(crate) fn no_account(id: AccountId) -> StoreError {
    StoreError::unavailable(format!("there is no account {id}"))
}

/// The error for an update of a missing row.
pub(crate) fn absent(id: impl std::fmt::Display) -> StoreError {
    StoreError::unavailable(format!("{id} does not exist"))
}

fn count(items: usize) -> u64 {
    u64::try_from(items).unwrap_or(u64::MAX)
}
