//! `DELETE /v1/domains/{id}` (D5, D32, D43).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, domains};
use signpost_domain::id::DomainKind;

use crate::api_error::ApiError;
use crate::extract::{Admitted, NoInput, PathId};
use crate::wire::{self, DeletionBody};

/// Removes a domain; its links lose their addresses.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<DomainKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let id = domains::delete(&app, &caller, id.0).await?;
    let message = "The domain is removed; its links stay, without an address.";
    wire::ok(&DeletionBody::new(id, "domain", message))
}
