//! Retrieving a link.

use signpost_domain::{IdReference, Link, LinkIdKind};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// The caller's link with this id.
///
/// # Errors
/// The kind's `…NotFound`, alike for a malformed id, an unknown one, and another account's (D2).
pub async fn get<K: LinkIdKind>(
    app: &Application,
    caller: &Caller,
    id: IdReference<K>,
) -> Result<Link, AppError> {
    let not_found = K::LINK_KIND.not_found();
    let Some(id) = id.id() else { return Err(not_found.into()) };
    let link = caller.link(app, id.into()).await?;
    Ok(link.ok_or(not_found)?)
}
