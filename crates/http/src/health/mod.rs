//! Health checks for whoever runs the program (D63). They need no key, cost no quota, and answer soon also where what
//! they ask about hangs.

mod probe;

use std::sync::Arc;
use std::time::Instant;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use futures_util::future::join3;
use signpost_app::Application;
use utoipa::openapi::schema::ObjectBuilder;

use crate::api_error::ApiError;
use crate::extract::NoInput;
use crate::schema::{Components, closed_object, shown, string};
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

shown! {
    struct Live {
        status: &'static str = status_of("Always `ok`.", &[OK]),
    }
}

shown! {
    struct Health {
        status: &'static str = status_of(
            "`ok`, or why not: something that is needed does not answer or takes no changes, or the program is on its \
             way out.",
            &[OK, READ_ONLY, UNAVAILABLE, DRAINING],
        ),
        checks: Checks = closed_object("What was asked.", Checks::properties()),
    }
}

shown! {
    struct Checks {
        database: &'static str = status_of(
            "Whether the database answers. `read_only` says that it can be read and takes no changes, because its disk \
             is full or it is set so; in readiness only.",
            &[OK, READ_ONLY, UNAVAILABLE],
        ),
        #[serde(skip_serializing_if = "Option::is_none")]
        redis (maybe): Option<&'static str> = status_of(
            "Whether Redis answers; in readiness only, and only where Redis is used. It is not needed: while it is \
             away, each node counts requests by itself.",
            &[OK, UNAVAILABLE],
        ),
    }
}

fn status_of(description: &str, values: &[&'static str]) -> ObjectBuilder {
    string(description).enum_values(Some(values.iter().copied()))
}

/// The components of the OpenAPI document about health (D63).
pub(crate) fn components() -> Components {
    vec![
        ("Live", closed_object("The process answers.", Live::properties()).into()),
        ("Health", closed_object("Whether the service can do its work.", Health::properties()).into()),
    ]
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
