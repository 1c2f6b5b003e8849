//! Deleting a redirect.

use signpost_domain::id::RedirectKind;
use signpost_domain::{IdReference, RedirectId, Refusal};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::unit_of_work::retried;

/// Deletes a redirect; its address is free at once.
///
/// # Errors
/// [`Refusal::RedirectNotFound`].
pub async fn delete(
    app: &Application,
    caller: &Caller,
    id: IdReference<RedirectKind>,
) -> Result<RedirectId, AppError> {
    let id = id.id().ok_or(Refusal::RedirectNotFound)?;
    retried(|| async {
        let mut work = app.store.begin().await?;
        if !work.delete_redirect(caller.account_id(), id).await? {
            return Err(Refusal::RedirectNotFound.into());
        }
        work.commit().await?;
        Ok(id)
    })
    .await
}
