//! The store's time limit (D6): no call waits forever, and no unit of work blocks others forever.

use std::time::{Duration, Instant};

use signpost_app::ports::{InsertLinksError, Insertion, Store, StoreError, UnitOfWork, WriteAccountError};
use signpost_domain::{AccountId, Address, Site};

use super::fixture::Fresh;
use super::given::{self, PLENTY};
use super::stored;
use crate::samples;

cases! {
    $ time_limits
    a_unit_of_work_beyond_the_time_limit_is_rolled_back
    each_unit_of_work_has_its_own_time_limit
    d30_all_attempts_share_one_time_limit
}

/// The limit in cases that reach it. On a busy machine any other call of these cases may reach it too.
const SHORT: Duration = Duration::from_secs(1);

/// Long enough for a busy machine. A call that takes longer hangs.
const AT_LAST: Duration = Duration::from_mins(2);

fn address(slug: &str) -> Address {
    Address { site: Site::System, slug: Some(samples::slug(slug)) }
}

/// Repeats a call until it ends within the time limit.
async fn patiently<T>(call: impl AsyncFn() -> Result<T, StoreError>) -> T {
    loop {
        match call().await {
            Ok(answer) => return answer,
            Err(StoreError::Unavailable(_) | StoreError::Contended) => tokio::task::yield_now().await,
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// A stored account.
async fn account(store: &dyn Store) -> AccountId {
    patiently(async || {
        // A new one for each attempt, because a commit without an answer may have taken effect.
        let account = samples::account();
        let mut work = store.begin().await?;
        match work.insert_account(&account).await {
            Ok(()) => work.commit().await.map(|()| account.id),
            Err(WriteAccountError::Store(error)) => Err(error),
            Err(error) => panic!("{error:?}"),
        }
    })
    .await
}

/// An open unit of work that has inserted a link. Fails if another one holds the link's address.
async fn with_link(
    store: &dyn Store,
    account: AccountId,
    slug: &str,
) -> Result<Box<dyn UnitOfWork>, StoreError> {
    let mut work = store.begin().await?;
    match work.insert_links(account, &[samples::redirect(slug).into()], PLENTY).await {
        Ok(inserted) if inserted == [Insertion::Done] => Ok(work),
        Ok(_) => Err(StoreError::unavailable("the address is held")),
        Err(InsertLinksError::Store(error)) => Err(error),
        Err(error) => panic!("{error:?}"),
    }
}

/// One attempt to insert a link at an address that another unit of work may hold. It must return in time; `true` if it
/// was committed.
async fn attempt(store: &dyn Store, account: AccountId) -> bool {
    let attempt = async { with_link(store, account, "held").await?.commit().await };
    tokio::time::timeout(AT_LAST, attempt).await.expect("every call returns").is_ok()
}

/// The store rolls back a unit of work that is neither committed nor dropped within the time limit.
pub(super) async fn a_unit_of_work_beyond_the_time_limit_is_rolled_back(fresh: Fresh) {
    let store = fresh.store_with_time_limit(SHORT).await;
    let store: &dyn Store = store.as_ref();
    let account = account(store).await;
    let mut forgotten = patiently(async || with_link(store, account, "held").await).await;
    let is_published = async |slug: &str| {
        let address = address(slug);
        patiently(async || store.published_link(&address).await).await.is_some()
    };

    let others = async {
        // A commit without an answer may have taken effect, so a failed attempt looks for its link.
        while !attempt(store, account).await && !is_published("held").await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(AT_LAST, others).await.expect("other units of work are blocked by the open one");

    let late = forgotten.insert_links(account, &[samples::redirect("late").into()], PLENTY).await;
    assert!(late.is_err());
    assert!(forgotten.commit().await.is_err());
    let usage = patiently(async || store.usage(account).await).await;
    assert_eq!(usage.unwrap().links, 1);
    assert!(is_published("held").await);
    assert!(!is_published("late").await);
}

/// A dropped unit of work does not shorten the time limit of the next one.
pub(super) async fn each_unit_of_work_has_its_own_time_limit(fresh: Fresh) {
    let store = fresh.store_with_time_limit(SHORT).await;
    let store: &dyn Store = store.as_ref();
    let account = account(store).await;
    let until = Instant::now() + SHORT * 2;
    let (mut committed, mut unsure) = (0, 0);
    while Instant::now() < until || committed < 2 {
        let slug = format!("link-{}", committed + unsure);
        let began = Instant::now();
        let insertion = async { with_link(store, account, &slug).await?.commit().await };
        match insertion.await {
            Ok(()) => committed += 1,
            // On a busy machine it may reach its own limit. Its commit may have taken effect nevertheless.
            Err(error) => {
                assert!(began.elapsed() >= SHORT, "{error:?} after {:?}", began.elapsed());
                unsure += 1;
            }
        }
    }
    let links = patiently(async || store.usage(account).await).await.unwrap().links;
    assert!((committed..=committed + unsure).contains(&links), "{links}: {committed}, {unsure} unsure");
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
