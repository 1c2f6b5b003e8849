//! Health checks for operators (D63). They need no key, cost no quota, and answer in time also if a dependency hangs.

mod endpoints;
mod probe;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use futures_util::future::join4;
use signpost_app::{Application, certificates};
use utoipa::openapi::schema::ObjectBuilder;

use crate::api_error::ApiError;
use crate::extract::NoInput;
use crate::schema::{Components, named, only, open_object, shown, string};
use crate::sections::Section;
use crate::wire;

use probe::Probe;

/// Whether a path is that of a health check. The listener answers those beyond its limit of connections.
pub(crate) fn is_probe(path: &str) -> bool {
    path.starts_with("/health/")
}

/// What the API says about health checks.
pub(crate) static SECTION: Section = Section {
    tag: "Health",
    description: "Health checks for operators. They need no key and use no quota.",
    endpoints: endpoints::all,
    schemas: components,
    parameters: Vec::new,
};

const OK: &str = "ok";
const READ_ONLY: &str = "read_only";
const UNAVAILABLE: &str = "unavailable";
const DRAINING: &str = "draining";
const OTHER_SECRETS_KEY: &str = "other_secrets_key";

shown! {
    struct Live {
        status: &'static str = only(string("Always `ok`."), OK),
    }
}

shown! {
    struct Health {
        status: &'static str = status_of(
            "`ok`, or the reason: a required dependency is unavailable or read-only, or the process is shutting down.",
            &[OK, READ_ONLY, UNAVAILABLE, DRAINING],
        ),
        checks: Checks = named("HealthChecks"),
    }
}

shown! {
    struct Checks {
        database: &'static str = status_of(
            "Whether the database answers. `read_only` means that it accepts no changes, because its disk is full or \
             because it is configured so; in readiness only.",
            &[OK, READ_ONLY, UNAVAILABLE],
        ),
        #[serde(skip_serializing_if = "Option::is_none")]
        redis (maybe): Option<&'static str> = status_of(
            "Whether Redis answers; in readiness only, and only if Redis is configured. It is not required: without it, \
             each node counts requests on its own.",
            &[OK, UNAVAILABLE],
        ),
        #[serde(skip_serializing_if = "Option::is_none")]
        certificates (maybe): Option<&'static str> = status_of(
            "Whether the node can use what is stored about certificates; in readiness only, and only if the service obtains \
             certificates. `other_secrets_key` means that it was encrypted with another `secrets-key`, so that this node \
             orders and renews nothing. Requests are served all the same.",
            &[OK, OTHER_SECRETS_KEY],
        ),
    }
}

fn status_of(description: &str, values: &[&'static str]) -> ObjectBuilder {
    string(description).enum_values(Some(values.iter().copied()))
}

/// The OpenAPI components of health checks (D63).
fn components() -> Components {
    vec![
        ("Live", open_object("The process answers.", Live::properties()).into()),
        ("Health", open_object("Whether the service can serve.", Health::properties()).into()),
        ("HealthChecks", open_object("The dependencies.", Checks::properties()).into()),
    ]
}

/// The running checks, shared by all workers of a listener.
#[derive(Debug)]
pub(crate) struct Probes {
    database: Arc<Probe>,
    /// Checks writes separately, so that a hanging write does not make visits look broken.
    changes: Arc<Probe>,
    redis: Arc<Probe>,
    certificates: Arc<Probe>,
    /// Whether the last look at the account of the certificate authority found that it was stored with another secrets key.
    has_other_key: Arc<AtomicBool>,
}

impl Default for Probes {
    fn default() -> Self {
        // A write waits for the disk and for earlier writes, so a slow one is no failure yet.
        let changes = Arc::new(Probe::trusting());
        Self {
            database: Arc::default(),
            changes,
            redis: Arc::default(),
            certificates: Arc::default(),
            has_other_key: Arc::default(),
        }
    }
}

/// `GET /health/live`: the process answers. It checks no dependency, so that an outage elsewhere does not restart it.
pub(crate) async fn live(_: NoInput) -> Result<HttpResponse, ApiError> {
    wire::ok(&Live { status: OK })
}

/// `GET /health/ready`: the API can serve. That requires a readable and writable database, and a process that is not
/// draining (D64). Redis is reported but not required: without it each node counts requests on its own (D19). So is another secrets key
/// than that of the stored certificates (D192).
pub(crate) async fn ready(
    app: web::Data<Application>,
    probes: web::Data<Probes>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let (database, changes, redis, certificates) = join4(
        database(&app, &probes),
        changes(&app, &probes),
        redis(&app, &probes),
        certificates(&app, &probes),
    )
    .await;
    let database = if database == OK { changes } else { database };
    let status = if app.lifecycle.is_draining() { DRAINING } else { database };
    answer(&Health { status, checks: Checks { database, redis, certificates } })
}

/// `GET /health/links`: visitors can be served, which requires no writes. While the database is unreachable, the node
/// serves the links that it has in memory.
pub(crate) async fn links(
    app: web::Data<Application>,
    probes: web::Data<Probes>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let database = database(&app, &probes).await;
    let status = if app.link_memory.can_serve(Instant::now()) { OK } else { database };
    answer(&Health { status, checks: Checks { database, redis: None, certificates: None } })
}

async fn database(app: &Application, probes: &Probes) -> &'static str {
    let store = Arc::clone(&app.store);
    let check = async move {
        let checked = store.check().await;
        if let Err(error) = &checked {
            tracing::warn!(%error, "the health check of database reads failed");
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
            tracing::warn!(%error, cause, "the health check of database writes failed");
        }
        checked.is_ok()
    };
    if probes.changes.is_well(check).await { OK } else { READ_ONLY }
}

async fn redis(app: &Application, probes: &Probes) -> Option<&'static str> {
    let shared = Arc::clone(app.shared_quota.as_ref()?);
    Some(word(probes.redis.is_well(async move { shared.answers().await }).await))
}

async fn certificates(app: &web::Data<Application>, probes: &Probes) -> Option<&'static str> {
    app.issuance.as_ref()?;
    let app = app.clone().into_inner();
    let has_other_key = Arc::clone(&probes.has_other_key);
    let check = async move {
        let opens = certificates::account_opens(&app).await;
        // A database that gives no answer says nothing about keys. Its own check reports that.
        if let Ok(opens) = &opens {
            has_other_key.store(*opens == Some(false), Ordering::Relaxed);
        }
        opens.is_ok()
    };
    // How it ends in time does not matter: what was found last counts.
    let _ = probes.certificates.is_well(check).await;
    Some(if probes.has_other_key.load(Ordering::Relaxed) { OTHER_SECRETS_KEY } else { OK })
}

const fn word(is_well: bool) -> &'static str {
    if is_well { OK } else { UNAVAILABLE }
}

fn answer(health: &Health) -> Result<HttpResponse, ApiError> {
    let status = if health.status == OK { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    wire::json(status, health)
}
