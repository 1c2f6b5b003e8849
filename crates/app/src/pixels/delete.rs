//! Deleting a pixel.

use signpost_domain::id::PixelKind;
use signpost_domain::{IdReference, PixelId, Refusal};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::unit_of_work::{Attempts, commit};

/// Deletes a pixel. The redirects that had it have it no more.
///
/// # Errors
/// [`Refusal::PixelNotFound`] (D2).
pub async fn delete(
    app: &Application,
    caller: &Caller,
    id: IdReference<PixelKind>,
) -> Result<PixelId, AppError> {
    let id = id.id().ok_or(Refusal::PixelNotFound)?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if !work.delete_pixel(caller.account_id(), id).await? {
                return Err(Refusal::PixelNotFound.into());
            }
            commit(app, work).await?;
            Ok(id)
        })
        .await
}
