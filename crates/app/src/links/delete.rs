//! Deleting a link.

use signpost_domain::{Id, IdReference, LinkIdKind};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::unit_of_work::{Attempts, commit};

/// Deletes a link; its address is free at once.
///
/// # Errors
/// The kind's `…NotFound` (D2).
pub async fn delete<K: LinkIdKind>(
    app: &Application,
    caller: &Caller,
    id: IdReference<K>,
) -> Result<Id<K>, AppError> {
    let not_found = K::LINK_KIND.not_found();
    let Some(id) = id.id() else { return Err(not_found.into()) };
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if work.delete_links(caller.account_id(), &[id.into()]).await?.is_empty() {
                return Err(not_found.clone().into());
            }
            commit(app, work).await?;
            Ok(id)
        })
        .await
}
