//! What the store has where a record says that something is.

use signpost_domain::{AccountId, Address, Link, LinkContext, NamedDomain, Site};

use super::entry::NewLink;
use crate::application::Application;
use crate::ports::StoreError;

/// What the store has to say about a row.
pub(super) struct Found {
    /// The account's link with the row's id.
    pub(super) by_id: Option<Link>,
    /// Whether any link may have the row's address, or the first that it leads to.
    pub(super) is_occupied: bool,
}

pub(super) async fn look(
    app: &Application,
    account: AccountId,
    entry: &NewLink,
    context: &LinkContext<'_>,
) -> Result<Found, StoreError> {
    let by_id = match entry.link.id {
        Some(id) => app.store.link(account, id).await?,
        None => None,
    };
    let address = entry.link.address(entry.first_slug(account), context);
    let is_occupied = match address {
        Some(address) if by_id.is_none() => may_be_occupied(app, &address, context).await?,
        Some(_) | None => false,
    };
    Ok(Found { by_id, is_occupied })
}

/// Whether a link may have the address. Of a custom domain that does not serve links the store does not say what is
/// there, but no link of another account can be.
pub(super) async fn may_be_occupied(
    app: &Application,
    address: &Address,
    context: &LinkContext<'_>,
) -> Result<bool, StoreError> {
    match &address.site {
        Site::Custom(hostname) if context.named_domains.of(hostname) != NamedDomain::Active => Ok(true),
        Site::Custom(_) | Site::System => Ok(app.store.published_link(address).await?.is_some()),
    }
}
