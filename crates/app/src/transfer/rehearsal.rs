//! What a rehearsal would have created by now.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use signpost_domain::{Address, Group, GroupId, Link, LinkId, PlanLimits, PlanResource, Refusal, Usage};

use super::draws::Fingerprint;
use super::outcome::Imported;

/// What a rehearsal would have created by now, as far as later rows depend on it: some 120 bytes a link.
pub(super) struct Rehearsal {
    usage: Usage,
    limits: PlanLimits,
    groups: HashMap<GroupId, Group>,
    ids: HashMap<[u8; 16], Fingerprint>,
    hashes: RandomState,
    addresses: HashMap<u64, Fingerprint>,
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
        }
    }

    /// The group that would be there by now.
    pub(super) fn group(&self, id: GroupId) -> Option<&Group> {
        self.groups.get(&id)
    }

    /// The groups that would have been created by now.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values()
    }

    pub(super) fn create_group(&mut self, group: Group) -> Imported {
        let limit = self.limits.of(PlanResource::Groups);
        if self.usage.groups >= limit {
            return Refusal::PlanLimitReached { resource: PlanResource::Groups, limit }.into();
        }
        self.usage.groups += 1;
        self.groups.insert(group.id, group);
        Imported::WouldCreate
    }

    /// What becomes of a row that names the id of what an earlier row would have created.
    pub(super) fn compared_by_id(&self, id: LinkId, fingerprint: Fingerprint) -> Option<Imported> {
        self.ids.get(&id.to_bytes()).map(|earlier| compared(*earlier, fingerprint))
    }

    /// What becomes of a row that names the address of what an earlier row would have created.
    pub(super) fn compared_by_address(
        &self,
        address: &Address,
        fingerprint: Fingerprint,
    ) -> Option<Imported> {
        let hash = self.hashes.hash_one(address);
        self.addresses.get(&hash).map(|earlier| compared(*earlier, fingerprint))
    }

    /// What would become of a link that is not in the way of anything in the store, in the order in which the store
    /// decides (see [`Insertion`](crate::ports::Insertion)). What an earlier row would have created is not kept, so of a
    /// difference from it only that there is one is known. No earlier row has its id.
    pub(super) fn create_link(
        &mut self,
        link: &Link,
        fingerprint: Fingerprint,
        has_its_group: bool,
    ) -> Imported {
        let address = link.placement.address();
        let earlier = address.as_ref().and_then(|address| self.compared_by_address(address, fingerprint));
        if let Some(outcome) = earlier {
            return outcome;
        }
        if !has_its_group {
            return Refusal::GroupNotFound.into();
        }
        let limit = self.limits.of(PlanResource::Links);
        if self.usage.links >= limit {
            return Refusal::PlanLimitReached { resource: PlanResource::Links, limit }.into();
        }
        self.usage.links += 1;
        self.ids.insert(link.id().to_bytes(), fingerprint);
        self.addresses.extend(address.map(|address| (self.hashes.hash_one(&address), fingerprint)));
        Imported::WouldCreate
    }
}

fn compared(earlier: Fingerprint, later: Fingerprint) -> Imported {
    if earlier == later { Imported::Unchanged } else { Imported::Conflict { differing: vec![] } }
}
