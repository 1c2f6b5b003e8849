//! Listing pixels.

use signpost_domain::{Page, PageLimit, PagePosition, Pixel};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// One page of the caller's pixels, newest first.
pub async fn list(
    app: &Application,
    caller: &Caller,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<Pixel>, AppError> {
    Ok(app.store.pixels(caller.account_id(), limit, after).await?)
}
