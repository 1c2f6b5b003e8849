//! Steps that cases begin with, and units of work that are run again when the store asks for it.

use std::sync::Arc;

use signpost_app::ports::{
    InsertAccountError, InsertGroupError, InsertRedirectError, Store, StoreError, UpdateRedirectError,
};
use signpost_domain::{
    Account, AccountId, ApiKey, ApiKeySecret, Group, Page, PageLimit, PagePosition, Redirect,
};

use crate::samples;

/// A limit that nothing here reaches.
pub(super) const PLENTY: u64 = 1_000_000;

/// What a store said no to. A store that breaks fails the case where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    EmailTaken,
    AddressTaken,
    LimitReached,
    GroupMissing,
    AccountMissing,
    /// Not a decision: the unit of work is to be run again.
    Again,
}

impl From<StoreError> for Decision {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Contended => Self::Again,
            StoreError::Unavailable(_) | StoreError::Corrupt { .. } => panic!("the store broke: {error}"),
        }
    }
}

impl From<InsertAccountError> for Decision {
    fn from(error: InsertAccountError) -> Self {
        match error {
            InsertAccountError::EmailTaken => Self::EmailTaken,
            InsertAccountError::Store(error) => error.into(),
        }
    }
}

impl From<InsertGroupError> for Decision {
    fn from(error: InsertGroupError) -> Self {
        match error {
            InsertGroupError::LimitReached => Self::LimitReached,
            InsertGroupError::AccountMissing => Self::AccountMissing,
            InsertGroupError::Store(error) => error.into(),
        }
    }
}

impl From<InsertRedirectError> for Decision {
    fn from(error: InsertRedirectError) -> Self {
        match error {
            InsertRedirectError::AddressTaken => Self::AddressTaken,
            InsertRedirectError::LimitReached => Self::LimitReached,
            InsertRedirectError::GroupMissing => Self::GroupMissing,
            InsertRedirectError::AccountMissing => Self::AccountMissing,
            InsertRedirectError::Store(error) => error.into(),
        }
    }
}

impl From<UpdateRedirectError> for Decision {
    fn from(error: UpdateRedirectError) -> Self {
        match error {
            UpdateRedirectError::AddressTaken => Self::AddressTaken,
            UpdateRedirectError::GroupMissing => Self::GroupMissing,
            UpdateRedirectError::Store(error) => error.into(),
        }
    }
}

/// Runs steps in a unit of work and commits it; after a decision it is dropped instead. Runs it all again as
/// often as the store asks for that. The steps end in a `Result<_, Decision>`.
///
/// It looks like a function that takes a closure, and is none because the compiler cannot see yet that the
/// future of such a function may be sent to another thread.
macro_rules! unit {
    ($store:expr, async |$work:ident| $steps:expr) => {
        async {
            loop {
                let attempt = async {
                    let mut begun = $store.begin().await?;
                    let $work: &mut dyn signpost_app::ports::UnitOfWork = begun.as_mut();
                    let value: Result<_, $crate::store::given::Decision> = async { $steps }.await;
                    let value = value?;
                    begun.commit().await?;
                    Ok(value)
                };
                match attempt.await {
                    Err($crate::store::given::Decision::Again) => tokio::task::yield_now().await,
                    outcome => break outcome,
                }
            }
        }
    };
}
pub(super) use unit;

/// A stored account.
pub(super) async fn account(store: &Arc<dyn Store>) -> AccountId {
    let account = samples::account();
    insert_account(store, &account).await.unwrap();
    account.id
}

pub(super) async fn insert_account(store: &Arc<dyn Store>, account: &Account) -> Result<(), Decision> {
    unit!(store, async |work| Ok(work.insert_account(account).await?)).await
}

/// A stored key.
pub(super) async fn key(store: &Arc<dyn Store>, account: AccountId) -> (ApiKey, ApiKeySecret) {
    let (key, secret) = samples::key(account);
    assert!(insert_key(store, &key).await);
    (key, secret)
}

pub(super) async fn insert_key(store: &Arc<dyn Store>, key: &ApiKey) -> bool {
    unit!(store, async |work| Ok(work.insert_key(key).await?)).await.unwrap()
}

/// A stored, empty group.
pub(super) async fn group(store: &Arc<dyn Store>, account: AccountId) -> Group {
    let group = samples::group("A group");
    insert_group(store, account, &group, PLENTY).await.unwrap();
    group
}

pub(super) async fn insert_group(
    store: &Arc<dyn Store>,
    account: AccountId,
    group: &Group,
    limit: u64,
) -> Result<(), Decision> {
    unit!(store, async |work| Ok(work.insert_group(account, group, limit).await?)).await
}

/// Stores a redirect and gives it back.
pub(super) async fn redirect(store: &Arc<dyn Store>, account: AccountId, redirect: Redirect) -> Redirect {
    insert_redirect(store, account, &redirect, PLENTY).await.unwrap();
    redirect
}

/// Stores redirects in one unit of work.
pub(super) async fn redirects(store: &Arc<dyn Store>, account: AccountId, redirects: &[Redirect]) {
    let stored = unit!(store, async |work| {
        for redirect in redirects {
            work.insert_redirect(account, redirect, PLENTY).await?;
        }
        Ok(())
    });
    stored.await.unwrap();
}

pub(super) async fn insert_redirect(
    store: &Arc<dyn Store>,
    account: AccountId,
    redirect: &Redirect,
    limit: u64,
) -> Result<(), Decision> {
    unit!(store, async |work| Ok(work.insert_redirect(account, redirect, limit).await?)).await
}

/// Locks the redirect, changes it, and writes it.
pub(super) async fn update_redirect(
    store: &Arc<dyn Store>,
    account: AccountId,
    after: &Redirect,
) -> Result<(), Decision> {
    unit!(store, async |work| {
        let before = work.lock_redirect(account, after.id).await?.expect("there is such a redirect");
        Ok(work.update_redirect(account, &before, after).await?)
    })
    .await
}

pub(super) async fn delete_redirect(store: &Arc<dyn Store>, account: AccountId, redirect: &Redirect) -> bool {
    unit!(store, async |work| Ok(work.delete_redirect(account, redirect.id).await?)).await.unwrap()
}

/// How many items a page may hold.
pub(super) fn limit(items: u64) -> PageLimit {
    PageLimit::new(items).unwrap()
}

/// All items of a list, and how many pages it took. `page` gives the page behind a position.
pub(super) async fn walk<T>(page: impl AsyncFn(Option<PagePosition>) -> Page<T>) -> (Vec<T>, usize) {
    let (mut items, mut pages, mut after) = (Vec::new(), 0, None);
    loop {
        let page = page(after).await;
        items.extend(page.items);
        pages += 1;
        assert!(pages < 10_000, "the list does not end");
        match page.next {
            Some(next) => after = Some(next),
            None => return (items, pages),
        }
    }
}
