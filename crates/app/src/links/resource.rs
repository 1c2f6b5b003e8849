//! The parts of use cases that depend on the kind of links, and reading a single link.

use std::collections::{BTreeMap, BTreeSet};

use signpost_domain::{
    AccountId, ContentRules, Id, IdReference, Link, LinkId, LinkIdKind, Permission, Pixel, PixelId,
};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::ports::{StoreError, UnitOfWork};

/// Pixels of an account by their ids.
pub(crate) type Pixels = BTreeMap<PixelId, Pixel>;

/// A kind of links, by its content. Reads and writes the content that is not in the link's row.
pub trait LinkResource: ContentRules<Kind: LinkIdKind> + Send + Sync {
    /// The link as an answer about a single one shows it.
    type Single: Clone + Send + Sync;

    /// The pixels that a request names.
    fn named_pixels(_request: &Self::Request) -> &[Option<PixelId>] {
        &[]
    }

    /// The shown form of a link. `pixels` has its existing pixels.
    fn single(link: Link<Self>, pixels: &BTreeMap<PixelId, Pixel>) -> Self::Single;

    /// Reads the caller's link with this id in its shown form, or takes the one that was read ahead.
    fn find(
        app: &Application,
        caller: &Caller,
        id: Id<Self::Kind>,
        read_ahead: Option<&Link>,
    ) -> impl Future<Output = Result<Option<Self::Single>, StoreError>> + Send;

    /// Links that a unit of work has locked, with the content that callers see, in any order. Adds their pixels to `pixels`.
    /// Leaves out links of the other kind. The number of statements does not depend on the number of links (D30).
    fn complete(
        work: &mut dyn UnitOfWork,
        account: AccountId,
        links: Vec<Link>,
        pixels: &mut BTreeMap<PixelId, Pixel>,
    ) -> impl Future<Output = Result<Vec<Link<Self>>, StoreError>> + Send;

    /// Writes the contents of changed links that are not in the links' rows, from the links before and after. The number of
    /// statements does not depend on the number of links (D30).
    fn write_contents(
        work: &mut dyn UnitOfWork,
        account: AccountId,
        changes: &[(&Link<Self>, &Link<Self>)],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Writes the contents of new links that are not in the links' rows. The number of statements does not depend on the
    /// number of links (D30).
    fn write_new_contents(
        work: &mut dyn UnitOfWork,
        account: AccountId,
        created: &[&Link<Self>],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// The caller's link with this id. `read_ahead` is the link that was read when the request was admitted; if it is another one,
/// the store is asked.
///
/// # Errors
/// The kind's `…NotFound`, equally for a malformed id, an unknown id, and another account's (D2).
pub async fn get<C: LinkResource>(
    app: &Application,
    caller: &Caller,
    id: IdReference<C::Kind>,
    read_ahead: Option<&Link>,
) -> Result<C::Single, AppError> {
    caller.require(Permission::Read)?;
    let not_found = C::Kind::LINK_KIND.not_found();
    let Some(id) = id.id() else { return Err(not_found.into()) };
    Ok(C::find(app, caller, id, read_ahead).await?.ok_or(not_found)?)
}

/// The caller's link with this id, without the content of a landing page.
///
/// # Errors
/// The kind's `…NotFound` (D2).
pub async fn one(app: &Application, caller: &Caller, id: LinkId) -> Result<Link, AppError> {
    caller.require(Permission::Read)?;
    Ok(app.store.link(caller.account_id(), id).await?.ok_or_else(|| id.kind().not_found())?)
}

/// The caller's links among these ids, in any order, without the content of landing pages. At most the size of a
/// [`Batch`](signpost_domain::Batch) of ids.
pub async fn named(app: &Application, caller: &Caller, ids: &[LinkId]) -> Result<Vec<Link>, AppError> {
    caller.require(Permission::Read)?;
    if ids.is_empty() {
        return Ok(vec![]);
    }
    Ok(app.store.links_with_ids(caller.account_id(), ids).await?)
}

/// The caller's link of either kind with this id.
pub(crate) async fn any<K: LinkIdKind>(
    app: &Application,
    caller: &Caller,
    id: IdReference<K>,
) -> Result<Link, AppError> {
    let not_found = K::LINK_KIND.not_found();
    let Some(id) = id.id() else { return Err(not_found.into()) };
    Ok(app.store.link(caller.account_id(), LinkId::from(id)).await?.ok_or(not_found)?)
}

/// The account's pixels among those that requests name. Queries the store only if they name some.
pub(super) async fn named_pixels<'a, C: LinkResource>(
    app: &Application,
    account: AccountId,
    requests: impl IntoIterator<Item = &'a C::Request>,
) -> Result<Pixels, StoreError>
where
    C::Request: 'a,
{
    let named = requests.into_iter().flat_map(C::named_pixels);
    let ids: BTreeSet<PixelId> = named.flatten().copied().collect();
    stored_pixels(app, account, &ids.into_iter().collect::<Vec<_>>()).await
}

/// The account's pixels with these ids. Queries the store only if there are ids.
pub(crate) async fn stored_pixels(
    app: &Application,
    account: AccountId,
    ids: &[PixelId],
) -> Result<Pixels, StoreError> {
    let pixels = if ids.is_empty() { vec![] } else { app.store.pixels_with_ids(account, ids).await? };
    Ok(pixels_by_id(pixels))
}

pub(crate) fn pixels_by_id(pixels: Vec<Pixel>) -> Pixels {
    pixels.into_iter().map(|pixel| (pixel.id, pixel)).collect()
}
