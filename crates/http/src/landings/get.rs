//! `GET /v1/landings/{id}` (D27, D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, landings};
use signpost_domain::id::LandingKind;

use crate::api_error::ApiError;
use crate::extract::{Admitted, NoInput, PathId};
use crate::wire::{self, SingleLandingBody};

/// Retrieves a landing page with what is on it.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<LandingKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let landing = landings::get(&app, &caller, id.0).await?;
    wire::ok(&SingleLandingBody::new(&landing, &app))
}
