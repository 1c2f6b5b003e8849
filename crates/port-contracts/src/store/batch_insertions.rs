//! Batch insertion of links, which equals single insertions in order (D20, D29, D30).

use signpost_app::ports::{InsertLinksError, Insertion, UnitOfWork};
use signpost_domain::{ExternalId, Link, LinkId, LinkKind, Usage};

use super::fixture::Fresh;
use super::given::{self, AT_ONCE, Decision, KINDS, PLENTY, unit};
use super::random_links::Named;
use super::{domain_steps, random_links, stored};
use crate::pseudorandom::Pseudorandom;
use crate::samples;

cases! {
    $ batch_insertions
    one_batch_can_contain_every_decision
    a_refused_link_leaves_no_trace
    d15_refused_links_do_not_count_against_the_limit
    an_empty_batch_changes_nothing
    a_hundred_links_are_inserted_at_once
    link_ids_are_unique_in_a_batch
    a_link_with_a_stored_id_is_refused
    ids_external_ids_and_addresses_are_decided_in_one_batch
    a_batch_is_part_of_its_unit_of_work
    a_batch_equals_single_insertions_in_order
}

const LANDING: LinkKind = LinkKind::Landing;
const REDIRECT: LinkKind = LinkKind::Redirect;

/// Each link gets the decision that it would get in an insertion of its own, after the links before it.
pub(super) async fn one_batch_can_contain_every_decision(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    let foreign = given::group(&store, other).await.id;
    let a_root = samples::on_custom("a.example.net", None);
    let b_root = samples::on_custom("b.example.net", None);
    domain_steps::serve(&store, account, [&a_root, &b_root]).await;
    given::link(&store, other, samples::landing("held")).await;
    given::link(&store, account, samples::redirect_at(a_root.clone())).await;

    // The limit has room for five.
    let (limit, lost) = (6, samples::lost(Some("new")));
    let cases = [
        (given::in_group(Some(group), REDIRECT, "new"), Insertion::Done),
        (given::in_group(Some(samples::id()), LANDING, "claimed"), Insertion::GroupMissing),
        (given::in_group(Some(foreign), REDIRECT, "claimed"), Insertion::GroupMissing),
        (samples::link(LANDING, "held"), Insertion::AddressTaken),
        (given::in_group(Some(foreign), LANDING, "held"), Insertion::GroupMissing),
        (samples::link_at(REDIRECT, a_root.clone()), Insertion::AddressTaken),
        (samples::link_at(LANDING, b_root.clone()), Insertion::Done),
        (samples::link_at(REDIRECT, b_root.clone()), Insertion::AddressTaken),
        (given::in_group(Some(group), LANDING, "new"), Insertion::AddressTaken),
        (samples::link_at(REDIRECT, lost.clone()), Insertion::Done),
        (samples::link_at(LANDING, lost.clone()), Insertion::Done),
        // The earlier link at this address was refused.
        (samples::link(LANDING, "claimed"), Insertion::Done),
        (samples::link(REDIRECT, "free"), Insertion::LimitReached),
        (given::in_group(Some(group), REDIRECT, "new"), Insertion::LimitReached),
        (samples::link_at(LANDING, a_root), Insertion::LimitReached),
        (samples::link_at(LANDING, lost), Insertion::LimitReached),
        (given::in_group(Some(samples::id()), LANDING, "free"), Insertion::GroupMissing),
        (given::in_group(Some(foreign), REDIRECT, "new"), Insertion::GroupMissing),
    ];
    let (links, expected): (Vec<Link>, Vec<Insertion>) = cases.into_iter().unzip();
    let answers = given::insert_links(&store, account, &links, limit).await;
    assert_eq!(answers, Ok(expected.clone()));

    for (link, insertion) in links.iter().zip(&expected) {
        let is_there = *insertion == Insertion::Done;
        let read = stored::link(&store, account, link.id()).await;
        assert_eq!(read.as_ref(), is_there.then_some(link));
        if is_there && link.placement.address().is_some() {
            let published = stored::published(&store, &link.placement).await;
            assert_eq!(published, Some(stored::publication_of(account, link)));
        }
    }
    assert_eq!(stored::published(&store, &samples::on_system("free")).await, None);
    assert_eq!(stored::links_count(&store, account).await, limit);
    assert_eq!(stored::group_counts(&store, account, group).await, [0, 1]);
    assert_eq!(stored::group_counts(&store, other, foreign).await, [0, 0]);
    assert_eq!(stored::links_count(&store, other).await, 1);
    for account in [account, other] {
        stored::counters_are_right(&store, account).await;
    }
}

/// Its address and id stay free, and no count changes.
pub(super) async fn a_refused_link_leaves_no_trace(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let [mine, late] = [samples::group("Mine"), samples::group("Not there yet")];
    given::insert_group(&store, account, &mine, PLENTY).await.unwrap();
    let held = given::link(&store, account, given::in_group(Some(mine.id), LANDING, "held")).await;
    let taken = KINDS.map(|kind| given::in_group(Some(mine.id), kind, "held"));
    let groupless = KINDS.map(|kind| given::in_group(Some(late.id), kind, &format!("late-{kind:?}")));
    let too_many = KINDS.map(|kind| given::in_group(Some(mine.id), kind, &format!("many-{kind:?}")));
    for (links, limit, kept_out) in [
        (&taken, PLENTY, Insertion::AddressTaken),
        (&groupless, PLENTY, Insertion::GroupMissing),
        (&too_many, 1, Insertion::LimitReached),
    ] {
        let answers = given::insert_links(&store, account, links, limit).await;
        assert_eq!(answers, Ok(vec![kept_out; 2]));
        assert_eq!(stored::links(&store, account).await, std::slice::from_ref(&held));
        assert_eq!(stored::links_count(&store, account).await, 1);
        assert_eq!(stored::group_counts(&store, account, mine.id).await, [1, 0]);
    }
    // Every account may use the addresses.
    for link in groupless.iter().chain(&too_many) {
        let claim = given::link(&store, other, samples::link_at(LANDING, link.placement.clone())).await;
        assert!(given::delete_link(&store, other, claim.id()).await);
    }
    // Each link is inserted once the reason for its refusal is gone.
    given::insert_group(&store, account, &late, PLENTY).await.unwrap();
    assert!(given::delete_link(&store, account, held.id()).await);
    let [first_taken, second_taken] = taken;
    let links: Vec<Link> = groupless.into_iter().chain(too_many).chain([first_taken, second_taken]).collect();
    let answers = given::insert_links(&store, account, &links, 5).await.unwrap();
    let (last, others) = answers.split_last().unwrap();
    assert_eq!((*last, others), (Insertion::LimitReached, &[Insertion::Done; 5][..]));
    stored::counters_are_right(&store, account).await;
}

/// With a limit of N exactly N valid links are inserted, no matter how many refused links are between them (D15).
pub(super) async fn d15_refused_links_do_not_count_against_the_limit(fresh: Fresh) {
    let store = fresh.store().await;
    for limit in [0, 1, 2, 9, 10, 11, 19, 20, 21, PLENTY] {
        let account = given::account(&store).await;
        let group = given::group(&store, account).await.id;
        // Two of every four links are refused for another reason.
        let (mut links, mut against) = (Vec::new(), Vec::new());
        for number in 0..10 {
            let kind = KINDS[number % 2];
            let [first, second] = ["first", "second"].map(|slug| format!("{slug}-{number}"));
            links.push(given::in_group(Some(group), kind, &first));
            links.push(given::in_group(Some(group), given::other(kind), &first));
            links.push(given::in_group(Some(samples::id()), kind, &second));
            links.push(given::in_group(None, kind, &second));
            against.extend([None, Some(Insertion::AddressTaken), Some(Insertion::GroupMissing), None]);
        }
        let mut room = limit;
        let expected = against.into_iter().map(|against| match against {
            Some(Insertion::GroupMissing) => Insertion::GroupMissing,
            _ if room == 0 => Insertion::LimitReached,
            Some(against) => against,
            None => {
                room -= 1;
                Insertion::Done
            }
        });
        let expected: Vec<Insertion> = expected.collect();
        let answers = given::insert_links(&store, account, &links, limit).await;
        assert_eq!(answers, Ok(expected), "limit {limit}");
        assert_eq!(stored::links_count(&store, account).await, limit.min(20));
        stored::counters_are_right(&store, account).await;
        assert!(unit!(&store, async |work| Ok(work.delete_account(account).await?)).await.unwrap());
    }
}

pub(super) async fn an_empty_batch_changes_nothing(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    let link = given::link(&store, account, given::in_group(Some(group), REDIRECT, "link")).await;
    for limit in [0, 1, PLENTY] {
        assert_eq!(given::insert_links(&store, account, &[], limit).await, Ok(vec![]));
    }
    assert_eq!(given::delete_links(&store, account, &[]).await, []);
    assert_eq!(given::assign_links(&store, account, group, &[], samples::at(1)).await, Some(vec![]));
    assert_eq!(given::unassign_links(&store, account, group, &[], samples::at(1)).await, Some(vec![]));
    assert_eq!(stored::links(&store, account).await, [link]);
    stored::counters_are_right(&store, account).await;
}

/// As many links as one request may contain, of both kinds and with all kinds of placements.
pub(super) async fn a_hundred_links_are_inserted_at_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let groups = given::two_groups(&store, account).await;
    let batch = || -> Vec<Link> {
        let link = |number: usize| {
            let text = format!("link-{number}");
            let placement = match number % 5 {
                0 | 1 => samples::on_system(&text),
                2 => samples::on_custom("a.example.net", Some(&text)),
                3 => samples::on_custom(&format!("{text}.example.net"), None),
                _ => samples::lost(Some(&text)),
            };
            let mut link = samples::link_at(KINDS[number % 3 % 2], placement);
            link.move_to_group([None, Some(groups[0]), Some(groups[1])][number % 7 % 3], samples::at(0));
            link
        };
        (0..AT_ONCE).map(link).collect()
    };
    let links = batch();
    domain_steps::serve(&store, account, links.iter().map(|link| &link.placement)).await;
    let answers = given::insert_links(&store, account, &links, 100).await;
    assert_eq!(answers, Ok(vec![Insertion::Done; AT_ONCE]));
    assert_eq!(stored::links(&store, account).await, given::sorted(links.clone()));
    assert_eq!(stored::links_count(&store, account).await, 100);
    stored::counters_are_right(&store, account).await;
    for link in links.iter().filter(|link| link.placement.address().is_some()) {
        let published = stored::published(&store, &link.placement).await;
        assert_eq!(published, Some(stored::publication_of(account, link)));
    }
    // On the second try all links conflict, except the lost ones.
    let again = given::insert_links(&store, account, &batch(), PLENTY).await.unwrap();
    for (link, answer) in links.iter().zip(again) {
        let is_lost = link.placement.address().is_none();
        assert_eq!(answer, if is_lost { Insertion::Done } else { Insertion::AddressTaken });
    }
    assert_eq!(stored::links_count(&store, account).await, 120);
    stored::counters_are_right(&store, account).await;
}

/// Two links of a batch with one id are an error and not a decision: the whole unit of work is lost.
pub(super) async fn link_ids_are_unique_in_a_batch(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for kind in KINDS {
        let new = samples::link(kind, "new");
        let mut work = store.begin().await.unwrap();
        let outcome = work.insert_links(account, &[new.clone(), moved(&new, "elsewhere")], PLENTY).await;
        assert!(matches!(outcome, Err(InsertLinksError::Store(_))), "{outcome:?}");
        drop(work);
        assert_eq!(stored::links(&store, account).await, []);
        stored::counters_are_right(&store, account).await;
    }
}

/// Whosever the stored link is: its row stays, and the other links of the batch are inserted.
pub(super) async fn a_link_with_a_stored_id_is_refused(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    for (number, kind) in KINDS.into_iter().enumerate() {
        let held = given::link(&store, other, samples::link(kind, &format!("held-{number}"))).await;
        let foreign = Link { group_id: Some(group), ..moved(&held, &format!("foreign-{number}")) };
        let lost = Link { placement: samples::lost(Some("lost")), ..held.clone() };
        let fine = given::in_group(Some(group), kind, &format!("fine-{number}"));
        let ahead = given::in_group(Some(group), kind, &format!("ahead-{number}"));
        let taken = given::in_group(Some(group), kind, &format!("held-{number}"));
        let again = moved(&fine, &format!("again-{number}"));
        for (batch, decisions) in [
            (vec![foreign.clone()], vec![Insertion::IdTaken]),
            (vec![lost], vec![Insertion::IdTaken]),
            (
                vec![ahead.clone(), foreign, taken, fine.clone()],
                vec![Insertion::Done, Insertion::IdTaken, Insertion::AddressTaken, Insertion::Done],
            ),
            (vec![again], vec![Insertion::IdTaken]),
            (vec![held.clone()], vec![Insertion::AddressTaken]),
        ] {
            assert_eq!(
                given::insert_links(&store, account, &batch, PLENTY).await,
                Ok(decisions),
                "{batch:?}"
            );
            assert_eq!(stored::link(&store, other, held.id()).await.as_ref(), Some(&held));
            for account in [account, other] {
                stored::counters_are_right(&store, account).await;
            }
        }
        for inserted in [ahead, fine] {
            assert_eq!(stored::link(&store, account, inserted.id()).await, Some(inserted));
        }
    }
    assert_eq!(stored::links_count(&store, account).await, 4);
}

/// A link that is refused for several reasons gets the first, and what it names stays free for the links after it.
pub(super) async fn ids_external_ids_and_addresses_are_decided_in_one_batch(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    let named = |external_id: &str, link: Link| {
        let external_id = Some(ExternalId::parse(external_id).unwrap());
        Link { external_id, group_id: Some(group), ..link }
    };
    let own = given::link(&store, account, named("own", samples::link(LANDING, "own"))).await;
    let foreign = given::link(&store, other, samples::link(REDIRECT, "foreign")).await;
    let theirs = given::link(&store, other, samples::link(LANDING, "theirs")).await;
    let link = samples::link;
    // A link that was not inserted may keep its external id from later ones of its batch, so none of these is named twice.
    let cases = [
        (named("1", link(REDIRECT, "z")), Insertion::Done),
        (named("2", moved(&foreign, "a")), Insertion::IdTaken),
        (named("own", link(LANDING, "b")), Insertion::ExternalIdTaken),
        (named("3", link(LANDING, "foreign")), Insertion::AddressTaken),
        (named("1", moved(&theirs, "own")), Insertion::ExternalIdTaken),
        (moved(&own, "c"), Insertion::ExternalIdTaken),
        (link(REDIRECT, "z"), Insertion::AddressTaken),
        (link(REDIRECT, "a"), Insertion::Done),
        (named("4", link(LANDING, "b")), Insertion::Done),
    ];
    let (links, expected): (Vec<Link>, Vec<Insertion>) = cases.into_iter().unzip();
    assert_eq!(given::insert_links(&store, account, &links, PLENTY).await, Ok(expected.clone()));
    let done = links.into_iter().zip(&expected).filter(|(_, insertion)| **insertion == Insertion::Done);
    let kept = done.map(|(link, _)| link).chain([own]).collect();
    assert_eq!(stored::links(&store, account).await, given::sorted(kept));
    assert_eq!(stored::links(&store, other).await, given::sorted(vec![foreign, theirs]));
    for account in [account, other] {
        stored::counters_are_right(&store, account).await;
    }
}

/// The link with the same id at another address.
fn moved(link: &Link, slug: &str) -> Link {
    Link { placement: samples::on_system(slug), ..link.clone() }
}

/// A batch sees earlier steps of its unit of work, later steps see the batch, and all of them roll back together.
pub(super) async fn a_batch_is_part_of_its_unit_of_work(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = samples::group("Within");
    let first = KINDS.map(|kind| samples::link(kind, &format!("{kind:?}")));
    let refused = KINDS.map(|kind| samples::link(given::other(kind), &format!("{kind:?}")));
    let second = KINDS.map(|kind| given::in_group(Some(group.id), given::other(kind), &format!("{kind:?}")));
    let steps = async |work: &mut dyn UnitOfWork| -> Result<(), Decision> {
        assert_eq!(work.insert_links(account, &second, PLENTY).await?, [Insertion::GroupMissing; 2]);
        assert_eq!(work.insert_links(account, &first, 2).await?, [Insertion::Done; 2]);
        assert_eq!(work.insert_links(account, &refused, 2).await?, [Insertion::LimitReached; 2]);
        assert_eq!(work.insert_links(account, &refused, 3).await?, [Insertion::AddressTaken; 2]);
        work.insert_group(account, &group, PLENTY).await?;
        assert_eq!(work.delete_links(account, &given::ids(&first)).await?.len(), 2);
        assert_eq!(work.insert_links(account, &second, 2).await?, [Insertion::Done; 2]);
        for link in &second {
            assert_eq!(work.lock_link(account, link.id()).await?.as_ref(), Some(link));
        }
        let within = work.lock_group(account, group.id).await?.unwrap();
        assert_eq!((within.landings_count, within.redirects_count), (1, 1));
        Ok(())
    };
    let mut work = store.begin().await.unwrap();
    steps(work.as_mut()).await.unwrap();
    drop(work);
    assert_eq!(store.usage(account).await.unwrap(), Some(Usage::default()));
    assert_eq!(stored::links(&store, account).await, []);

    unit!(&store, async |work| steps(work).await).await.unwrap();
    assert_eq!(stored::links(&store, account).await, given::sorted(second.to_vec()));
    stored::counters_are_right(&store, account).await;
}

/// Random batches on one store get the same answers and leave the same rows as single insertions on another store.
pub(super) async fn a_batch_equals_single_insertions_in_order(fresh: Fresh) {
    let stores = [fresh.store().await, fresh.store().await];
    let accounts = [samples::account(), samples::account()];
    let groups = [samples::group("First's"), samples::group("First's too"), samples::group("Second's")];
    for store in &stores {
        for account in &accounts {
            given::insert_account(store, account).await.unwrap();
        }
        for (group, owner) in groups.iter().zip([0, 0, 1]) {
            given::insert_group(store, accounts[owner].id, group, PLENTY).await.unwrap();
        }
    }
    let accounts = accounts.map(|account| account.id);
    let named = Named { groups: groups.map(|group| group.id).into(), pixels: Vec::new() };
    let [at_once, in_turn] = &stores;
    let mut answers_seen = Vec::new();
    for round in 0..60 {
        let mut random = Pseudorandom::new(round);
        let account = accounts[usize::from(random.one_in(3))];
        let limit = stored::links_count(in_turn, account).await + random.below(12);
        let batch: Vec<Link> =
            (0..random.below(25)).map(|_| random_links::any_link(&mut random, &named)).collect();

        let answers = given::insert_links(at_once, account, &batch, limit).await.unwrap();
        let mut expected = Vec::new();
        for link in batch.chunks(1) {
            expected.extend(given::insert_links(in_turn, account, link, limit).await.unwrap());
        }
        assert_eq!(answers, expected, "round {round}");
        answers_seen.extend(answers);

        let kept = stored::links(in_turn, account).await;
        let doomed: Vec<LinkId> = given::ids(&kept).into_iter().filter(|_| random.one_in(3)).collect();
        for store in &stores {
            assert_eq!(stored::links(store, account).await, kept, "round {round}");
            stored::counters_are_right(store, account).await;
            // Make room for the next round.
            assert_eq!(given::delete_links(store, account, &doomed).await, doomed);
        }
    }
    for answer in [Insertion::Done, Insertion::AddressTaken, Insertion::LimitReached, Insertion::GroupMissing]
    {
        let times = answers_seen.iter().filter(|seen| **seen == answer).count();
        assert!(times > 30, "{answer:?} is answered {times} times");
    }
}
