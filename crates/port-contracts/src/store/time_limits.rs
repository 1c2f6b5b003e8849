//! The store's time limit (D6): no call waits forever, and no unit of work blocks others forever.

use std::time::{Duration, Instant};

use signpost_app::ports::{Insertion, Store, StoreError};
use signpost_domain::{AccountId, Address, Site};

use super::fixture::Fresh;
use super::given::{self, PLENTY};
use super::stored;
use crate::samples;

const SHORT: Duration = Duration::from_secs(1);

/// Long enough for a busy machine. A call that takes longer hangs.
const AT_LAST: Duration = Duration::from_secs(30);

/// One attempt to insert a link at an address that another unit of work may hold. It must return in time; `true` if it
/// was committed.
async fn attempt(store: &dyn Store, account: AccountId) -> bool {
    let attempt = async {
        let mut work = store.begin().await?;
        match work.insert_links(account, &[samples::redirect("held").into()], PLENTY).await {
            Ok(inserted) if inserted == [Insertion::Done] => work.commit().await,
            Ok(_) => Err(StoreError::unavailable("the address is held")),
            Err(error) => Err(StoreError::unavailable(error)),
        }
    };
    tokio::time::timeout(AT_LAST, attempt).await.expect("every call returns").is_ok()
}

/// The store rolls back a unit of work that is neither committed nor dropped within the time limit.
pub(super) async fn a_unit_of_work_beyond_the_time_limit_is_rolled_back(fresh: Fresh) {
    let store = fresh.store_with_time_limit(SHORT).await;
    let account = given::account(&store).await;
    let mut forgotten = store.begin().await.unwrap();
    given::insert(forgotten.as_mut(), account, &samples::redirect("held"), PLENTY).await.unwrap();

    let others = async {
        while !attempt(store.as_ref(), account).await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(AT_LAST, others).await.expect("other units of work are blocked by the open one");

    let late = forgotten.insert_links(account, &[samples::redirect("late").into()], PLENTY).await;
    assert!(late.is_err());
    assert!(forgotten.commit().await.is_err());
    assert_eq!(stored::links_count(&store, account).await, 1);
    let address = |slug| Address { site: Site::System, slug: Some(samples::slug(slug)) };
    assert!(store.published_link(&address("held")).await.unwrap().is_some());
    assert_eq!(store.published_link(&address("late")).await.unwrap(), None);
}

/// A dropped unit of work does not shorten the time limit of the next one.
pub(super) async fn each_unit_of_work_has_its_own_time_limit(fresh: Fresh) {
    let store = fresh.store_with_time_limit(SHORT).await;
    let account = given::account(&store).await;
    let until = tokio::time::Instant::now() + SHORT * 2;
    let mut number = 0;
    while tokio::time::Instant::now() < until {
        let link = samples::redirect(&format!("link-{number}"));
        given::insert_link(&store, account, &link, PLENTY).await.unwrap();
        number += 1;
    }
    assert_eq!(stored::links_count(&store, account).await, number);
}

/// D30: all attempts at a unit of work together have the time limit of one.
pub(super) async fn d30_all_attempts_share_one_time_limit(fresh: Fresh) {
    let store = fresh.store_with_time_limit(SHORT).await;
    let now = Instant::now();
    let outcome = store.begin_again(now.checked_sub(SHORT).unwrap()).await.map(drop);
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");

    let store = fresh.store_with_time_limit(AT_LAST).await;
    let account = given::account(&store).await;
    let mut again = store.begin_again(now).await.unwrap();
    let redirect = samples::redirect("again");
    given::insert(again.as_mut(), account, &redirect, PLENTY).await.unwrap();
    again.commit().await.unwrap();
    assert_eq!(stored::links_count(&store, account).await, 1);
}
