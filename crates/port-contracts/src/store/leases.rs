//! Leases: one holder at a time.

use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::{LeaseHolder, Store, StoreError};
use signpost_domain::{Timestamp, id::AccountKind};

use super::fixture::Fresh;
use crate::run::at_once;
use crate::samples;

cases! {
    $ leases
    a_lease_has_one_holder_until_it_ends
    a_holder_renews_regardless_of_its_clock
    a_returned_lease_is_free_at_once
    one_of_many_concurrent_takers_gets_the_lease
    leases_survive_reopening
}

/// Longer than any test runs.
const TERM: Duration = Duration::from_hours(1);

fn holder() -> LeaseHolder {
    LeaseHolder::from_bytes(samples::id::<AccountKind>().to_bytes())
}

/// Takes the lease for an hour, and repeats the unit of work if the store asks for it.
async fn take(store: &Arc<dyn Store>, name: &str, holder: LeaseHolder, now: Timestamp) -> bool {
    take_until(store, name, holder, now, now.plus(TERM)).await
}

/// Takes the lease for zero time, so that it ends at once by any clock.
async fn take_and_end(store: &Arc<dyn Store>, name: &str, holder: LeaseHolder, now: Timestamp) -> bool {
    take_until(store, name, holder, now, now).await
}

async fn take_until(
    store: &Arc<dyn Store>,
    name: &str,
    holder: LeaseHolder,
    now: Timestamp,
    until: Timestamp,
) -> bool {
    loop {
        match store.take_lease(name, holder, now, until).await {
            Err(StoreError::Contended) => {}
            taken => return taken.unwrap(),
        }
    }
}

/// Until a lease ends, only its holder can renew it, and no other node can take it.
pub(super) async fn a_lease_has_one_holder_until_it_ends(fresh: Fresh) {
    let store = fresh.store().await;
    let [one, other] = [holder(), holder()];
    assert!(take(&store, "work", one, samples::at(0)).await);
    assert!(!take(&store, "work", other, samples::at(3_599_999)).await);
    assert!(take(&store, "other work", other, samples::at(0)).await, "names are independent");
    assert!(take(&store, "work", one, samples::at(3_000)).await);
    assert!(!take(&store, "work", other, samples::at(3_602_999)).await);
    assert!(take_and_end(&store, "work", one, samples::at(5_000)).await);
    assert!(take(&store, "work", other, samples::at(5_000)).await);
    assert!(!take(&store, "work", one, samples::at(5_001)).await, "the former holder cannot renew");
    assert!(take_and_end(&store, "work", other, samples::at(6_000)).await);
    assert!(take(&store, "work", one, samples::at(6_000)).await);
}

/// A holder may renew a lease after its end, or with a clock that was set back.
pub(super) async fn a_holder_renews_regardless_of_its_clock(fresh: Fresh) {
    let store = fresh.store().await;
    let [one, other] = [holder(), holder()];
    assert!(take(&store, "work", one, samples::at(0)).await);
    assert!(take(&store, "work", one, samples::at(60_000)).await);
    assert!(take(&store, "work", one, samples::at(-60_000)).await);
    assert!(!take(&store, "work", other, samples::at(-50_000)).await);
    assert!(take_and_end(&store, "work", one, samples::at(-70_000)).await);
    assert!(take(&store, "work", other, samples::at(-70_000)).await);
}

pub(super) async fn a_returned_lease_is_free_at_once(fresh: Fresh) {
    let store = fresh.store().await;
    let [one, other] = [holder(), holder()];
    store.release_lease("work", one).await.unwrap();
    assert!(take(&store, "work", one, samples::at(0)).await);
    store.release_lease("work", other).await.unwrap();
    assert!(!take(&store, "work", other, samples::at(1)).await, "only the holder can return a lease");
    store.release_lease("work", one).await.unwrap();
    assert!(take(&store, "work", other, samples::at(2)).await);
}

/// One of any number of takers gets the lease, whether it is free or has ended.
pub(super) async fn one_of_many_concurrent_takers_gets_the_lease(fresh: Fresh) {
    let store = fresh.store().await;
    for round in 0..5 {
        let (now, name) = (samples::at(round * 10_000), format!("work {round}"));
        // In every second round the lease was taken before and has ended.
        assert!(round % 2 == 0 || take_and_end(&store, &name, holder(), now).await);
        let taken = at_once(12, |_| {
            let (store, name) = (store.clone(), name.clone());
            async move { take(&store, &name, holder(), now).await }
        });
        let taken = taken.await;
        assert_eq!(taken.iter().filter(|taken| **taken).count(), 1, "round {round}");
    }
}

/// Leases survive a restart.
pub(super) async fn leases_survive_reopening(fresh: Fresh) {
    let store = fresh.store().await;
    let [one, other] = [holder(), holder()];
    assert!(take(&store, "work", one, samples::at(0)).await);
    let store = store.reopened().await;
    assert!(!take(&store, "work", other, samples::at(1)).await);
    assert!(take(&store, "work", one, samples::at(1)).await);
}
