//! `PATCH /v1/landings/{id}` (D28, D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, landings};
use signpost_domain::id::LandingKind;
use signpost_domain::{HostReference, IdReference, LandingPatch, Name, Note, Slug, Violations};

use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyBody, PathId, boolean, reference, text};
use crate::wire::{self, LandingBody};

/// Updates a landing page.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<LandingKind>,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let landing = landings::update(&app, &caller, id.0, patch(body)?).await?;
    wire::ok(&LandingBody::new(&landing, &app))
}

fn patch(body: OnlyBody) -> Result<LandingPatch, Violations> {
    let (mut body, mut violations) = body.reader()?;
    let patch = LandingPatch {
        title: body.optional("title", text(Name::parse)),
        slug: body.nullable("slug", text(Slug::parse)).into_change(),
        note: body.nullable("note", text(Note::parse)).into_change(),
        domain: body.nullable("domain", reference(HostReference::parse)).into_change(),
        group: body.nullable("group_id", reference(IdReference::parse)).into_change(),
        is_active: body.optional("is_active", boolean()),
    };
    violations.append(body.finish());
    violations.into_result(patch)
}
