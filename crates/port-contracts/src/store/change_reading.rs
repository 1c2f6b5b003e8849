//! Reading the change log, and deleting old entries.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::{
    Affected, ChangeId, ChangePosition, LoggedChange, ReadChanges, Store, VisibleChange,
};
use signpost_domain::{AccountId, Placement};
use tokio::sync::oneshot;

use super::fixture::Fresh;
use super::given::{self, PLENTY};
use crate::run::at_once;
use crate::samples;

cases! {
    $ change_reading
    a_reader_continues_from_its_position
    no_entry_after_the_end_is_missed
    readers_see_both_of_two_overlapping_units_of_work
    a_reader_misses_nothing_during_concurrent_writes
    a_read_reports_entries_beyond_its_limit
    old_entries_are_deleted_in_bounded_steps
    positions_of_readers_survive_reopening
}

/// The limit of a read in cases where it does not matter.
const MANY: u32 = 10_000;

/// The time in which a second unit of work can open beside the first, in stores that admit more than one at a time.
const SOON: Duration = Duration::from_millis(500);

/// A reader that passes the ids of its last read, so that it gets each entry once.
pub(super) struct Reader {
    position: ChangePosition,
    last: HashSet<ChangeId>,
}

impl Reader {
    pub(super) async fn at_the_end(store: &Arc<dyn Store>) -> Self {
        let position = store.end_of_changes().await.unwrap();
        let mut reader = Self { position, last: HashSet::new() };
        // A store may return entries from shortly before.
        reader.news(store).await;
        reader
    }

    /// The entries since its last read.
    pub(super) async fn news(&mut self, store: &Arc<dyn Store>) -> Vec<VisibleChange> {
        let ReadChanges::These { changes, position } =
            store.changes_since(self.position, MANY).await.unwrap()
        else {
            panic!("entries were deleted or are too many");
        };
        self.position = position;
        let ids: HashSet<ChangeId> = changes.iter().map(|logged| logged.id).collect();
        assert_eq!(ids.len(), changes.len(), "a read has an entry twice");
        let known = std::mem::replace(&mut self.last, ids);
        let new = changes.into_iter().filter(|LoggedChange { id, .. }| !known.contains(id));
        new.map(|LoggedChange { change, .. }| change).collect()
    }
}

fn at(account: AccountId, placement: &Placement) -> VisibleChange {
    let addresses = placement.address().into_iter().collect();
    VisibleChange { account, affected: Affected::Addresses(addresses) }
}

async fn insert(store: &Arc<dyn Store>, account: AccountId, slug: &str) -> VisibleChange {
    let link = given::link(store, account, samples::redirect(slug)).await;
    at(account, &link.placement)
}

/// Several readers start at different positions, and each reads to the end.
pub(super) async fn a_reader_continues_from_its_position(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut early = Reader::at_the_end(&store).await;
    assert_eq!(early.news(&store).await, []);
    let first = insert(&store, account, "first").await;
    let mut late = Reader::at_the_end(&store).await;
    let second = insert(&store, account, "second").await;
    assert_eq!(late.news(&store).await, std::slice::from_ref(&second));
    let third = insert(&store, account, "third").await;
    assert_eq!(late.news(&store).await, std::slice::from_ref(&third));
    assert_eq!(late.news(&store).await, []);
    let mut all = early.news(&store).await;
    let mut expected = vec![first, second, third];
    all.sort();
    expected.sort();
    assert_eq!(all, expected);
}

/// A reader that starts at the position from `end_of_changes` gets every entry committed later.
pub(super) async fn no_entry_after_the_end_is_missed(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let position = store.end_of_changes().await.unwrap();
    let change = insert(&store, account, "after").await;
    let ReadChanges::These { changes, .. } = store.changes_since(position, MANY).await.unwrap() else {
        panic!("one entry is reported as too many");
    };
    assert!(changes.iter().any(|logged| logged.change == change), "{changes:?}");
}

/// Two units of work are open at once and commit in the opposite order, with a read in between. In a store that admits one
/// at a time, the second waits for the first.
pub(super) async fn readers_see_both_of_two_overlapping_units_of_work(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut reader = Reader::at_the_end(&store).await;
    let [one, other] = ["one", "other"].map(samples::redirect);
    let mut first = store.begin().await.unwrap();
    // Suspension and insertion both lock the account, so the second unit of work uses another account.
    let stranger = samples::account();
    first.insert_account(&stranger).await.unwrap();
    given::insert(first.as_mut(), stranger.id, &one, PLENTY).await.unwrap();

    let (opened, is_open) = oneshot::channel();
    let (go_on, may_go_on) = oneshot::channel::<()>();
    let task = {
        let (store, other): (Arc<dyn Store>, _) = (store.clone(), other.clone());
        tokio::spawn(async move {
            let mut second = store.begin().await.unwrap();
            given::insert(second.as_mut(), account, &other, PLENTY).await.unwrap();
            let _ = opened.send(());
            may_go_on.await.unwrap();
            second.commit().await.unwrap();
        })
    };
    let are_both_open = tokio::time::timeout(SOON, is_open).await.is_ok();
    assert_eq!(reader.news(&store).await, [], "neither is committed yet");
    go_on.send(()).unwrap();
    if are_both_open {
        task.await.unwrap();
        assert_eq!(reader.news(&store).await, [at(account, &other.placement)]);
        first.commit().await.unwrap();
        assert_eq!(reader.news(&store).await, [at(stranger.id, &one.placement)]);
    } else {
        first.commit().await.unwrap();
        let mut news = reader.news(&store).await;
        task.await.unwrap();
        news.extend(reader.news(&store).await);
        // On a busy machine both may be open nevertheless, and then they commit in any order.
        let mut expected = [at(stranger.id, &one.placement), at(account, &other.placement)];
        news.sort();
        expected.sort();
        assert_eq!(news, expected);
    }
}

/// A reader that reads without a pause while many tasks write gets each entry once.
pub(super) async fn a_reader_misses_nothing_during_concurrent_writes(fresh: Fresh) {
    const WRITERS: u64 = 8;
    const EACH: usize = 12;
    let store = fresh.store().await;
    let mut reader = Reader::at_the_end(&store).await;
    let writers = {
        let store = store.clone();
        tokio::spawn(async move {
            let work = at_once(WRITERS, |number| {
                let store = store.clone();
                async move {
                    let account = given::account(&store).await;
                    let mut changes = Vec::new();
                    for round in 0..EACH {
                        changes.push(insert(&store, account, &format!("w{number}-{round}")).await);
                    }
                    changes
                }
            });
            work.await.concat()
        })
    };
    let mut news = Vec::new();
    while !writers.is_finished() {
        news.extend(reader.news(&store).await);
    }
    let mut expected = writers.await.unwrap();
    news.extend(reader.news(&store).await);
    news.sort();
    expected.sort();
    assert_eq!(news, expected);
}

/// The reader learns that there are more entries than its limit, and continues after them.
pub(super) async fn a_read_reports_entries_beyond_its_limit(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let position = store.end_of_changes().await.unwrap();
    for slug in ["a", "b", "c"] {
        insert(&store, account, slug).await;
    }
    let read = store.changes_since(position, 3).await.unwrap();
    assert!(matches!(&read, ReadChanges::These { changes, .. } if changes.len() == 3), "{read:?}");
    let read = store.changes_since(position, 2).await.unwrap();
    let ReadChanges::TooMany { position } = read else { panic!("{read:?}") };
    let mut reader = Reader { position, last: HashSet::new() };
    reader.news(&store).await;
    let change = insert(&store, account, "d").await;
    assert_eq!(reader.news(&store).await, [change]);
}

/// Each call deletes at most the requested number of entries that are old enough, oldest first. A reader that missed them
/// learns this.
pub(super) async fn old_entries_are_deleted_in_bounded_steps(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let position = store.end_of_changes().await.unwrap();
    for slug in ["a", "b", "c"] {
        insert(&store, account, slug).await;
    }
    let hour = Duration::from_hours(1);
    assert_eq!(store.forget_changes(hour, MANY).await.unwrap(), 0);
    let read = store.changes_since(position, MANY).await.unwrap();
    assert!(matches!(&read, ReadChanges::These { changes, .. } if changes.len() == 3), "{read:?}");
    assert_eq!(store.forget_changes(Duration::ZERO, 2).await.unwrap(), 2);
    let read = store.changes_since(position, MANY).await.unwrap();
    assert!(matches!(&read, ReadChanges::TooMany { .. }), "{read:?}");
    assert_eq!(store.forget_changes(Duration::ZERO, 2).await.unwrap(), 1);
    assert_eq!(store.forget_changes(Duration::ZERO, 2).await.unwrap(), 0);
    let read = store.changes_since(position, MANY).await.unwrap();
    assert!(matches!(&read, ReadChanges::TooMany { .. }), "{read:?}");
}

/// The log and the positions of its readers survive a restart.
pub(super) async fn positions_of_readers_survive_reopening(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut reader = Reader::at_the_end(&store).await;
    let change = insert(&store, account, "before").await;
    let store = store.reopened().await;
    assert_eq!(reader.news(&store).await, [change]);
    let change = insert(&store, account, "after").await;
    assert_eq!(reader.news(&store).await, [change]);
}
