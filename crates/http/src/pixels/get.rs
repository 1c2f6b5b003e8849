//! `GET /v1/pixels/{id}` (D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, pixels};
use signpost_domain::id::PixelKind;

use crate::api_error::ApiError;
use crate::extract::{Admitted, NoInput, PathId};
use crate::wire::{self, PixelBody};

/// Retrieves a pixel.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<PixelKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let pixel = pixels::get(&app, &caller, id.0).await?;
    wire::ok(&PixelBody::from(&pixel))
}
