//! Retrieving a redirect.

use signpost_domain::id::RedirectKind;
use signpost_domain::{IdReference, Link, Refusal};

use super::with_pixels::RedirectWithPixels;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// The caller's redirect with this id, and its pixels.
///
/// # Errors
/// [`Refusal::RedirectNotFound`], alike for a malformed id, an unknown one, and another account's (D2).
pub async fn get(
    app: &Application,
    caller: &Caller,
    id: IdReference<RedirectKind>,
) -> Result<RedirectWithPixels, AppError> {
    let id = id.id().ok_or(Refusal::RedirectNotFound)?;
    let account = caller.account_id();
    let Some(Link::Redirect(redirect)) = caller.link(app, id.into()).await? else {
        return Err(Refusal::RedirectNotFound.into());
    };
    Ok(RedirectWithPixels::read(app, account, redirect).await?)
}
