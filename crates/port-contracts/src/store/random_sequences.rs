//! Long sequences of operations, compared with a model that fits on a page: every answer, every counter,
//! every list.

use std::collections::BTreeMap;

use signpost_app::ports::UnitOfWork;
use signpost_domain::{
    AccountId, Group, GroupFilter, GroupId, LinkFilter, Placement, Redirect, RedirectId, Slug, Timestamp,
};

use super::fixture::{Fresh, StoreUnderTest};
use super::given::{self, Decision, unit};
use crate::pseudorandom::Pseudorandom;
use crate::samples;

/// What two accounts own, and the limits of both.
#[derive(Clone)]
struct Model {
    accounts: [AccountId; 2],
    groups: BTreeMap<GroupId, (AccountId, Group)>,
    links: BTreeMap<RedirectId, (AccountId, Redirect)>,
}

const LINKS_LIMIT: u64 = 12;
const GROUPS_LIMIT: u64 = 3;

enum Operation {
    InsertGroup(AccountId, Group),
    RenameGroup(AccountId, GroupId, String),
    DeleteGroup(AccountId, GroupId, Timestamp),
    InsertLink(AccountId, Redirect),
    UpdateLink(AccountId, Redirect),
    DeleteLink(AccountId, RedirectId),
}

impl Model {
    fn links_of(&self, account: AccountId) -> impl DoubleEndedIterator<Item = &Redirect> {
        self.links.values().filter(move |(owner, _)| *owner == account).map(|(_, link)| link)
    }

    fn groups_of(&self, account: AccountId) -> impl DoubleEndedIterator<Item = &Group> {
        self.groups.values().filter(move |(owner, _)| *owner == account).map(|(_, group)| group)
    }

    /// An operation on things that are there, things of the other account, and things that are nowhere.
    fn choose(&self, random: &mut Pseudorandom) -> Operation {
        let account = self.accounts[usize::from(random.one_in(2))];
        let at = samples::at(i64::try_from(random.below(1_000)).unwrap());
        let groups: Vec<GroupId> = self.groups.keys().copied().collect();
        let links: Vec<&Redirect> = self.links.values().map(|(_, link)| link).collect();
        let group = random.pick(&groups).copied().unwrap_or_else(samples::id);
        let group_id = if random.one_in(2) { Some(group) } else { None };
        let link = random.pick(&links).copied().cloned();
        match (random.below(12), link) {
            (0, _) => Operation::InsertGroup(account, samples::group("A group")),
            (1, _) => Operation::RenameGroup(account, group, format!("Group {}", random.below(9))),
            (2, _) => Operation::DeleteGroup(account, group, at),
            (3 | 4, Some(link)) => Operation::DeleteLink(account, link.id),
            (5..=7, Some(link)) => {
                let after = Redirect { group_id, placement: placement(random), updated_at: at, ..link };
                Operation::UpdateLink(account, after)
            }
            _ => {
                let link = samples::redirect_at(placement(random));
                Operation::InsertLink(account, Redirect { group_id, is_active: random.one_in(2), ..link })
            }
        }
    }

    fn has_group_of(&self, account: AccountId, link: &Redirect) -> bool {
        link.group_id.is_none_or(|group| self.groups.get(&group).is_some_and(|(owner, _)| *owner == account))
    }

    fn is_taken_from(&self, link: &Redirect) -> bool {
        let address = link.placement.address();
        let mut others = self.links.values().filter(|(_, other)| other.id != link.id);
        address.is_some() && others.any(|(_, other)| other.placement.address() == address)
    }

    /// What the operation must answer; carries it out if nothing speaks against it.
    fn apply(&mut self, operation: &Operation) -> Answer {
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
                if self.groups.get(id).is_none_or(|(owner, _)| owner != account) {
                    return Answer::NotThere;
                }
                self.groups.remove(id);
                let links = self.links.values_mut().map(|(_, link)| link);
                for link in links.filter(|link| link.group_id == Some(*id)) {
                    link.group_id = None;
                    link.updated_at = link.updated_at.max(*now);
                }
                Answer::Done
            }
            Operation::InsertLink(account, link) => {
                if !self.has_group_of(*account, link) {
                    return Answer::Refused(Decision::GroupMissing);
                }
                if self.links_of(*account).count() >= usize::try_from(LINKS_LIMIT).unwrap() {
                    return Answer::Refused(Decision::LimitReached);
                }
                if self.is_taken_from(link) {
                    return Answer::Refused(Decision::AddressTaken);
                }
                self.links.insert(link.id, (*account, link.clone()));
                Answer::Done
            }
            Operation::UpdateLink(account, after) => {
                if self.links.get(&after.id).is_none_or(|(owner, _)| owner != account) {
                    return Answer::NotThere;
                }
                if !self.has_group_of(*account, after) {
                    return Answer::Refused(Decision::GroupMissing);
                }
                if self.is_taken_from(after) {
                    return Answer::Refused(Decision::AddressTaken);
                }
                self.links.insert(after.id, (*account, after.clone()));
                Answer::Done
            }
            Operation::DeleteLink(account, id) => {
                if self.links.get(id).is_none_or(|(owner, _)| owner != account) {
                    return Answer::NotThere;
                }
                self.links.remove(id);
                Answer::Done
            }
        }
    }

    /// Everything that can be read, counted anew.
    async fn is_what_is_stored(&self, store: &StoreUnderTest) {
        for account in self.accounts {
            let usage = store.usage(account).await.unwrap().unwrap();
            assert_eq!(usize::try_from(usage.links).unwrap(), self.links_of(account).count());
            assert_eq!(usize::try_from(usage.groups).unwrap(), self.groups_of(account).count());

            let links: Vec<Redirect> = self.links_of(account).rev().cloned().collect();
            let all =
                store.redirects(account, &LinkFilter::default(), given::limit(100), None).await.unwrap();
            assert_eq!(all.items, links);

            let counted = self.groups_of(account).rev().map(|group| {
                let count = links.iter().filter(|link| link.group_id == Some(group.id)).count();
                Group { redirects_count: u64::try_from(count).unwrap(), ..group.clone() }
            });
            let groups: Vec<Group> = counted.collect();
            let all = store.groups(account, given::limit(100), None).await.unwrap();
            assert_eq!(all.items, groups);
            for group in groups {
                let filter = LinkFilter { group: GroupFilter::In(group.id), ..LinkFilter::default() };
                let inside = store.redirects(account, &filter, given::limit(100), None).await.unwrap();
                assert_eq!(u64::try_from(inside.items.len()).unwrap(), group.redirects_count);
            }
        }
        for address in every_placement().iter().filter_map(Placement::address) {
            let expected =
                self.links.values().find(|(_, link)| link.placement.address().as_ref() == Some(&address));
            let found = store.published_link(&address).await.unwrap();
            assert_eq!(
                found.map(|link| link.is_active),
                expected.map(|(_, link)| link.is_active),
                "{address:?}"
            );
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Done,
    NotThere,
    Refused(Decision),
}

/// The answer of the store to the same operation.
async fn carry_out(work: &mut dyn UnitOfWork, operation: &Operation) -> Result<Answer, Decision> {
    let answered = match operation {
        Operation::InsertGroup(account, group) => {
            answer(work.insert_group(*account, group, GROUPS_LIMIT).await.map_err(Decision::from))
        }
        Operation::RenameGroup(account, id, name) => match work.lock_group(*account, *id).await? {
            Some(group) => {
                let renamed = Group { name: samples::name(name), ..group };
                answer(work.update_group(*account, &renamed).await.map_err(Decision::from))
            }
            None => Answer::NotThere,
        },
        Operation::DeleteGroup(account, id, now) => there(work.delete_group(*account, *id, *now).await?),
        Operation::InsertLink(account, link) => {
            answer(work.insert_redirect(*account, link, LINKS_LIMIT).await.map_err(Decision::from))
        }
        Operation::UpdateLink(account, after) => match work.lock_redirect(*account, after.id).await? {
            Some(before) => {
                answer(work.update_redirect(*account, &before, after).await.map_err(Decision::from))
            }
            None => Answer::NotThere,
        },
        Operation::DeleteLink(account, id) => there(work.delete_redirect(*account, *id).await?),
    };
    if answered == Answer::Refused(Decision::Again) { Err(Decision::Again) } else { Ok(answered) }
}

fn answer(outcome: Result<(), Decision>) -> Answer {
    outcome.map_or_else(Answer::Refused, |()| Answer::Done)
}

fn there(is_there: bool) -> Answer {
    if is_there { Answer::Done } else { Answer::NotThere }
}

/// Few addresses, so that links meet.
fn every_placement() -> Vec<Placement> {
    let mut placements = Vec::new();
    for slug in ["a", "A", "b", "c", "d", "e", "f", "g"] {
        placements.push(samples::on_system(slug));
        placements.push(samples::on_custom("a.example.net", Some(slug)));
    }
    placements.push(samples::on_custom("a.example.net", None));
    placements.push(samples::on_custom("b.example.net", None));
    placements.extend(["a", "b"].map(|slug| Placement::Lost { slug: Slug::parse(slug).ok() }));
    placements
}

fn placement(random: &mut Pseudorandom) -> Placement {
    random.pick(&every_placement()).cloned().unwrap()
}

/// The store answers as the model does, in units of work of one or several operations, of which some are
/// undone.
pub(super) async fn the_store_behaves_as_the_model_does(fresh: Fresh) {
    let store = fresh.store().await;
    for seed in 0..8 {
        let mut random = Pseudorandom::new(seed);
        let accounts = [given::account(&store).await, given::account(&store).await];
        let mut model = Model { accounts, groups: BTreeMap::new(), links: BTreeMap::new() };
        let (mut done, mut refused) = (0, 0);
        for step in 0..60 {
            // What the unit of work does is settled before it runs, since it may run more than once.
            let mut next = model.clone();
            let operations: Vec<(Operation, Answer)> = (0..=random.below(4))
                .map(|_| {
                    let operation = next.choose(&mut random);
                    let answer = next.apply(&operation);
                    (operation, answer)
                })
                .collect();
            let is_undone = random.one_in(4);
            let outcome = unit!(&store, async |work| {
                for (operation, expected) in &operations {
                    let answered = carry_out(work, operation).await?;
                    assert_eq!(answered, *expected, "seed {seed}, step {step}");
                }
                if is_undone { Err(Decision::LimitReached) } else { Ok(()) }
            });
            assert_eq!(outcome.await.is_err(), is_undone);
            if !is_undone {
                model = next;
            }
            done += operations.iter().filter(|(_, answer)| *answer == Answer::Done).count();
            refused += operations.iter().filter(|(_, answer)| matches!(answer, Answer::Refused(_))).count();
        }
        assert!(done > 20 && refused > 5, "seed {seed} tries too little: {done} done, {refused} refused");
        model.is_what_is_stored(&store).await;
        // The next sequence uses the same addresses.
        for account in accounts {
            assert!(unit!(&store, async |work| Ok(work.delete_account(account).await?)).await.unwrap());
        }
        for address in every_placement().iter().filter_map(Placement::address) {
            assert_eq!(store.published_link(&address).await.unwrap(), None);
        }
    }
}
