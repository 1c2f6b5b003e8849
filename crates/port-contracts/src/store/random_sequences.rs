//! Long random sequences of operations on a store and on a small model, which must agree in every answer, counter and list.

use std::collections::BTreeMap;

use signpost_app::ports::{Insertion, UnitOfWork};
use signpost_domain::{AccountId, Group, LandingId, Link, LinkId, LinkKind, PageContent, Timestamp};

use super::fixture::Fresh;
use super::given::{self, Decision, unit};
use super::model::{Answer, GROUPS_LIMIT, LINKS_LIMIT, Model, Operation, PIXELS_LIMIT};
use super::page_values::described;
use super::random_links::Named;
use super::{domain_operations, random_links, stored, tag_operations};
use crate::pseudorandom::Pseudorandom;
use crate::samples;

cases! {
    $ random_sequences
    the_store_behaves_like_the_model
}

/// The maximum number of links of an operation.
const MOST: u64 = 8;

/// An operation on rows of the account, rows of the other account, or unknown ones.
fn any_operation(model: &Model, random: &mut Pseudorandom) -> Operation {
    let account = model.accounts[usize::from(random.one_in(2))];
    let now = samples::at(i64::try_from(random.below(1_000)).unwrap());
    let named = Named {
        groups: model.groups.keys().copied().collect(),
        pixels: model.pixels.keys().copied().collect(),
    };
    let links: Vec<&Link> = model.links.values().map(|(_, link)| link).collect();
    let group = random.pick(&named.groups).copied().unwrap_or_else(samples::id);
    let link = random.pick(&links).copied();
    match (random.below(36), link) {
        (0, _) => Operation::InsertGroup(account, samples::group("A group")),
        (1, _) => Operation::RenameGroup(account, group, format!("Group {}", random.below(9))),
        (2, _) => Operation::DeleteGroup(account, group, now),
        (3 | 4, _) => Operation::DeleteLinks(account, any_ids(model, random)),
        (5..=7, _) => Operation::AssignLinks(account, group, any_ids(model, random), now),
        (8 | 9, _) => Operation::UnassignLinks(account, group, any_ids(model, random), now),
        (10..=12, Some(link)) => {
            Operation::UpdateLinks(account, vec![random_links::changed(link, random, &named, now)])
        }
        (13, Some(_)) => Operation::UpdateLinks(account, any_changes(model, random, account, &named, now)),
        (14 | 15, Some(link)) if link.kind() == LinkKind::Landing => {
            let page = LandingId::from_bytes(link.id.to_bytes());
            Operation::WritePage(account, page, any_content(random))
        }
        (16, _) => Operation::InsertPixel(account, samples::pixel("A pixel")),
        (17, _) => {
            Operation::DeletePixel(account, random.pick(&named.pixels).copied().unwrap_or_else(samples::id))
        }
        (18..=23, _) => Operation::OnDomains(domain_operations::any(model, random, account, now)),
        (24..=27, _) => Operation::OnTags(tag_operations::any(model, random, account)),
        _ => {
            let links = random.below(MOST + 1);
            Operation::InsertLinks(
                account,
                (0..links).map(|_| random_links::any_link(random, &named)).collect(),
            )
        }
    }
}

/// Changes of some links of an account. None takes the address of another of these links.
fn any_changes(
    model: &Model,
    random: &mut Pseudorandom,
    account: AccountId,
    named: &Named,
    now: Timestamp,
) -> Vec<Link> {
    let own = model.links.values().filter(|(owner, _)| *owner == account).map(|(_, link)| link);
    let chosen: Vec<&Link> = own.filter(|_| random.one_in(3)).collect();
    let mut changes = Vec::new();
    for link in &chosen {
        let after = random_links::changed(link, random, named, now);
        let address = after.placement.address();
        let mut others = chosen.iter().filter(|other| other.id() != link.id());
        if address.is_none() || others.all(|other| other.placement.address() != address) {
            changes.push(after);
        }
    }
    changes
}

/// Random content of a page, or none.
fn any_content(random: &mut Pseudorandom) -> PageContent {
    match random.below(4) {
        0 => PageContent::default(),
        1 => samples::page_content(),
        _ => described(&format!("Text {}", random.below(9))),
    }
}

/// Ids of links of both accounts, some repeated, some of the other kind, and some unknown.
fn any_ids(model: &Model, random: &mut Pseudorandom) -> Vec<LinkId> {
    let known: Vec<LinkId> = model.links.keys().copied().collect();
    let mut ids = Vec::new();
    for _ in 0..random.below(MOST + 1) {
        let known = random.pick(&known).copied();
        let repeated = random.pick(&ids).copied();
        ids.push(
            match random.below(10) {
                0 => None,
                1 => known.map(given::twin),
                2 => repeated,
                _ => known,
            }
            .unwrap_or_else(|| LinkId::Redirect(samples::id())),
        );
    }
    ids
}

/// Runs the operation on the store and returns its answer.
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
        Operation::DeleteGroup(account, id, now) => {
            if work.delete_group(*account, *id, *now).await? {
                Answer::Done
            } else {
                Answer::NotThere
            }
        }
        Operation::InsertLinks(account, links) => {
            Answer::Inserted(work.insert_links(*account, links, LINKS_LIMIT).await?)
        }
        Operation::UpdateLinks(account, after) => update_links(work, *account, after).await?,
        Operation::DeleteLinks(account, ids) => {
            let mut deleted = work.delete_links(*account, ids).await?;
            deleted.sort();
            Answer::Deleted(deleted)
        }
        Operation::AssignLinks(account, group, ids, now) => {
            moved(work.assign_links(*account, *group, ids, *now).await?)
        }
        Operation::UnassignLinks(account, group, ids, now) => {
            moved(work.unassign_links(*account, *group, ids, *now).await?)
        }
        Operation::WritePage(account, id, content) => match work.lock_link(*account, (*id).into()).await? {
            Some(_) => {
                work.write_page_content(*account, *id, content).await?;
                assert_eq!(work.page_content(*account, *id).await?, *content);
                Answer::Done
            }
            None => Answer::NotThere,
        },
        Operation::OnDomains(operation) => domain_operations::carry_out(work, operation).await?,
        Operation::OnTags(operation) => tag_operations::carry_out(work, operation).await?,
        Operation::InsertPixel(account, pixel) => {
            answer(work.insert_pixel(*account, pixel, PIXELS_LIMIT).await.map_err(Decision::from))
        }
        Operation::DeletePixel(account, id) => {
            if work.delete_pixel(*account, *id).await? {
                Answer::Done
            } else {
                Answer::NotThere
            }
        }
    };
    if answered == Answer::Refused(Decision::Again) { Err(Decision::Again) } else { Ok(answered) }
}

/// A single link as single requests do.
async fn update_links(
    work: &mut dyn UnitOfWork,
    account: AccountId,
    after: &[Link],
) -> Result<Answer, Decision> {
    if let [after] = after {
        return Ok(match work.lock_link(account, after.id()).await? {
            Some(before) => answer(work.update_link(account, &before, after).await.map_err(Decision::from)),
            None => Answer::NotThere,
        });
    }
    work.expect_move();
    let locked = work.lock_links(account, &given::ids(after)).await?;
    let before = |link: &Link| locked.iter().find(|before| before.id() == link.id());
    let changes: Option<Vec<(&Link, &Link)>> =
        after.iter().map(|after| Some((before(after)?, after))).collect();
    let Some(changes) = changes else { return Ok(Answer::NotThere) };
    Ok(answer(work.update_links(account, &changes).await.map_err(Decision::from)))
}

pub(super) fn answer(outcome: Result<(), Decision>) -> Answer {
    outcome.map_or_else(Answer::Refused, |()| Answer::Done)
}

fn moved(links: Option<Vec<Link>>) -> Answer {
    links.map_or(Answer::NotThere, |links| Answer::Moved(given::sorted(links)))
}

/// The number of each kind of answer: the case fails if some kind hardly occurred.
#[derive(Debug, Default)]
struct Tally(BTreeMap<&'static str, usize>);

impl Tally {
    fn count(&mut self, answer: &Answer) {
        let mut add = |name, times| *self.0.entry(name).or_default() += times;
        match answer {
            Answer::Done => add("done", 1),
            Answer::NotThere => add("not there", 1),
            Answer::Refused(_) => add("refused", 1),
            Answer::Inserted(insertions) => {
                for insertion in insertions {
                    add(
                        match insertion {
                            Insertion::GroupMissing => "insertion: group missing",
                            Insertion::LimitReached => "insertion: limit reached",
                            Insertion::ExternalIdTaken => "insertion: external id taken",
                            Insertion::IdTaken => "insertion: id taken",
                            Insertion::AddressTaken => "insertion: address taken",
                            Insertion::Done => "insertion: done",
                        },
                        1,
                    );
                }
            }
            Answer::Deleted(ids) => add("deleted", ids.len()),
            Answer::Moved(links) => add("moved", links.len()),
            Answer::Lost(links) => add("lost", usize::from(*links)),
        }
    }
}

/// The sequences run in units of work of one or several operations. Some units are rolled back.
pub(super) async fn the_store_behaves_like_the_model(fresh: Fresh) {
    let store = fresh.store().await;
    let mut tally = Tally::default();
    for seed in 0..8 {
        let mut random = Pseudorandom::new(seed);
        let accounts = [given::account(&store).await, given::account(&store).await];
        let mut model = Model::new(accounts);
        for step in 0..100 {
            // Choose the operations before the unit of work runs, because it may run more than once.
            let mut next = model.clone();
            let operations: Vec<(Operation, Answer)> = (0..=random.below(4))
                .map(|_| {
                    let operation = any_operation(&next, &mut random);
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
            for (_, answer) in &operations {
                tally.count(answer);
            }
        }
        model.is_what_is_stored(&store).await;
        // The next sequence uses the same addresses.
        for account in accounts {
            assert!(unit!(&store, async |work| Ok(work.delete_account(account).await?)).await.unwrap());
        }
        for placement in
            random_links::every_placement().iter().filter(|placement| placement.address().is_some())
        {
            assert_eq!(stored::published(&store, placement).await, None);
        }
    }
    let Tally(times) = tally;
    assert_eq!(times.len(), 10, "some answer never occurred: {times:?}");
    assert!(times.values().all(|times| *times > 40), "some answer occurred too rarely: {times:?}");
}
