//! `POST /v1/redirects` (D28).

use actix_web::{HttpResponse, web};
use signpost_app::Application;
use signpost_app::redirects::{self, CreateRedirect};
use signpost_domain::IncompleteRedirect;

use super::{PATH, fields};
use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyBody};
use crate::wire::{self, SingleRedirectBody};

/// Creates a redirect.
pub(crate) async fn handle(
    app: web::Data<Application>,
    caller: Admitted,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let redirect = redirects::create(&app, &caller, command(body)).await?;
    wire::created(PATH, redirect.redirect.id, &SingleRedirectBody::new(&redirect, &app))
}

fn command(body: OnlyBody) -> CreateRedirect {
    let (body, violations) = body.reader().map_err(IncompleteRedirect::unreadable)?;
    fields::draft(body, violations)
}
