//! `GET /v1/domains/{id}` (contract "GET /v1/domains/{id}").

use actix_web::{HttpResponse, web};
use signpost_app::{Application, domains};
use signpost_domain::id::DomainKind;

use crate::api_error::ApiError;
use crate::extract::{Admitted, NoInput, PathId};
use crate::wire::{self, DomainBody};

/// Retrieves a domain.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<DomainKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let domain = domains::get(&app, &caller, id.0).await?;
    wire::ok(&DomainBody::from(&domain))
}
