//! `POST /v1/redirects` (D28).

use actix_web::{HttpResponse, web};
use signpost_app::Application;
use signpost_app::redirects::{self, CreateRedirect, RedirectWithPixels};
use signpost_domain::IncompleteRedirect;

use super::{PATH, fields};
use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyBody};
use crate::remembered_answer::conclusion;
use crate::wire::{self, SingleRedirectBody};

/// Creates a redirect.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let once = body.once(&app, &caller).await?;
    let show = |created: &RedirectWithPixels| {
        wire::created(PATH, created.redirect.id, &SingleRedirectBody::new(created, &app))
    };
    let created = redirects::create(&app, &caller, command(body), conclusion(once.as_ref(), show)).await?;
    show(&created)
}

fn command(body: OnlyBody) -> CreateRedirect {
    let (body, violations) = body.reader().map_err(IncompleteRedirect::unreadable)?;
    fields::draft(body, violations)
}
