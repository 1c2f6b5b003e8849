//! Health checks for whoever runs the program (D63). They need no key and cost no quota.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use serde::Serialize;
use signpost_app::Application;

use crate::api_error::ApiError;
use crate::extract::NoInput;
use crate::wire;

const OK: &str = "ok";
const UNAVAILABLE: &str = "unavailable";
const DRAINING: &str = "draining";

#[derive(Serialize)]
struct Live {
    status: &'static str,
}

#[derive(Serialize)]
struct Health {
    status: &'static str,
    checks: Checks,
}

#[derive(Serialize)]
struct Checks {
    database: &'static str,
}

/// `GET /health/live`: the process answers. Nothing outside of it is asked, so that an outage elsewhere does not
/// get it restarted.
pub(crate) async fn live(_: NoInput) -> Result<HttpResponse, ApiError> {
    wire::ok(&Live { status: OK })
}

/// `GET /health/ready`: the API can serve, which takes the database and a program that is not on its way out
/// (D64).
pub(crate) async fn ready(app: web::Data<Application>, _: NoInput) -> Result<HttpResponse, ApiError> {
    let database = database(&app).await;
    let status = if app.lifecycle.is_draining() { DRAINING } else { database };
    answer(&Health { status, checks: Checks { database } })
}

/// `GET /health/links`: visitors can be served.
pub(crate) async fn links(app: web::Data<Application>, _: NoInput) -> Result<HttpResponse, ApiError> {
    let database = database(&app).await;
    answer(&Health { status: database, checks: Checks { database } })
}

async fn database(app: &Application) -> &'static str {
    match app.store.check().await {
        Ok(()) => OK,
        Err(error) => {
            tracing::warn!(%error, "the database does not answer a health check");
            UNAVAILABLE
        }
    }
}

fn answer(health: &Health) -> Result<HttpResponse, ApiError> {
    let status = if health.status == OK { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    wire::json(status, health)
}
