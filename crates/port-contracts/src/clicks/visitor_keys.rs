//! The keys of the visitor hashes (D48).

use std::sync::Arc;

use signpost_domain::analytics::VisitorKey;

use super::fixture::Fresh;
use super::given::day;
use crate::run::at_once;

pub(super) async fn d48_all_nodes_get_the_first_proposed_key(fresh: Fresh) {
    let store = fresh.store().await;
    let shared = Arc::clone(&store);
    let keys = at_once(8, |number| {
        let store = Arc::clone(&shared);
        let proposed = VisitorKey([u8::try_from(number).unwrap(); 32]);
        async move { store.visitor_key(day(1), proposed).await.unwrap() }
    })
    .await;
    assert!(keys.iter().all(|key| key.0 == keys[0].0 && key.0[0] < 8));
    let first = keys[0].clone();
    drop(shared);
    let store = store.reopened().await;
    assert!(store.visitor_key(day(1), VisitorKey([9; 32])).await.unwrap() == first);
    // Each day has its own key.
    assert!(store.visitor_key(day(2), VisitorKey([10; 32])).await.unwrap() == VisitorKey([10; 32]));
}

pub(super) async fn d48_keys_of_earlier_days_are_deleted(fresh: Fresh) {
    let store = fresh.store().await;
    for number in 1..=3 {
        store.visitor_key(day(number), VisitorKey([1; 32])).await.unwrap();
    }
    store.forget_visitor_keys(day(3)).await.unwrap();
    let keys = [(1, 2), (2, 2), (3, 1)];
    for (number, expected) in keys {
        let key = store.visitor_key(day(number), VisitorKey([2; 32])).await.unwrap();
        assert!(key == VisitorKey([expected; 32]), "{number}");
    }
}
