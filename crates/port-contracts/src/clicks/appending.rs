//! Batches are stored exactly once.

use signpost_app::ports::{Appended, EncodedClicks};

use super::fixture::Fresh;
use super::given::{account, batch, click, count, instant, links, pack_all};
use crate::run::at_once;

fn numbered(number: u64, owner: signpost_domain::AccountId) -> EncodedClicks {
    let link = links(1)[0];
    batch(1, number, &[click(owner, link, instant(0, i64::try_from(number).unwrap()), 1)])
}

pub(super) async fn d51_a_batch_is_stored_once(fresh: Fresh) {
    let (store, owner) = (fresh.store().await, account());
    for number in 1..=3 {
        assert_eq!(store.append(&numbered(number, owner)).await.unwrap(), Appended::Now);
    }
    for number in [3, 1, 2] {
        assert_eq!(store.append(&numbered(number, owner)).await.unwrap(), Appended::Before);
    }
    assert_eq!(count(store.as_ref(), owner).await, 3);
    pack_all(store.as_ref()).await;
    // Packing does not forget the numbers of batches.
    assert_eq!(store.append(&numbered(2, owner)).await.unwrap(), Appended::Before);
    assert_eq!(store.append(&numbered(4, owner)).await.unwrap(), Appended::Now);
    assert_eq!(count(store.as_ref(), owner).await, 4);
}

pub(super) async fn d51_a_batch_after_a_gap_is_not_stored(fresh: Fresh) {
    let (store, owner) = (fresh.store().await, account());
    assert_eq!(store.append(&numbered(1, owner)).await.unwrap(), Appended::Now);
    assert_eq!(store.append(&numbered(3, owner)).await.unwrap(), Appended::AfterGap);
    assert_eq!(count(store.as_ref(), owner).await, 1);
    assert_eq!(store.append(&numbered(2, owner)).await.unwrap(), Appended::Now);
    assert_eq!(store.append(&numbered(3, owner)).await.unwrap(), Appended::Now);
    assert_eq!(count(store.as_ref(), owner).await, 3);
}

pub(super) async fn d51_a_source_begins_with_its_first_batch(fresh: Fresh) {
    let (store, owner) = (fresh.store().await, account());
    assert_eq!(store.append(&numbered(2, owner)).await.unwrap(), Appended::AfterGap);
    assert_eq!(count(store.as_ref(), owner).await, 0);
    assert_eq!(store.append(&numbered(1, owner)).await.unwrap(), Appended::Now);
    // Each source has its own numbers.
    let other =
        EncodedClicks { source: signpost_domain::analytics::ClickSource([9; 16]), ..numbered(1, owner) };
    assert_eq!(store.append(&other).await.unwrap(), Appended::Now);
    assert_eq!(count(store.as_ref(), owner).await, 2);
}

pub(super) async fn d51_concurrent_copies_of_a_batch_are_stored_once(fresh: Fresh) {
    let (store, owner) = (fresh.store().await, account());
    for number in 1..=3 {
        let (batch, shared) = (numbered(number, owner), std::sync::Arc::clone(&store));
        let outcomes = at_once(8, |_| {
            let (store, batch) = (std::sync::Arc::clone(&shared), batch.clone());
            async move { store.append(&batch).await.unwrap() }
        })
        .await;
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == Appended::Now).count(), 1);
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == Appended::Before).count(), 7);
    }
    assert_eq!(count(store.as_ref(), owner).await, 3);
}

pub(super) async fn d51_appended_batches_survive_reopening(fresh: Fresh) {
    let (mut store, owner) = (fresh.store().await, account());
    for number in 1..=4 {
        assert_eq!(store.append(&numbered(number, owner)).await.unwrap(), Appended::Now);
        if number == 2 {
            pack_all(store.as_ref()).await;
        }
        store = store.reopened().await;
        assert_eq!(count(store.as_ref(), owner).await, number);
        assert_eq!(store.append(&numbered(number, owner)).await.unwrap(), Appended::Before);
    }
}

/// The account of a malformed batch is unknown, so no account counts it.
pub(super) async fn a_malformed_batch_does_not_block_others(fresh: Fresh) {
    let (store, owner) = (fresh.store().await, account());
    assert_eq!(store.append(&numbered(1, owner)).await.unwrap(), Appended::Now);
    let mut malformed = numbered(2, owner);
    for byte in malformed.segment.iter_mut().skip(4) {
        *byte = !*byte;
    }
    assert_eq!(store.append(&malformed).await.unwrap(), Appended::Now);
    assert_eq!(store.append(&numbered(3, owner)).await.unwrap(), Appended::Now);
    assert_eq!(count(store.as_ref(), owner).await, 2);
    pack_all(store.as_ref()).await;
    assert_eq!(count(store.as_ref(), owner).await, 2);
    assert_eq!(store.append(&numbered(2, owner)).await.unwrap(), Appended::Before);
}
