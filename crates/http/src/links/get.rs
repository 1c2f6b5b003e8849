//! `GET /v1/landings/{id}` and `GET /v1/redirects/{id}` (D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, links};

use super::LinkResource;
use crate::api_error::ApiError;
use crate::extract::{Admitted, NoInput, PathId};
use crate::wire::{self, SingleLinkBody};

/// Retrieves a link.
pub(crate) async fn handle<K: LinkResource>(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<K>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let link = links::get(&app, &caller, id.0).await?;
    wire::ok(&SingleLinkBody::new(&link, &app))
}
