//! Health checks for whoever runs the program (D63). They need no key, cost no quota, and answer soon also where what
//! they ask about hangs.

mod probe;

use std::sync::Arc;
use std::time::Instant;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use futures_util::future::join3;
use serde::Serialize;
use signpost_app::Application;

use crate::api_error::ApiError;
use crate::extract::NoInput;
use crate::wire;

use probe::Probe;

/// Whether a path is that of a health check, which is answered however many connections there are.
pub(crate) fn is_probe(path: &str) -> bool {
    path.starts_with("/health/")
}

const OK: &str = "ok";
const READ_ONLY: &str = "read_only";
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
    /// Of the store that nodes count requests in together, where there is one beside the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    redis: Option<&'static str>,
}

/// The checks that run, shared by all workers of a listener.
#[derive(Debug)]
pub(crate) struct Probes {
    database: Arc<Probe>,
    /// Whether the database takes changes. By itself, so that a write that hangs does not make visits look broken.
    changes: Arc<Probe>,
    redis: Arc<Probe>,
}

impl Default for Probes {
    fn default() -> Self {
        // A write waits for the disk, and for those who write before it.
        let changes = Arc::new(Probe::trusting());
        Self { database: Arc::default(), changes, redis: Arc::default() }
    }
}

/// `GET /health/live`: the process answers. Nothing outside of it is asked, so that an outage elsewhere does not
/// get it restarted.
pub(crate) async fn live(_: NoInput) -> Result<HttpResponse, ApiError> {
    wire::ok(&Live { status: OK })
}

/// `GET /health/ready`: the API can serve. That takes a database that answers and takes changes, and a program that is
/// not on its way out (D64). Redis is told of and not needed: without it each node counts by itself (D19).
pub(crate) async fn ready(
    app: web::Data<Application>,
    probes: web::Data<Probes>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let (database, changes, redis) =
        join3(database(&app, &probes), changes(&app, &probes), redis(&app, &probes)).await;
    let database = if database == OK { changes } else { database };
    let status = if app.lifecycle.is_draining() { DRAINING } else { database };
    answer(&Health { status, checks: Checks { database, redis } })
}

/// `GET /health/links`: visitors can be served, which takes no changes. While the database is away, those can whose links
/// this node has in memory.
pub(crate) async fn links(
    app: web::Data<Application>,
    probes: web::Data<Probes>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let database = database(&app, &probes).await;
    let status = if app.link_memory.can_serve(Instant::now()) { OK } else { database };
    answer(&Health { status, checks: Checks { database, redis: None } })
}

async fn database(app: &Application, probes: &Probes) -> &'static str {
    let store = Arc::clone(&app.store);
    let check = async move {
        let checked = store.check().await;
        if let Err(error) = &checked {
            tracing::warn!(%error, "the database does not answer a health check");
        }
        checked.is_ok()
    };
    word(probes.database.is_well(check).await)
}

async fn changes(app: &Application, probes: &Probes) -> &'static str {
    let store = Arc::clone(&app.store);
    let check = async move {
        let checked = store.check_writes().await;
        if let Err(error) = &checked {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            tracing::warn!(%error, cause, "the database takes no changes, says a health check");
        }
        checked.is_ok()
    };
    if probes.changes.is_well(check).await { OK } else { READ_ONLY }
}

async fn redis(app: &Application, probes: &Probes) -> Option<&'static str> {
    let shared = Arc::clone(app.shared_quota.as_ref()?);
    Some(word(probes.redis.is_well(async move { shared.answers().await }).await))
}

const fn word(is_well: bool) -> &'static str {
    if is_well { OK } else { UNAVAILABLE }
}

fn answer(health: &Health) -> Result<HttpResponse, ApiError> {
    let status = if health.status == OK { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    wire::json(status, health)
}
