//! The objects that a rehearsal would have created so far.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use signpost_domain::{
    AccountId, Address, ExternalId, Group, GroupId, Link, LinkId, Page, PageLimit, PlanLimits, PlanResource,
    Refusal, TagName, Tags, Usage, Violations,
};

use super::fingerprint::Fingerprint;
use super::outcome::Imported;
use crate::application::Application;
use crate::ports::StoreError;

/// The objects that a rehearsal would have created so far. Keeps only what later rows need: some 120 bytes a link.
pub(super) struct Rehearsal {
    usage: Usage,
    limits: PlanLimits,
    groups: HashMap<GroupId, Group>,
    ids: HashMap<[u8; 16], Fingerprint>,
    hashes: RandomState,
    addresses: HashMap<u64, Fingerprint>,
    external_ids: HashSet<u64>,
    /// The keys of the account's tags, and of those that would have been created. `None` until a link with tags is rehearsed.
    tags: Option<BTreeSet<String>>,
}

/// What the store has of a link that a rehearsal creates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored {
    /// The account has the group that the link names, or the link names none.
    pub(super) has_its_group: bool,
    /// A link of the account has its external id.
    pub(super) is_external_id_taken: bool,
    /// A link of any account has its id.
    pub(super) is_id_taken: bool,
}

impl Rehearsal {
    pub(super) fn new(usage: Usage, limits: PlanLimits) -> Self {
        Self {
            usage,
            limits,
            groups: HashMap::new(),
            ids: HashMap::new(),
            hashes: RandomState::new(),
            addresses: HashMap::new(),
            external_ids: HashSet::new(),
            tags: None,
        }
    }

    /// The group with this id, if it would have been created.
    pub(super) fn group(&self, id: GroupId) -> Option<&Group> {
        self.groups.get(&id)
    }

    /// The groups that would have been created.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values()
    }

    /// The outcome for a group that the account does not have. `is_id_taken`: a stored group has its id.
    pub(super) fn create_group(&mut self, group: Group, is_id_taken: bool) -> Imported {
        let limit = self.limits.of(PlanResource::Groups);
        if self.usage.groups >= limit {
            return Refusal::PlanLimitReached { resource: PlanResource::Groups, limit }.into();
        }
        if is_id_taken {
            return Imported::group_id_taken(group.id);
        }
        self.usage.groups += 1;
        self.groups.insert(group.id, group);
        Imported::WouldCreate
    }

    /// The outcome of a row with the id of a link that an earlier row would have created.
    pub(super) fn compared_by_id(&self, id: LinkId, fingerprint: Fingerprint) -> Option<Imported> {
        self.ids.get(&id.to_bytes()).map(|earlier| compared(*earlier, fingerprint))
    }

    /// The outcome of a row with the address of a link that an earlier row would have created.
    pub(super) fn compared_by_address(
        &self,
        address: &Address,
        fingerprint: Fingerprint,
    ) -> Option<Imported> {
        let hash = self.hashes.hash_one(address);
        self.addresses.get(&hash).map(|earlier| compared(*earlier, fingerprint))
    }

    /// Reads the account's tags before the first link with tags is rehearsed.
    pub(super) async fn read_tags(
        &mut self,
        app: &Application,
        account: AccountId,
    ) -> Result<(), StoreError> {
        if self.tags.is_some() {
            return Ok(());
        }
        let (mut keys, mut after) = (BTreeSet::new(), None);
        loop {
            let Page { items, next, left_out: _ } = app.store.tags(account, PageLimit::MAX, after).await?;
            keys.extend(items.into_iter().map(|tag| tag.name.key().to_owned()));
            after = next;
            if after.is_none() {
                break;
            }
        }
        self.tags = Some(keys);
        Ok(())
    }

    /// The keys of the tags that a link needs and the account would lack. `None` if the plan has no room for them.
    fn lacking_tags(&self, tags: &Tags) -> Option<BTreeSet<String>> {
        let is_known = |key: &str| self.tags.as_ref().is_some_and(|known| known.contains(key));
        let lacking: BTreeSet<String> =
            tags.iter().map(TagName::key).filter(|key| !is_known(key)).map(str::to_owned).collect();
        let room = self.limits.of(PlanResource::Tags).saturating_sub(self.usage.tags);
        let count = u64::try_from(lacking.len()).unwrap_or(u64::MAX);
        (count <= room).then_some(lacking)
    }

    /// The outcome for a link whose address is free in the store. Applies the checks in the order of the store (see
    /// [`Insertion`](crate::ports::Insertion)). Only the fingerprints of earlier rows are kept, so a conflict with one of
    /// them does not name the fields. No earlier row has the link's id.
    pub(super) fn create_link(&mut self, link: &Link, fingerprint: Fingerprint, stored: Stored) -> Imported {
        let Stored { has_its_group, is_external_id_taken, is_id_taken } = stored;
        let address = link.placement.address();
        let earlier = address.as_ref().and_then(|address| self.compared_by_address(address, fingerprint));
        if let Some(outcome) = earlier {
            return outcome;
        }
        let Some(new_tags) = self.lacking_tags(&link.tags) else {
            let limit = self.limits.of(PlanResource::Tags);
            return Refusal::PlanLimitReached { resource: PlanResource::Tags, limit }.into();
        };
        if !has_its_group {
            return Refusal::GroupNotFound.into();
        }
        let limit = self.limits.of(PlanResource::Links);
        if self.usage.links >= limit {
            return Refusal::PlanLimitReached { resource: PlanResource::Links, limit }.into();
        }
        let external_id = link.external_id.as_ref().map(|id| self.hashes.hash_one(id));
        if is_external_id_taken || external_id.is_some_and(|hash| self.external_ids.contains(&hash)) {
            return Violations::from(ExternalId::taken_by(None)).into();
        }
        if is_id_taken {
            return Imported::link_id_taken(link);
        }
        self.external_ids.extend(external_id);
        self.usage.links += 1;
        if let Some(known) = &mut self.tags {
            self.usage.tags += u64::try_from(new_tags.len()).unwrap_or(u64::MAX);
            known.extend(new_tags);
        }
        self.ids.insert(link.id().to_bytes(), fingerprint);
        self.addresses.extend(address.map(|address| (self.hashes.hash_one(&address), fingerprint)));
        Imported::WouldCreate
    }
}

fn compared(earlier: Fingerprint, later: Fingerprint) -> Imported {
    if earlier == later { Imported::Unchanged } else { Imported::Conflict { differing: vec![] } }
}
