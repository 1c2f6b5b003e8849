//! `GET /v1/redirects/{id}` (D27, D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, redirects};
use signpost_domain::id::RedirectKind;

use crate::api_error::ApiError;
use crate::extract::{Admitted, NoInput, PathId};
use crate::wire::{self, SingleRedirectBody};

/// Retrieves a redirect with everything that belongs to it.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<RedirectKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let redirect = redirects::get(&app, &caller, id.0).await?;
    wire::ok(&SingleRedirectBody::new(&redirect, &app))
}
