//! Listing groups.

use signpost_domain::{Group, Page, PageLimit, PagePosition};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// One page of the caller's groups, newest first.
pub async fn list(
    app: &Application,
    caller: &Caller,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<Group>, AppError> {
    Ok(app.store.groups(caller.account_id(), limit, after).await?)
}
