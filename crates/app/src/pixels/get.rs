//! Retrieving a pixel.

use signpost_domain::id::PixelKind;
use signpost_domain::{IdReference, Pixel, Refusal};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// The caller's pixel with this id.
///
/// # Errors
/// [`Refusal::PixelNotFound`] (D2).
pub async fn get(app: &Application, caller: &Caller, id: IdReference<PixelKind>) -> Result<Pixel, AppError> {
    let id = id.id().ok_or(Refusal::PixelNotFound)?;
    let pixel = app.store.pixel(caller.account_id(), id).await?;
    Ok(pixel.ok_or(Refusal::PixelNotFound)?)
}
