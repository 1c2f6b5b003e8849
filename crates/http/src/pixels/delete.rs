//! `DELETE /v1/pixels/{id}` (D5, D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, pixels};
use signpost_domain::id::PixelKind;

use crate::api_error::ApiError;
use crate::extract::{Admitted, NoInput, PathId};
use crate::wire::{self, DeletionBody};

/// Deletes a pixel, also from the redirects that have it.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<PixelKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let id = pixels::delete(&app, &caller, id.0).await?;
    wire::ok(&DeletionBody::new(id, "pixel", "The pixel is deleted; no redirect fires it any more."))
}
