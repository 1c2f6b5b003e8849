//! Retention, and the clicks of deleted accounts.

use std::time::Duration;

use signpost_app::ports::{ClickStore, OldClicks, Upkeep};
use signpost_domain::AccountId;
use signpost_domain::analytics::{PlannedDeletion, UtcDay};

use super::fixture::Fresh;
use super::given::{self, Click, append, ask, count, day, everything, instant, links, question};
use super::model::report;
use crate::pseudorandom::Pseudorandom;

const DAYS: u64 = 40;

async fn forget(store: &dyn ClickStore, account: AccountId, day: Option<UtcDay>) {
    while store.forget_clicks(account, day).await.unwrap() == Upkeep::More {}
}

/// All accounts with clicks from before a day or with a planned deletion, listed in pages.
async fn accounts_before(store: &dyn ClickStore, day: UtcDay, page: usize) -> Vec<AccountId> {
    let mut listed: Vec<AccountId> = Vec::new();
    loop {
        let some = store.accounts_with_clicks_before(day, listed.last().copied(), page).await.unwrap();
        let is_last = some.len() < page;
        listed.extend(some);
        if is_last {
            return listed;
        }
    }
}

fn given_clicks(seed: u64, accounts: &[AccountId]) -> Vec<Click> {
    let owners: Vec<_> = accounts.iter().map(|account| (*account, links(3))).collect();
    given::random_clicks(&mut Pseudorandom::new(seed), 1_500, &owners, DAYS)
}

pub(super) async fn clicks_before_a_day_are_deleted(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = [given::account(), given::account()];
    let clicks = given_clicks(31, &accounts);
    append(store.as_ref(), 1, &clicks, 300).await;
    given::pack_all(store.as_ref()).await;
    given::digest_all(store.as_ref()).await;
    forget(store.as_ref(), accounts[0], Some(day(17))).await;
    let kept: Vec<Click> = clicks
        .into_iter()
        .filter(|click| click.account != accounts[0] || click.at >= instant(17, 0))
        .collect();
    for account in accounts {
        let question = question(everything(account));
        assert_eq!(ask(store.as_ref(), &question).await, report(&kept, &question));
    }
    assert_eq!(store.forget_clicks(accounts[0], Some(day(17))).await.unwrap(), Upkeep::Done);
}

pub(super) async fn r36_all_clicks_of_an_account_are_deleted(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = [given::account(), given::account()];
    let clicks = given_clicks(32, &accounts);
    append(store.as_ref(), 1, &clicks, 300).await;
    given::pack_all(store.as_ref()).await;
    given::digest_all(store.as_ref()).await;
    given::seal_all(store.as_ref()).await;
    let before = store.accounts_with_clicks_before(day(99), None, 10).await.unwrap();
    assert_eq!(before.len(), 2);
    forget(store.as_ref(), accounts[0], None).await;
    assert_eq!(count(store.as_ref(), accounts[0]).await, 0);
    let of_other = question(everything(accounts[1]));
    assert_eq!(ask(store.as_ref(), &of_other).await, report(&clicks, &of_other));
    assert_eq!(store.accounts_with_clicks_before(day(99), None, 10).await.unwrap(), [accounts[1]]);
    let link = clicks.iter().find(|click| click.account == accounts[0]).unwrap().link;
    let recent = store.recent_clicks(accounts[0], &[link], instant(0, 0)).await.unwrap();
    assert_eq!((recent[0].clicks, recent[0].last), (0, None));
}

pub(super) async fn r36_late_batches_of_a_deleted_account_are_dropped(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = [given::account(), given::account()];
    let clicks = given_clicks(33, &accounts);
    let (waiting, late) = clicks.split_at(700);
    append(store.as_ref(), 1, waiting, 100).await;
    forget(store.as_ref(), accounts[0], None).await;
    append(store.as_ref(), 2, late, 100).await;
    let of_deleted = |clicks: &[Click]| -> u64 {
        clicks.iter().filter(|click| click.account == accounts[0]).count().try_into().unwrap()
    };
    // The store may delete waiting clicks with the others, or drop them when they are packed.
    let dropped = given::pack_all(store.as_ref()).await;
    assert!((of_deleted(late)..=of_deleted(&clicks)).contains(&dropped), "{dropped}");
    assert_eq!(count(store.as_ref(), accounts[0]).await, 0);
    let of_other = question(everything(accounts[1]));
    assert_eq!(ask(store.as_ref(), &of_other).await, report(&clicks, &of_other));
    assert_eq!(store.accounts_with_clicks_before(day(99), None, 10).await.unwrap(), [accounts[1]]);
}

/// A clock that was wrong for a moment may have decided which days are old.
pub(super) async fn r22_late_clicks_of_deleted_days_are_kept(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account();
    let clicks = given_clicks(34, &[account]);
    let (early, late) = clicks.split_at(700);
    append(store.as_ref(), 1, early, 100).await;
    given::pack_all(store.as_ref()).await;
    forget(store.as_ref(), account, Some(day(99))).await;
    assert_eq!(count(store.as_ref(), account).await, 0);
    append(store.as_ref(), 2, late, 100).await;
    assert_eq!(given::pack_all(store.as_ref()).await, 0, "none is dropped");
    let question = question(everything(account));
    assert_eq!(ask(store.as_ref(), &question).await, report(late, &question));
}

pub(super) async fn r22_a_planned_deletion_is_stored_until_it_is_removed(fresh: Fresh) {
    let store = fresh.store().await;
    let [account, other] = [given::account(), given::account()];
    let planned =
        |before, hours| PlannedDeletion { before: day(before), waited: Duration::from_hours(hours) };
    assert_eq!(store.planned_deletion(account).await.unwrap(), None);
    for plan in [planned(3, 0), planned(3, 5), planned(2, 6)] {
        store.plan_deletion(account, Some(plan)).await.unwrap();
        assert_eq!(store.planned_deletion(account).await.unwrap(), Some(plan));
    }
    assert_eq!(store.planned_deletion(other).await.unwrap(), None);
    store.plan_deletion(account, None).await.unwrap();
    store.plan_deletion(account, None).await.unwrap();
    assert_eq!(store.planned_deletion(account).await.unwrap(), None);
    for account in [account, other] {
        store.plan_deletion(account, Some(planned(3, 5))).await.unwrap();
    }
    forget(store.as_ref(), account, Some(day(3))).await;
    assert!(store.planned_deletion(account).await.unwrap().is_some(), "only its owner removes it");
    forget(store.as_ref(), account, None).await;
    assert_eq!(store.planned_deletion(account).await.unwrap(), None, "the account is gone");
    assert_eq!(store.planned_deletion(other).await.unwrap(), Some(planned(3, 5)));
}

pub(super) async fn old_clicks_of_an_account_are_counted(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = [given::account(), given::account()];
    let clicks = given_clicks(35, &accounts);
    append(store.as_ref(), 1, &clicks, 300).await;
    given::pack_all(store.as_ref()).await;
    for before in [0, 1, 17, 99] {
        let days: Vec<UtcDay> = clicks
            .iter()
            .filter(|click| click.account == accounts[0])
            .map(|click| UtcDay::of(click.at))
            .filter(|of_click| *of_click < day(before))
            .collect();
        let clicks = u64::try_from(days.len()).unwrap();
        let expected = days.into_iter().min().map(|oldest| OldClicks { clicks, oldest });
        assert_eq!(store.old_clicks(accounts[0], day(before)).await.unwrap(), expected, "{before}");
    }
}

pub(super) async fn accounts_with_planned_deletions_are_listed_too(fresh: Fresh) {
    let store = fresh.store().await;
    let mut accounts: Vec<AccountId> = (0..6).map(|_| given::account()).collect();
    accounts.sort_unstable();
    let link = links(1)[0];
    let clicks: Vec<Click> =
        [0, 2, 3].map(|place| given::click(accounts[place], link, instant(2, 0), 1)).into_iter().collect();
    append(store.as_ref(), 1, &clicks, 100).await;
    given::pack_all(store.as_ref()).await;
    for place in [1, 3, 5] {
        store.plan_deletion(accounts[place], Some(PlannedDeletion::new(day(1)))).await.unwrap();
    }
    accounts.remove(4);
    assert_eq!(accounts_before(store.as_ref(), day(3), 2).await, accounts);
    assert_eq!(store.accounts_with_clicks_before(day(2), None, 9).await.unwrap().len(), 3);
}

pub(super) async fn accounts_with_old_clicks_are_listed_in_order(fresh: Fresh) {
    let store = fresh.store().await;
    let mut accounts: Vec<AccountId> = (0..7).map(|_| given::account()).collect();
    let link = links(1)[0];
    let mut clicks: Vec<Click> =
        accounts.iter().map(|account| given::click(*account, link, instant(2, 0), 1)).collect();
    // Clicks on later days do not matter; one account has only those.
    clicks.extend(accounts.iter().map(|account| given::click(*account, link, instant(20, 0), 1)));
    let young = given::account();
    clicks.push(given::click(young, link, instant(20, 0), 1));
    append(store.as_ref(), 1, &clicks, 100).await;
    given::pack_all(store.as_ref()).await;
    accounts.sort_unstable();
    assert_eq!(accounts_before(store.as_ref(), day(3), 3).await, accounts);
    assert!(store.accounts_with_clicks_before(day(2), None, 3).await.unwrap().is_empty());
}
