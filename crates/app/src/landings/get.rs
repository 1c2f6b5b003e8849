//! Retrieving a landing page.

use signpost_domain::id::LandingKind;
use signpost_domain::{IdReference, LandingPage, Refusal};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// The caller's landing page with this id, and what is on it.
///
/// # Errors
/// [`Refusal::LandingNotFound`], alike for a malformed id, an unknown one, and another account's (D2).
pub async fn get(
    app: &Application,
    caller: &Caller,
    id: IdReference<LandingKind>,
) -> Result<LandingPage, AppError> {
    let id = id.id().ok_or(Refusal::LandingNotFound)?;
    let page = app.store.landing_page(caller.account_id(), id).await?;
    Ok(page.ok_or(Refusal::LandingNotFound)?)
}
