//! `DELETE /v1/landings/{id}` and `DELETE /v1/redirects/{id}` (D5, D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, links};

use super::LinkResource;
use crate::api_error::ApiError;
use crate::extract::{Admitted, NoInput, PathId};
use crate::wire::{self, DeletionBody};

/// Deletes a link.
pub(crate) async fn handle<K: LinkResource>(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<K>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let id = links::delete(&app, &caller, id.0).await?;
    wire::ok(&DeletionBody::new(id, K::OBJECT, K::DELETED))
}
