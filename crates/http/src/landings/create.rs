//! `POST /v1/landings` (D28).

use actix_web::{HttpResponse, web};
use signpost_app::{Application, landings};
use signpost_domain::{HostReference, IdReference, LandingDraft, Name, Note, Slug, Violations};

use super::PATH;
use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyBody, boolean, reference, text};
use crate::wire::{self, LandingBody};

/// Creates a landing page.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let landing = landings::create(&app, &caller, draft(body)?).await?;
    wire::created(PATH, landing.id, &LandingBody::new(&landing, &app))
}

fn draft(body: OnlyBody) -> Result<LandingDraft, Violations> {
    let (mut body, mut violations) = body.reader()?;
    let title = body.required("title", text(Name::parse));
    let slug = body.nullable("slug", text(Slug::parse));
    let domain = body.nullable("domain", reference(HostReference::parse));
    let note = body.nullable("note", text(Note::parse));
    let group = body.nullable("group_id", reference(IdReference::parse));
    let is_active = body.optional("is_active", boolean());
    let analytics_enabled = body.optional("analytics_enabled", boolean());
    violations.append(body.finish());
    let (Some(title), Some(slug)) = (title, slug.into_choice()) else { return Err(violations) };
    let defaults = LandingDraft::new(title);
    violations.into_result(LandingDraft {
        slug,
        domain: domain.into_option(),
        note: note.into_option(),
        group: group.into_option(),
        is_active: is_active.unwrap_or(defaults.is_active),
        analytics_enabled: analytics_enabled.unwrap_or(defaults.analytics_enabled),
        ..defaults
    })
}
