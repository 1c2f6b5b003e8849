//! `POST /v1/landings` (D28).

use actix_web::{HttpResponse, web};
use signpost_app::Application;
use signpost_app::landings::{self, CreateLanding};
use signpost_domain::{
    HostReference, IdReference, IncompleteLanding, LandingDraft, LandingPage, Name, Note, PageContentPatch,
    Slug,
};

use super::{PATH, page_content};
use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyBody, boolean, reference, text};
use crate::remembered_answer::conclusion;
use crate::wire::{self, SingleLandingBody};

/// Creates a landing page.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let once = body.once(&app, &caller).await?;
    let show = |page: &LandingPage| wire::created(PATH, page.landing.id, &SingleLandingBody::new(page, &app));
    let page = landings::create(&app, &caller, command(body), conclusion(once.as_ref(), show)).await?;
    show(&page)
}

fn command(body: OnlyBody) -> CreateLanding {
    let (mut body, mut violations) = body.reader().map_err(|violations| {
        Box::new(IncompleteLanding { content: PageContentPatch::default(), violations })
    })?;
    let title = body.required("title", text(Name::parse));
    let slug = body.nullable("slug", text(Slug::parse));
    let domain = body.nullable("domain", reference(HostReference::parse));
    let note = body.nullable("note", text(Note::parse));
    let group = body.nullable("group_id", reference(IdReference::parse));
    let is_active = body.optional("is_active", boolean());
    let analytics_enabled = body.optional("analytics_enabled", boolean());
    let content = page_content::read(&mut body);
    violations.append(body.finish());
    match (title, slug.into_choice()) {
        (Some(title), Some(slug)) if violations.is_empty() => {
            let defaults = LandingDraft::new(title);
            Ok(LandingDraft {
                slug,
                domain: domain.into_option(),
                note: note.into_option(),
                group: group.into_option(),
                is_active: is_active.unwrap_or(defaults.is_active),
                analytics_enabled: analytics_enabled.unwrap_or(defaults.analytics_enabled),
                content,
                ..defaults
            })
        }
        _ => Err(Box::new(IncompleteLanding { content, violations })),
    }
}
