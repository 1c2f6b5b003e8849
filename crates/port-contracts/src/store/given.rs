//! Setup steps for cases, and units of work that repeat when the store asks for it.

use std::sync::Arc;

use signpost_app::ports::{
    InsertGroupError, InsertLinksError, InsertResourceError, Insertion, Store, StoreError, UnitOfWork,
    UpdateLinkError, WriteAccountError, WriteUserError,
};
use signpost_domain::{
    Account, AccountId, ApiKey, ApiKeySecret, Group, GroupId, LandingId, Link, LinkId, LinkKind, Page,
    PageContent, PageLimit, PagePosition, Pixel, PixelId, Timestamp,
};

use super::resources::{Resource, ResourceKind};
use crate::samples;

/// A limit that no case reaches.
pub(super) const PLENTY: u64 = 1_000_000;

/// The number of links that a method takes at once.
pub(super) const AT_ONCE: usize = 100;

/// The kinds of links.
pub(super) const KINDS: [LinkKind; 2] = [LinkKind::Landing, LinkKind::Redirect];

/// The other kind.
pub(super) const fn other(kind: LinkKind) -> LinkKind {
    match kind {
        LinkKind::Landing => LinkKind::Redirect,
        LinkKind::Redirect => LinkKind::Landing,
    }
}

/// The id of the other kind with the same bits, which no link has.
pub(super) const fn twin(id: LinkId) -> LinkId {
    LinkId::from_bytes(other(id.kind()), id.to_bytes())
}

/// A refusal of the store. Any other error of the store fails the case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    EmailTaken,
    AddressTaken,
    ExternalIdTaken,
    IdTaken,
    LimitReached,
    GroupMissing,
    HostnameTaken,
    AccountMissing,
    /// Not a decision: the store asks to repeat the unit of work.
    Again,
}

impl From<StoreError> for Decision {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Contended => Self::Again,
            StoreError::Unavailable(_) | StoreError::Unwritable(_) | StoreError::Corrupt { .. } => {
                panic!("the store failed: {error:?}")
            }
        }
    }
}

impl From<WriteAccountError> for Decision {
    fn from(error: WriteAccountError) -> Self {
        match error {
            WriteAccountError::EmailTaken => Self::EmailTaken,
            WriteAccountError::Store(error) => error.into(),
        }
    }
}

impl From<WriteUserError> for Decision {
    fn from(error: WriteUserError) -> Self {
        match error {
            WriteUserError::EmailTaken => Self::EmailTaken,
            WriteUserError::Store(error) => error.into(),
        }
    }
}

impl From<InsertResourceError> for Decision {
    fn from(error: InsertResourceError) -> Self {
        match error {
            InsertResourceError::LimitReached => Self::LimitReached,
            InsertResourceError::AccountMissing => Self::AccountMissing,
            InsertResourceError::Store(error) => error.into(),
        }
    }
}

impl From<InsertGroupError> for Decision {
    fn from(error: InsertGroupError) -> Self {
        match error {
            InsertGroupError::IdTaken => Self::IdTaken,
            InsertGroupError::Resource(error) => error.into(),
        }
    }
}

impl From<InsertLinksError> for Decision {
    fn from(error: InsertLinksError) -> Self {
        match error {
            InsertLinksError::AccountMissing => Self::AccountMissing,
            InsertLinksError::Store(error) => error.into(),
        }
    }
}

impl From<UpdateLinkError> for Decision {
    fn from(error: UpdateLinkError) -> Self {
        match error {
            UpdateLinkError::AddressTaken => Self::AddressTaken,
            UpdateLinkError::ExternalIdTaken => Self::ExternalIdTaken,
            UpdateLinkError::GroupMissing => Self::GroupMissing,
            UpdateLinkError::Store(error) => error.into(),
        }
    }
}

/// Runs steps in a unit of work and commits it, or drops it after a decision. Repeats this as often as the store asks for
/// it. The steps return a `Result<_, Decision>`.
///
/// This is a macro because the compiler cannot prove yet that the future of such a function with a closure is `Send`.
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

/// Two stored, empty groups.
pub(super) async fn two_groups(store: &Arc<dyn Store>, account: AccountId) -> [GroupId; 2] {
    [group(store, account).await.id, group(store, account).await.id]
}

/// A stored resource of each kind.
pub(super) async fn one_of_each_resource(store: &Arc<dyn Store>, account: AccountId) -> Vec<Resource> {
    let mut resources = Vec::new();
    for kind in ResourceKind::ALL {
        let resource = kind.sample(account, "one-of-each");
        self::resource(store, account, &resource).await;
        resources.push(resource);
    }
    resources
}

/// Stores a resource.
pub(super) async fn resource(store: &Arc<dyn Store>, account: AccountId, resource: &Resource) {
    unit!(store, async |work| Ok(resource.insert(work, account, PLENTY).await?)).await.unwrap();
}

/// A stored pixel.
pub(super) async fn pixel(store: &Arc<dyn Store>, account: AccountId) -> Pixel {
    let pixel = samples::pixel("A pixel");
    insert_pixel(store, account, &pixel, PLENTY).await.unwrap();
    pixel
}

pub(super) async fn insert_pixel(
    store: &Arc<dyn Store>,
    account: AccountId,
    pixel: &Pixel,
    limit: u64,
) -> Result<(), Decision> {
    unit!(store, async |work| Ok(work.insert_pixel(account, pixel, limit).await?)).await
}

/// Returns `true` if it existed.
pub(super) async fn delete_pixel(store: &Arc<dyn Store>, account: AccountId, id: PixelId) -> bool {
    unit!(store, async |work| Ok(work.delete_pixel(account, id).await?)).await.unwrap()
}

/// Locks a landing page and writes its content.
pub(super) async fn write_page(
    store: &Arc<dyn Store>,
    account: AccountId,
    id: LandingId,
    content: &PageContent,
) {
    let written = unit!(store, async |work| {
        assert!(work.lock_link(account, id.into()).await?.is_some(), "no such page");
        Ok(work.write_page_content(account, id, content).await?)
    });
    written.await.unwrap();
}

/// A link of a kind, in a group or ungrouped.
pub(super) fn in_group(group: Option<GroupId>, kind: LinkKind, text: &str) -> Link {
    let mut link = samples::link(kind, text);
    link.move_to_group(group, samples::at(0));
    link
}

/// Stores a link and returns it.
pub(super) async fn link<L: Clone + Into<Link>>(store: &Arc<dyn Store>, account: AccountId, link: L) -> L {
    insert_link(store, account, &link, PLENTY).await.unwrap();
    link
}

/// Stores links in one unit of work.
pub(super) async fn links<L: Clone + Into<Link>>(store: &Arc<dyn Store>, account: AccountId, links: &[L]) {
    let links: Vec<Link> = links.iter().cloned().map(L::into).collect();
    let stored = unit!(store, async |work| {
        for links in links.chunks(AT_ONCE) {
            let inserted = work.insert_links(account, links, PLENTY).await?;
            assert_eq!(inserted, vec![Insertion::Done; links.len()]);
        }
        Ok(())
    });
    stored.await.unwrap();
}

pub(super) async fn insert_link<L: Clone + Into<Link>>(
    store: &Arc<dyn Store>,
    account: AccountId,
    link: &L,
    limit: u64,
) -> Result<(), Decision> {
    let link = link.clone().into();
    unit!(store, async |work| insert(work, account, &link, limit).await).await
}

/// Inserts one link within a unit of work.
pub(super) async fn insert<L: Clone + Into<Link>>(
    work: &mut dyn UnitOfWork,
    account: AccountId,
    link: &L,
    limit: u64,
) -> Result<(), Decision> {
    let links = [link.clone().into()];
    match work.insert_links(account, &links, limit).await?[..] {
        [Insertion::Done] => Ok(()),
        [Insertion::GroupMissing] => Err(Decision::GroupMissing),
        [Insertion::LimitReached] => Err(Decision::LimitReached),
        [Insertion::AddressTaken] => Err(Decision::AddressTaken),
        [Insertion::ExternalIdTaken] => Err(Decision::ExternalIdTaken),
        [Insertion::IdTaken] => Err(Decision::IdTaken),
        [] | [_, _, ..] => panic!("not exactly one answer for one link"),
    }
}

/// Inserts links as one batch, in their own unit of work.
pub(super) async fn insert_links(
    store: &Arc<dyn Store>,
    account: AccountId,
    links: &[Link],
    limit: u64,
) -> Result<Vec<Insertion>, Decision> {
    unit!(store, async |work| Ok(work.insert_links(account, links, limit).await?)).await
}

/// Locks the link, changes it, and writes it.
pub(super) async fn update_link<L: Clone + Into<Link>>(
    store: &Arc<dyn Store>,
    account: AccountId,
    after: &L,
) -> Result<(), Decision> {
    let after = after.clone().into();
    unit!(store, async |work| {
        let before = work.lock_link(account, after.id()).await?.expect("there is such a link");
        Ok(work.update_link(account, &before, &after).await?)
    })
    .await
}

/// Returns `true` if it existed.
pub(super) async fn delete_link(store: &Arc<dyn Store>, account: AccountId, id: impl Into<LinkId>) -> bool {
    let id = id.into();
    let deleted = delete_links(store, account, &[id]).await;
    assert!(deleted.iter().all(|deleted| *deleted == id), "{deleted:?}");
    deleted.len() == 1
}

/// Deletes links as one batch, and returns the ids of deleted links, sorted.
pub(super) async fn delete_links(store: &Arc<dyn Store>, account: AccountId, ids: &[LinkId]) -> Vec<LinkId> {
    let mut deleted = unit!(store, async |work| Ok(work.delete_links(account, ids).await?)).await.unwrap();
    deleted.sort();
    deleted
}

/// Moves links into a group as one batch, and returns them sorted by id.
pub(super) async fn assign_links(
    store: &Arc<dyn Store>,
    account: AccountId,
    group: GroupId,
    ids: &[LinkId],
    now: Timestamp,
) -> Option<Vec<Link>> {
    let assigned = unit!(store, async |work| Ok(work.assign_links(account, group, ids, now).await?));
    assigned.await.unwrap().map(sorted)
}

/// Takes links out of a group as one batch, and returns them sorted by id.
pub(super) async fn unassign_links(
    store: &Arc<dyn Store>,
    account: AccountId,
    group: GroupId,
    ids: &[LinkId],
    now: Timestamp,
) -> Option<Vec<Link>> {
    let unassigned = unit!(store, async |work| Ok(work.unassign_links(account, group, ids, now).await?));
    unassigned.await.unwrap().map(sorted)
}

pub(super) fn sorted(mut links: Vec<Link>) -> Vec<Link> {
    links.sort_by_key(Link::id);
    links
}

/// The ids of links.
pub(super) fn ids<'a>(links: impl IntoIterator<Item = &'a Link>) -> Vec<LinkId> {
    links.into_iter().map(Link::id).collect()
}

/// A limit of `items` for a page.
pub(super) fn limit(items: u64) -> PageLimit {
    PageLimit::new(items).unwrap()
}

/// All items of a list, and its number of pages. `page` returns the page after a position.
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

/// The successes among concurrent outcomes. Every other outcome must be this refusal.
pub(super) fn successes<T>(outcomes: Vec<Result<T, Decision>>, refusal: Decision) -> Vec<T> {
    let succeeded = |outcome| match outcome {
        Ok(value) => Some(value),
        Err(decision) => {
            assert_eq!(decision, refusal);
            None
        }
    };
    outcomes.into_iter().filter_map(succeeded).collect()
}
