//! `PATCH /v1/landings/{id}` (D28, D32).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, Submitted, landings};
use signpost_domain::id::LandingKind;
use signpost_domain::{HostReference, IdReference, LandingPatch, Name, Note, Slug};

use super::page_content;
use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyBody, PathId, boolean, reference, text};
use crate::wire::{self, SingleLandingBody};

/// Updates a landing page.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<LandingKind>,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let page = landings::update(&app, &caller, id.0, command(body)).await?;
    wire::ok(&SingleLandingBody::new(&page, &app))
}

fn command(body: OnlyBody) -> Submitted<LandingPatch> {
    let (mut body, mut violations) = match body.reader() {
        Ok(readable) => readable,
        Err(violations) => return Submitted { value: LandingPatch::default(), violations },
    };
    let value = LandingPatch {
        title: body.optional("title", text(Name::parse)),
        slug: body.nullable("slug", text(Slug::parse)).into_change(),
        note: body.nullable("note", text(Note::parse)).into_change(),
        domain: body.nullable("domain", reference(HostReference::parse)).into_change(),
        group: body.nullable("group_id", reference(IdReference::parse)).into_change(),
        is_active: body.optional("is_active", boolean()),
        content: page_content::read(&mut body),
    };
    violations.append(body.finish());
    Submitted { value, violations }
}
