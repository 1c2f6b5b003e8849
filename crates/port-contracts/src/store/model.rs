//! A simple model of a store: two accounts with groups, links, domains and pixels in maps, without counters.

use std::collections::{BTreeMap, BTreeSet};

use signpost_app::ports::{Insertion, PublishedLink};
use signpost_domain::{
    AccountId, AnyContent, CustomDomain, DomainId, Group, GroupFilter, GroupId, Hostname, LandingId, Link,
    LinkFilter, LinkId, PageContent, Pixel, PixelId, Placement, Timestamp,
};

use super::domain_operations::{DomainOperation, HOSTS};
use super::fixture::StoreUnderTest;
use super::given::{Decision, KINDS};
use super::tag_operations::{TagOperation, TagsOfAccounts};
use super::{random_links, stored};
use crate::samples;

pub(super) const LINKS_LIMIT: u64 = 20;
pub(super) const GROUPS_LIMIT: u64 = 3;
pub(super) const PIXELS_LIMIT: u64 = 2;

/// The data of two accounts.
#[derive(Clone)]
pub(super) struct Model {
    pub(super) accounts: [AccountId; 2],
    pub(super) groups: BTreeMap<GroupId, (AccountId, Group)>,
    pub(super) links: BTreeMap<LinkId, (AccountId, Link)>,
    pub(super) domains: BTreeMap<DomainId, CustomDomain>,
    pub(super) pixels: BTreeMap<PixelId, (AccountId, Pixel)>,
    pub(super) tags: TagsOfAccounts,
    /// The content of landing pages.
    pages: BTreeMap<LandingId, PageContent>,
}

pub(super) enum Operation {
    InsertGroup(AccountId, Group),
    RenameGroup(AccountId, GroupId, String),
    DeleteGroup(AccountId, GroupId, Timestamp),
    InsertLinks(AccountId, Vec<Link>),
    UpdateLinks(AccountId, Vec<Link>),
    DeleteLinks(AccountId, Vec<LinkId>),
    AssignLinks(AccountId, GroupId, Vec<LinkId>, Timestamp),
    UnassignLinks(AccountId, GroupId, Vec<LinkId>, Timestamp),
    WritePage(AccountId, LandingId, PageContent),
    OnDomains(DomainOperation),
    OnTags(TagOperation),
    InsertPixel(AccountId, Pixel),
    DeletePixel(AccountId, PixelId),
}

/// The answer of an operation. Links and ids are sorted, because a store may return them in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Done,
    NotThere,
    Refused(Decision),
    Inserted(Vec<Insertion>),
    Deleted(Vec<LinkId>),
    Moved(Vec<Link>),
    Lost(u16),
}

impl Model {
    pub(super) const fn new(accounts: [AccountId; 2]) -> Self {
        Self {
            accounts,
            groups: BTreeMap::new(),
            links: BTreeMap::new(),
            domains: BTreeMap::new(),
            pixels: BTreeMap::new(),
            tags: BTreeMap::new(),
            pages: BTreeMap::new(),
        }
    }

    fn links_of(&self, account: AccountId) -> impl DoubleEndedIterator<Item = &Link> {
        self.links.values().filter(move |(owner, _)| *owner == account).map(|(_, link)| link)
    }

    fn groups_of(&self, account: AccountId) -> impl DoubleEndedIterator<Item = &Group> {
        self.groups.values().filter(move |(owner, _)| *owner == account).map(|(_, group)| group)
    }

    fn pixels_of(&self, account: AccountId) -> impl DoubleEndedIterator<Item = &Pixel> {
        self.pixels.values().filter(move |(owner, _)| *owner == account).map(|(_, pixel)| pixel)
    }

    pub(super) fn domains_of(&self, account: AccountId) -> impl DoubleEndedIterator<Item = &CustomDomain> {
        self.domains.values().filter(move |domain| domain.account_id == account)
    }

    pub(super) fn holder(&self, hostname: &Hostname) -> Option<&CustomDomain> {
        self.domains.values().find(|domain| domain.hostname == *hostname && domain.status.holds_hostname())
    }

    /// Whether visitors see the link of `account` at the placement.
    fn is_served(&self, account: AccountId, placement: &Placement) -> bool {
        match placement {
            Placement::System { slug: _ } => true,
            Placement::Custom { hostname, slug: _ } => self
                .domains_of(account)
                .any(|domain| domain.hostname == *hostname && domain.status.serves_links()),
            Placement::Lost { slug: _ } => false,
        }
    }

    /// The link of `account` as it is read, with the state of its domain.
    fn seen(&self, account: AccountId, link: &Link) -> Link {
        let is_domain_active = match &link.placement {
            Placement::Custom { hostname, slug: _ } => self
                .domains_of(account)
                .find(|domain| domain.hostname == *hostname)
                .is_none_or(|domain| domain.status.serves_links()),
            Placement::System { slug: _ } | Placement::Lost { slug: _ } => true,
        };
        Link { is_domain_active, ..link.clone() }
    }

    fn has_group(&self, account: AccountId, group: GroupId) -> bool {
        self.groups.get(&group).is_some_and(|(owner, _)| *owner == account)
    }

    fn has_group_of(&self, account: AccountId, link: &Link) -> bool {
        link.group_id.is_none_or(|group| self.has_group(account, group))
    }

    fn is_taken_from(&self, link: &Link) -> bool {
        let address = link.placement.address();
        let mut others = self.links.values().filter(|(_, other)| other.id() != link.id());
        address.is_some() && others.any(|(_, other)| other.placement.address() == address)
    }

    fn insert(&mut self, account: AccountId, link: &Link) -> Insertion {
        if !self.has_group_of(account, link) {
            return Insertion::GroupMissing;
        }
        if self.links_of(account).count() >= usize::try_from(LINKS_LIMIT).unwrap() {
            return Insertion::LimitReached;
        }
        if self.is_taken_from(link) {
            return Insertion::AddressTaken;
        }
        self.links.insert(link.id(), (account, link.clone()));
        Insertion::Done
    }

    /// The account's own links among `ids`, each once.
    fn own_links(&mut self, account: AccountId, ids: &[LinkId]) -> impl Iterator<Item = &mut Link> {
        let ids: BTreeSet<LinkId> = ids.iter().copied().collect();
        let own = self.links.iter_mut().filter(move |(id, (owner, _))| ids.contains(id) && *owner == account);
        own.map(|(_, (_, link))| link)
    }

    /// The expected answer of the operation, which is carried out unless it is refused.
    pub(super) fn apply(&mut self, operation: &Operation) -> Answer {
        match operation {
            Operation::InsertGroup(account, group) => {
                if self.groups_of(*account).count() >= usize::try_from(GROUPS_LIMIT).unwrap() {
                    return Answer::Refused(Decision::LimitReached);
                }
                self.groups.insert(group.id, (*account, group.clone()));
                Answer::Done
            }
            Operation::RenameGroup(account, id, name) => match self.groups.get_mut(id) {
                Some((owner, group)) if owner == account => {
                    group.name = samples::name(name);
                    Answer::Done
                }
                _ => Answer::NotThere,
            },
            Operation::DeleteGroup(account, id, now) => {
                if !self.has_group(*account, *id) {
                    return Answer::NotThere;
                }
                self.groups.remove(id);
                let links = self.links.values_mut().map(|(_, link)| link);
                links
                    .filter(|link| link.group_id == Some(*id))
                    .for_each(|link| link.move_to_group(None, *now));
                Answer::Done
            }
            Operation::InsertLinks(account, links) => {
                Answer::Inserted(links.iter().map(|link| self.insert(*account, link)).collect())
            }
            Operation::UpdateLinks(account, after) => {
                let is_own =
                    |link: &Link| self.links.get(&link.id()).is_some_and(|(owner, _)| owner == account);
                if !after.iter().all(is_own) {
                    return Answer::NotThere;
                }
                if !after.iter().all(|link| self.has_group_of(*account, link)) {
                    return Answer::Refused(Decision::GroupMissing);
                }
                let mut addresses = BTreeSet::new();
                let is_repeated =
                    |link: &Link| link.placement.address().is_some_and(|address| !addresses.insert(address));
                if after.iter().any(|link| self.is_taken_from(link)) || after.iter().any(is_repeated) {
                    return Answer::Refused(Decision::AddressTaken);
                }
                self.links.extend(after.iter().map(|link| (link.id(), (*account, link.clone()))));
                Answer::Done
            }
            Operation::DeleteLinks(account, ids) => {
                let deleted: Vec<LinkId> = self.own_links(*account, ids).map(|link| link.id()).collect();
                self.links.retain(|id, _| !deleted.contains(id));
                self.pages.retain(|id, _| !deleted.contains(&(*id).into()));
                Answer::Deleted(deleted)
            }
            Operation::AssignLinks(account, group, ids, now) => {
                if !self.has_group(*account, *group) {
                    return Answer::NotThere;
                }
                let assigned = self.own_links(*account, ids).map(|link| {
                    link.move_to_group(Some(*group), *now);
                    link.clone()
                });
                let assigned: Vec<Link> = assigned.collect();
                Answer::Moved(assigned.iter().map(|link| self.seen(*account, link)).collect())
            }
            Operation::UnassignLinks(account, group, ids, now) => {
                if !self.has_group(*account, *group) {
                    return Answer::NotThere;
                }
                let inside = self.own_links(*account, ids).filter(|link| link.group_id == Some(*group));
                let unassigned = inside.map(|link| {
                    link.move_to_group(None, *now);
                    link.clone()
                });
                let unassigned: Vec<Link> = unassigned.collect();
                Answer::Moved(unassigned.iter().map(|link| self.seen(*account, link)).collect())
            }
            Operation::WritePage(account, id, content) => match self.links.get(&(*id).into()) {
                Some((owner, _)) if owner == account => {
                    self.pages.insert(*id, content.clone());
                    Answer::Done
                }
                _ => Answer::NotThere,
            },
            Operation::OnDomains(operation) => self.apply_to_domains(operation),
            Operation::OnTags(operation) => self.apply_to_tags(operation),
            Operation::InsertPixel(account, pixel) => {
                if self.pixels_of(*account).count() >= usize::try_from(PIXELS_LIMIT).unwrap() {
                    return Answer::Refused(Decision::LimitReached);
                }
                self.pixels.insert(pixel.id, (*account, pixel.clone()));
                Answer::Done
            }
            Operation::DeletePixel(account, id) => {
                if self.pixels.get(id).is_none_or(|(owner, _)| owner != account) {
                    return Answer::NotThere;
                }
                self.pixels.remove(id);
                Answer::Done
            }
        }
    }

    /// Checks everything that can be read, with all counters computed anew.
    pub(super) async fn is_what_is_stored(&self, store: &StoreUnderTest) {
        for account in self.accounts {
            let usage = store.usage(account).await.unwrap().unwrap();
            assert_eq!(usize::try_from(usage.links).unwrap(), self.links_of(account).count());
            assert_eq!(usize::try_from(usage.groups).unwrap(), self.groups_of(account).count());
            assert_eq!(usize::try_from(usage.pixels).unwrap(), self.pixels_of(account).count());
            assert_eq!(usize::try_from(usage.domains).unwrap(), self.domains_of(account).count());
            let domains: Vec<CustomDomain> = self.domains_of(account).cloned().collect();
            assert_eq!(stored::custom_domains(store, account).await, domains);
            let pixels: Vec<Pixel> = self.pixels_of(account).cloned().collect();
            assert_eq!(stored::pixels(store, account).await, pixels);

            let links: Vec<Link> = self.links_of(account).map(|link| self.seen(account, link)).collect();
            assert_eq!(stored::links(store, account).await, links);
            for link in &links {
                assert_eq!(stored::link(store, account, link.id()).await.as_ref(), Some(link));
                if let LinkId::Landing(page) = link.id() {
                    let content = self.pages.get(&page).cloned().unwrap_or_default();
                    assert_eq!(stored::page_content(store, account, page).await, Some(content));
                }
            }

            self.has_the_stored_tags(store, account, &links).await;
            let mut groups = Vec::new();
            for group in self.groups_of(account) {
                let filter = LinkFilter { group: GroupFilter::In(group.id), ..LinkFilter::default() };
                let mut counts = [0, 0];
                for (count, kind) in counts.iter_mut().zip(KINDS) {
                    let mut inside: Vec<Link> = links
                        .iter()
                        .filter(|link| link.kind() == kind && link.group_id == Some(group.id))
                        .cloned()
                        .collect();
                    inside.reverse();
                    *count = u64::try_from(inside.len()).unwrap();
                    assert_eq!(stored::list(store, account, kind, &filter, 100).await, inside);
                }
                let [landings_count, redirects_count] = counts;
                groups.push(Group { landings_count, redirects_count, ..group.clone() });
            }
            assert_eq!(stored::groups(store, account).await, groups);
        }
        for placement in
            random_links::every_placement().iter().filter(|placement| placement.address().is_some())
        {
            let occupant = self.links.values().find(|(_, link)| link.placement == *placement);
            let occupant = occupant.filter(|(owner, _)| self.is_served(*owner, placement));
            let expected = occupant.map(|(owner, link)| self.publication_of(*owner, link));
            assert_eq!(stored::published(store, placement).await, expected, "{placement:?}");
        }
        for hostname in HOSTS.map(samples::hostname) {
            assert_eq!(store.holder_of(&hostname).await.unwrap().as_ref(), self.holder(&hostname));
        }
    }

    fn publication_of(&self, account: AccountId, link: &Link) -> PublishedLink {
        match &link.content {
            AnyContent::Landing => {
                let id = LandingId::from_bytes(link.id.to_bytes());
                let content = self.pages.get(&id).cloned().unwrap_or_default();
                stored::publication_of_page(account, link, &content)
            }
            AnyContent::Redirect(redirect) => {
                let pixels = redirect.pixel_ids.as_slice().iter().filter_map(|id| self.pixels.get(id));
                let own = pixels.filter(|(owner, _)| *owner == account);
                let codes = own.map(|(_, pixel)| pixel.code.clone());
                stored::publication_with_pixels(account, link, codes)
            }
        }
    }
}
