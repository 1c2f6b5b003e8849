//! `PATCH /v1/redirects/{id}` (contract "PATCH /v1/redirects/{id}").

use actix_web::{HttpResponse, web};
use signpost_app::{Application, Submitted, redirects};
use signpost_domain::id::RedirectKind;
use signpost_domain::{HostReference, IdReference, Name, Note, RedirectPatch, Slug, TargetUrl};

use super::fields;
use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyBody, PathId, boolean, reference, text};
use crate::wire::{self, SingleRedirectBody};

/// Updates a redirect.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<RedirectKind>,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let redirect = redirects::update(&app, &caller, id.0, command(body)).await?;
    wire::ok(&SingleRedirectBody::new(&redirect, &app))
}

fn command(body: OnlyBody) -> Submitted<RedirectPatch> {
    let (mut body, mut violations) = match body.reader() {
        Ok(readable) => readable,
        Err(violations) => return Submitted { value: RedirectPatch::default(), violations },
    };
    let value = RedirectPatch {
        name: body.optional("name", text(Name::parse)),
        target_url: body.optional("target_url", text(TargetUrl::parse)),
        slug: body.nullable("slug", text(Slug::parse)).into_change(),
        note: body.nullable("note", text(Note::parse)).into_change(),
        domain: body.nullable("domain", reference(HostReference::parse)).into_change(),
        group: body.nullable("group_id", reference(IdReference::parse)).into_change(),
        is_active: body.optional("is_active", boolean()),
        antibot_enabled: body.optional("antibot_enabled", boolean()),
        geo_blocklist: fields::geo_blocklists(&mut body).into_change(),
        pixels: fields::pixel_ids(&mut body).into_change(),
    };
    violations.append(body.finish());
    Submitted { value, violations }
}
