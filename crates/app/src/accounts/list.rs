//! Listing accounts.

use signpost_domain::{Account, Page, PageLimit, PagePosition};

use super::operator_error::OperatorError;
use crate::application::Application;

/// One page of all accounts, newest first.
pub async fn list(
    app: &Application,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<Account>, OperatorError> {
    Ok(app.store.accounts(limit, after).await?)
}
