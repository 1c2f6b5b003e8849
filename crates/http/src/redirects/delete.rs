//! `DELETE /v1/redirects/{id}` (D5, D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, redirects};
use signpost_domain::id::RedirectKind;

use crate::api_error::ApiError;
use crate::extract::{Admitted, NoInput, PathId};
use crate::wire::{self, DeletionBody};

/// Deletes a redirect.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<RedirectKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let id = redirects::delete(&app, &caller, id.0).await?;
    wire::ok(&DeletionBody::new(id, "redirect", "The redirect is deleted and its address is free."))
}
