//! `POST /v1/domains/{id}/verify` (D32, D42).

use actix_web::{HttpResponse, web};
use signpost_app::Application;
use signpost_app::domains::{self, DomainWithInstructions};
use signpost_domain::id::DomainKind;

use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyKey, PathId};
use crate::remembered_answer::conclusion;
use crate::wire::{self, DomainBody};

/// Checks a domain now.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<DomainKind>,
    mut input: OnlyKey,
) -> Result<HttpResponse, ApiError> {
    let once = input.once(&app, &caller).await?;
    input.finish()?;
    let show = |domain: &DomainWithInstructions| wire::ok(&DomainBody::from(domain));
    let domain = domains::verify(&app, &caller, id.0, conclusion(once.as_ref(), show)).await?;
    show(&domain)
}
