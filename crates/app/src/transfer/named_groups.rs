//! Groups that rows refer to by name.

use std::collections::{BTreeSet, HashMap};

use signpost_domain::{AccountId, Group, GroupId, Name, Page, PageLimit, Timestamp};

use super::entry::LinkToCreate;
use super::group_choice::GroupChoice;
use super::insertion::{GroupInsertion, Names, insert_groups};
use super::outcome::Imported;
use crate::app_error::OperatorError;
use crate::application::Application;
use crate::ports::StoreError;

/// How many groups are read at once.
const AT_ONCE: u64 = 100;

/// The groups of an account by name. An unknown name means a new group, which is created with its first link.
pub(super) struct NamedGroups {
    account: AccountId,
    /// Read again when a row names an unknown group.
    known: HashMap<Name, BTreeSet<GroupId>>,
    /// Groups that the current rows need and that do not exist yet.
    missing: HashMap<GroupId, Group>,
    created: u64,
}

/// Missing groups that were not created.
#[derive(Debug, Default)]
pub(super) struct NotCreated {
    /// The outcome of their links.
    pub(super) refused: HashMap<GroupId, Imported>,
    /// The existing groups that take their place.
    pub(super) existing: HashMap<GroupId, GroupId>,
}

fn ambiguous_name(groups: usize) -> Imported {
    Imported::unreadable(format!(
        "`group` is the name of {groups} groups; name the one by its id, in `group_id`."
    ))
}

impl NamedGroups {
    pub(super) fn of(account: AccountId) -> Self {
        Self { account, known: HashMap::new(), missing: HashMap::new(), created: 0 }
    }

    /// How many groups were created because a row named them.
    pub(super) const fn created(&self) -> u64 {
        self.created
    }

    /// Looks up the groups that links name. Returns the links, and separately the rows with an ambiguous name: any choice
    /// between several groups could be wrong.
    pub(super) async fn look_up<'a>(
        &mut self,
        app: &Application,
        rehearsed: impl Iterator<Item = &'a Group>,
        links: Vec<LinkToCreate>,
        now: Timestamp,
    ) -> Result<(Vec<LinkToCreate>, Vec<(usize, Imported)>), StoreError> {
        self.missing.clear();
        let is_known = |link: &LinkToCreate| match &link.link.group {
            GroupChoice::Named { name, id: _ } => self.known.contains_key(name),
            GroupChoice::Unspecified | GroupChoice::None | GroupChoice::Id(_) => true,
        };
        if !links.iter().all(is_known) {
            // An API client may have created the group meanwhile.
            self.read(app, rehearsed).await?;
        }
        let mut missing: HashMap<Name, Group> = HashMap::new();
        let (mut found, mut ambiguous) = (Vec::with_capacity(links.len()), vec![]);
        for mut link in links {
            if let GroupChoice::Named { name, id } = &mut link.link.group {
                let groups = self.known.get(name);
                let count = groups.map_or(0, BTreeSet::len);
                if count > 1 {
                    ambiguous.push((link.index, ambiguous_name(count)));
                    continue;
                }
                *id = Some(groups.and_then(BTreeSet::first).copied().unwrap_or_else(|| {
                    let new = || Group::create(app.ids.next(), name.clone(), now);
                    missing.entry(name.clone()).or_insert_with(new).id
                }));
            }
            found.push(link);
        }
        self.missing = missing.into_values().map(|group| (group.id, group)).collect();
        Ok((found, ambiguous))
    }

    /// The group with this id, if it has to be created first.
    pub(super) fn missing(&self, id: GroupId) -> Option<&Group> {
        self.missing.get(&id)
    }

    /// Adds a group that was created, or that a rehearsal would have created.
    pub(super) fn add(&mut self, group: &Group) {
        if self.missing.remove(&group.id).is_some() {
            self.created += 1;
        }
        self.note(&group.name, group.id);
    }

    /// Notes a group that exists.
    fn note(&mut self, name: &Name, id: GroupId) {
        // An empty map means that the groups were not read yet. Reading them later finds this one too.
        if !self.known.is_empty() {
            self.known.entry(name.clone()).or_default().insert(id);
        }
    }

    /// Creates the missing groups among these together. A group whose name was taken meanwhile is not created.
    pub(super) async fn create_missing(
        &mut self,
        app: &Application,
        groups: BTreeSet<GroupId>,
        limit: u64,
    ) -> Result<NotCreated, OperatorError> {
        let groups: Vec<_> = groups.into_iter().filter_map(|id| self.missing(id)).cloned().collect();
        let insertions = insert_groups(app, self.account, &groups, limit, Names::New).await?;
        let mut not_created = NotCreated::default();
        for (group, insertion) in groups.iter().zip(insertions) {
            let refusal = match insertion {
                Some(GroupInsertion::Done) => {
                    self.add(group);
                    continue;
                }
                Some(GroupInsertion::NameTaken(id, 0)) => {
                    not_created.existing.insert(group.id, id);
                    self.missing.remove(&group.id);
                    self.note(&group.name, id);
                    continue;
                }
                Some(GroupInsertion::NameTaken(_, others)) => {
                    // The next row with this name finds them all.
                    self.known.remove(&group.name);
                    ambiguous_name(others + 1)
                }
                Some(GroupInsertion::LimitReached) => Imported::groups_limit_reached(limit),
                // The ids of these groups are new, so no group has them.
                Some(GroupInsertion::IdTaken) | None => Imported::not_storable(),
            };
            not_created.refused.insert(group.id, refusal);
        }
        Ok(not_created)
    }

    async fn read<'a>(
        &mut self,
        app: &Application,
        rehearsed: impl Iterator<Item = &'a Group>,
    ) -> Result<(), StoreError> {
        self.known.clear();
        let at_once = PageLimit::new(AT_ONCE).unwrap_or_default();
        let mut after = None;
        loop {
            // Unreadable rows have no name, so no record can refer to them.
            let Page { items, next, left_out: _ } = app.store.groups(self.account, at_once, after).await?;
            for group in items {
                self.known.entry(group.name).or_default().insert(group.id);
            }
            after = next;
            if after.is_none() {
                break;
            }
        }
        for group in rehearsed {
            self.known.entry(group.name.clone()).or_default().insert(group.id);
        }
        Ok(())
    }
}
