//! Applying changes.

use std::collections::{BTreeMap, BTreeSet};

use signpost_app::ports::Upkeep;
use signpost_click_store::{Applied, ClickChange, DayChange, DayEffect, PendingDays, Reading, Replacement};
use signpost_domain::analytics::UtcDay;

use super::observed::ObservedTables;
use super::{Opened, of_source, soon};
use crate::click_samples::{ClickedLink, at};

pub(super) async fn d51_a_change_is_applied_once(opened: Opened) {
    let clicked = ClickedLink::new();
    opened.append(&clicked.batch(1)).await;
    let (change, same) = (opened.packing().await, opened.packing().await);
    assert_eq!(opened.apply(change).await, Applied::Whole);
    assert_eq!(opened.waiting(None).await, []);
    assert_eq!(opened.segments(clicked.account).await, 1);
    // Another node computed the same change at the same time.
    assert_eq!(opened.apply(same).await, Applied::Outdated);
    assert_eq!(opened.segments(clicked.account).await, 1);
}

pub(super) async fn d51_a_change_of_another_version_is_outdated(opened: Opened) {
    let clicked = ClickedLink::new();
    opened.append(&clicked.batch(1)).await;
    let change = opened.packing().await;
    assert_eq!(opened.apply(change).await, Applied::Whole);
    opened.append(&clicked.batch(2)).await;
    // It rests on a day without clicks, and the day has some by now.
    let change = opened.packing().await;
    assert_eq!(opened.apply(change).await, Applied::Outdated);
    assert_eq!(opened.waiting(None).await.len(), 1);
    assert_eq!(opened.segments(clicked.account).await, 1);
}

/// The effects that a change of a day may have.
fn effects() -> [DayEffect; 3] {
    [
        DayEffect::NewSegments(Replacement::default()),
        DayEffect::Digested { digests: Vec::new(), last_clicks: BTreeMap::new() },
        DayEffect::Sealed(Replacement::default()),
    ]
}

pub(super) async fn d51_sealing_moves_the_version_and_digesting_does_not(opened: Opened) {
    let (account, day) = opened.packed_day().await;
    let version = opened.version(account, day).await;
    let [new_clicks, digested, sealed] = effects();
    let change = |version, effect| ClickChange {
        days: vec![DayChange { account, day, version, effect }],
        ..ClickChange::default()
    };
    assert_eq!(opened.apply(change(version, digested)).await, Applied::Whole);
    assert_eq!(opened.version(account, day).await, version);
    for effect in [sealed, new_clicks] {
        let before = opened.version(account, day).await;
        assert_eq!(opened.apply(change(before, effect)).await, Applied::Whole);
        assert_ne!(opened.version(account, day).await, before);
        for stale in effects() {
            assert_eq!(opened.apply(change(before, stale)).await, Applied::Outdated);
        }
    }
}

pub(super) async fn d51_one_outdated_day_makes_the_whole_change_outdated(opened: Opened) {
    let (one, day) = opened.packed_day().await;
    let (other, _) = opened.packed_day().await;
    let versions = [opened.version(one, day).await, opened.version(other, day).await];
    let clicked = ClickedLink::new();
    opened.append(&of_source(9, clicked.batch(1))).await;
    let mut change = opened.packing().await;
    let stale = versions[1].map(|version| version.wrapping_add(1));
    for (account, version) in [(one, versions[0]), (other, stale)] {
        let effect = DayEffect::Sealed(Replacement::default());
        change.days.push(DayChange { account, day, version, effect });
    }
    change.days.sort_by_key(|day| (day.account, day.day));
    assert_eq!(opened.apply(change).await, Applied::Outdated);
    assert_eq!([opened.version(one, day).await, opened.version(other, day).await], versions);
    assert_eq!(opened.version(clicked.account, day).await, None);
    assert_eq!(opened.waiting(None).await.len(), 1);
    assert_eq!(opened.segments(clicked.account).await, 0);
}

/// A change may be computed before the clicks of a day are deleted, and applied after new ones have arrived.
pub(super) async fn d51_a_day_that_comes_back_has_another_version(opened: Opened) {
    let clicked = ClickedLink::new();
    let day = UtcDay::of(at(0));
    let mut seen = BTreeSet::new();
    for number in 1..=5 {
        opened.append(&clicked.batch(number)).await;
        let change = opened.packing().await;
        assert_eq!(opened.apply(change).await, Applied::Whole);
        assert!(seen.insert(opened.version(clicked.account, day).await), "{seen:?}");
        let after = Some(UtcDay::from_number(day.number() + 1));
        while opened.clicks.forget_clicks(clicked.account, after).await.unwrap() == Upkeep::More {}
        assert_eq!(opened.version(clicked.account, day).await, None);
    }
}

pub(super) async fn r36_a_change_with_clicks_of_a_deleted_account_is_outdated(opened: Opened) {
    let clicked = ClickedLink::new();
    opened.append(&clicked.batch(1)).await;
    let change = opened.packing().await;
    while opened.clicks.forget_clicks(clicked.account, None).await.unwrap() == Upkeep::More {}
    assert_eq!(opened.apply(change).await, Applied::Outdated);
    assert_eq!(opened.waiting(None).await.len(), 1);
    let packed = opened.clicks.pack(at(3_600_000)).await.unwrap();
    assert_eq!(packed.dropped, 1_000);
    assert_eq!(opened.waiting(None).await, []);
    assert_eq!(opened.segments(clicked.account).await, 0);
}

/// Days are digested and sealed together; one of them may get a late click meanwhile.
pub(super) async fn d51_a_day_that_changes_meanwhile_delays_no_other(opened: Opened) {
    let late = at(10 * 86_400_000);
    for is_sealing in [false, true] {
        let (changing, day) = opened.packed_day().await;
        let (other, _) = opened.packed_day().await;
        let version = opened.version(changing, day).await;
        let effect = DayEffect::NewSegments(Replacement::default());
        let change = ClickChange {
            days: vec![DayChange { account: changing, day, version, effect }],
            ..ClickChange::default()
        };
        // Days are found and read in snapshots of their own, and compared in a third one.
        let observed = ObservedTables::new(opened.tables.clone()).changing_after(2, change);
        let (pending, upkeep) = if is_sealing {
            (PendingDays::ToSeal, signpost_click_store::seal(&observed, late).await)
        } else {
            (PendingDays::ToDigest, signpost_click_store::digest(&observed, late).await)
        };
        assert_eq!(upkeep.unwrap(), Upkeep::More);
        let mut snapshot = opened.tables.snapshot(Reading::Upkeep, soon()).await.unwrap();
        let left = snapshot.pending_days(pending, UtcDay::of(late), 100).await.unwrap();
        let left: Vec<_> = left.into_iter().map(|day| day.account).collect();
        assert!(left.contains(&changing) && !left.contains(&other), "{left:?}");
    }
}
