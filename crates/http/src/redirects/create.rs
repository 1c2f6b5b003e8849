//! `POST /v1/redirects` (D28).

use actix_web::{HttpResponse, web};
use signpost_app::Application;
use signpost_app::redirects::{self, CreateRedirect};
use signpost_domain::{
    HostReference, IdReference, IncompleteRedirect, Name, Note, RedirectDraft, Slug, SlugChoice, TargetUrl,
};

use super::{PATH, fields};
use crate::api_error::ApiError;
use crate::extract::{Admitted, Given, OnlyBody, boolean, reference, text};
use crate::wire::{self, SingleRedirectBody};

/// Creates a redirect.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let redirect = redirects::create(&app, &caller, command(body)).await?;
    wire::created(PATH, redirect.id, &SingleRedirectBody::new(&redirect, &app))
}

#[expect(clippy::result_large_err, reason = "the use case takes what could be read whole")]
fn command(body: OnlyBody) -> CreateRedirect {
    let (mut body, mut violations) = body.reader().map_err(|violations| IncompleteRedirect {
        target_url: None,
        slug: None,
        domain: None,
        violations,
    })?;
    let name = body.required("name", text(Name::parse));
    let target_url = body.required("target_url", text(TargetUrl::parse));
    let slug = body.nullable("slug", text(Slug::parse));
    let domain = body.nullable("domain", reference(HostReference::parse));
    let note = body.nullable("note", text(Note::parse));
    let group = body.nullable("group_id", reference(IdReference::parse));
    let is_active = body.optional("is_active", boolean());
    let antibot_enabled = body.optional("antibot_enabled", boolean());
    let geo_blocklist = fields::geo_blocklists(&mut body);
    let analytics_enabled = body.optional("analytics_enabled", boolean());
    violations.append(body.finish());

    let slug = match slug {
        Given::Absent => Some(SlugChoice::Generate),
        Given::Null => Some(SlugChoice::Root),
        Given::Value(slug) => Some(SlugChoice::Exactly(slug)),
        Given::Invalid => None,
    };
    match (name, target_url, slug) {
        (Some(name), Some(target_url), Some(slug)) if violations.is_empty() => {
            let defaults = RedirectDraft::new(name, target_url);
            Ok(RedirectDraft {
                slug,
                domain: domain.into_option(),
                note: note.into_option(),
                group: group.into_option(),
                is_active: is_active.unwrap_or(defaults.is_active),
                antibot_enabled: antibot_enabled.unwrap_or(defaults.antibot_enabled),
                geo_blocklist: geo_blocklist.into_option().unwrap_or_default(),
                analytics_enabled: analytics_enabled.unwrap_or(defaults.analytics_enabled),
                ..defaults
            })
        }
        (_, target_url, slug) => {
            // Without a domain that can be read nobody knows which address the slug would make.
            let slug = slug.filter(|_| domain != Given::Invalid);
            Err(IncompleteRedirect { target_url, slug, domain: domain.into_option(), violations })
        }
    }
}
