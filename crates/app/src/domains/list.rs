//! Listing custom domains.

use signpost_domain::{Page, PageLimit, PagePosition};

use super::with_instructions::DomainWithInstructions;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// One page of the caller's domains in whatever status, `failed` included, newest first, as they read now (D39). As for
/// [`get`](super::get), the plan need not have the feature any more.
pub async fn list(
    app: &Application,
    caller: &Caller,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<DomainWithInstructions>, AppError> {
    let page = app.store.custom_domains(caller.account_id(), limit, after).await?;
    let now = app.clock.now();
    Ok(page.map(|domain| DomainWithInstructions::at(app, &domain, now)))
}
