//! `GET /v1/analytics/clicks`, and the same of a redirect or a landing page (D66).

use actix_web::http::Method;
use actix_web::web::Bytes;
use actix_web::{HttpResponse, HttpResponseBuilder, web};
use futures_util::{TryStreamExt as _, stream};
use signpost_app::analytics::{self, Export};
use signpost_app::{AppError, Application};
use signpost_domain::analytics::ExportedClick;
use signpost_domain::analytics::ReportSubject;
use signpost_link_files::{LineFormat, click_parts};

use super::query::{self, ExportQuery};
use super::until;
use crate::api_error::ApiError;
use crate::extract::{Admitted, OnlyQuery, PathId};
use crate::resources::links::LinkEndpoints;

/// Exports the clicks of a link.
pub(crate) async fn of_link<K: LinkEndpoints>(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<K>,
    method: Method,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let query = query::export(input, ReportSubject::Link(K::LINK_KIND), app.clock.now())?;
    let ExportQuery { asked, links: _, format } = query;
    if method == Method::HEAD {
        analytics::check_export_of_link(&app, &caller, id.0, &asked).await?;
        return Ok(lines_of(format).streaming(without_lines()));
    }
    let export = analytics::export_of_link(&app, &caller, id.0, asked).await?;
    respond(app, caller, export, format).await
}

/// Exports the clicks of the account.
pub(crate) async fn of_account(
    app: web::Data<Application>,
    caller: Admitted,
    method: Method,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let ExportQuery { asked, links, format } = query::export(input, ReportSubject::Account, app.clock.now())?;
    if method == Method::HEAD {
        let check = analytics::check_export_of_account(&app, &caller, links, &asked);
        until(app.analytics.deadline(), check).await?;
        return Ok(lines_of(format).streaming(without_lines()));
    }
    let export = analytics::export_of_account(&app, &caller, links, asked);
    let export = until(app.analytics.deadline(), export).await?;
    respond(app, caller, export, format).await
}

/// Reads the first page before it sends the status, so that a failing store is a 503. Reads each later page once the client
/// has taken the one before.
async fn respond(
    app: web::Data<Application>,
    caller: Admitted,
    mut export: Export,
    format: LineFormat,
) -> Result<HttpResponse, ApiError> {
    let first = next(&app, &mut export).await?;
    // The request counts as in flight until the end.
    let running = (app, export, caller);
    let body = click_parts(format, first, running, async |(app, export, _)| {
        next(app, export).await.map_err(|error| aborted(&error))
    });
    Ok(lines_of(format).streaming(body.map_ok(Bytes::from)))
}

fn lines_of(format: LineFormat) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response.content_type(format.content_type());
    response
}

/// The body of the answer to HEAD, which has the head of an export but begins none.
fn without_lines() -> stream::Empty<std::io::Result<Bytes>> {
    stream::empty()
}

async fn next(app: &Application, export: &mut Export) -> Result<Vec<ExportedClick>, ApiError> {
    let deadline = app.analytics.deadline();
    until(deadline, export.next(app, deadline)).await
}

/// That breaks the connection, so that the caller notices the missing clicks.
fn aborted(error: &ApiError) -> std::io::Error {
    let cause = error.cause().unwrap_or_else(|| AppError::AnalyticsBusy.to_string());
    tracing::error!(cause, "an export was aborted");
    std::io::Error::other("an export was aborted")
}
