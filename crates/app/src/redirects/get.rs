//! Retrieving a redirect.

use signpost_domain::id::RedirectKind;
use signpost_domain::{IdReference, Redirect, Refusal};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// The caller's redirect with this id.
///
/// # Errors
/// [`Refusal::RedirectNotFound`], alike for a malformed id, an unknown one, and another account's (D2).
pub async fn get(
    app: &Application,
    caller: &Caller,
    id: IdReference<RedirectKind>,
) -> Result<Redirect, AppError> {
    let id = id.id().ok_or(Refusal::RedirectNotFound)?;
    let redirect = app.store.redirect(caller.account_id(), id).await?;
    Ok(redirect.ok_or(Refusal::RedirectNotFound)?)
}
