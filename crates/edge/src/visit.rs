//! One visit, from the request to the answer.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use actix_web::http::header::HeaderValue;
use actix_web::http::{ConnectionType, Method};
use actix_web::{HttpRequest, HttpResponse, web};
use futures_util::FutureExt;
use signpost_app::Application;
use signpost_app::admission::address_throttle::{AddressThrottle, Throttled};
use signpost_app::visits::{Resolution, resolve};

use crate::outage_log::OutageLog;
use crate::outcome::Outcome;
use crate::pages::{self, Pages};
use crate::response::response;
use crate::routes::{self, Found, Resource};
use crate::visitor;

/// Counts visits by `outcome`.
pub(crate) const VISITS_METRIC: &str = "signpost_visits_total";

/// What all visits share.
pub(crate) struct Edge {
    pub(crate) app: Arc<Application>,
    pub(crate) pages: Arc<Pages>,
    /// Counts the misses of each address (D54).
    pub(crate) misses: AddressThrottle,
    pub(crate) outages: OutageLog,
}

/// Answers one visit, whatever happens in it.
pub(crate) async fn answer(edge: web::Data<Edge>, request: HttpRequest) -> HttpResponse {
    // A panic would close the connection without an answer. Nothing that a visit touches is left half changed by
    // one: the throttle and the log recover their locks, and the store's reads change nothing.
    let outcome = AssertUnwindSafe(edge.outcome(&request)).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!("a visit ended in a panic");
        Outcome::Failed
    });
    let label = outcome.label();
    metrics::counter!(VISITS_METRIC, "outcome" => label).increment(1);
    tracing::debug!(outcome = label, "visit");
    let mut response = response(&edge.pages, outcome);
    if edge.app.lifecycle.is_draining() {
        // So that visitors' next requests go to a node that stays.
        response.head_mut().set_connection_type(ConnectionType::Close);
    }
    response
}

impl Edge {
    async fn outcome(&self, request: &HttpRequest) -> Outcome {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Outcome::MethodNotAllowed;
        }
        let now = self.app.clock.now();
        let address = visitor::address(request, &self.app.client_addresses, now);
        if let Some(throttled) = self.misses.exhausted(address, now) {
            return turned_away(throttled);
        }
        let outcome = self.look_up(request).await;
        if outcome == Outcome::NotFound
            && !routes::is_asked_for_by_browsers(request.uri().path())
            // Counting decides, so that of many at once exactly the allowed number get an answer.
            && let Some(throttled) = self.misses.count(address, self.app.clock.now())
        {
            return turned_away(throttled);
        }
        outcome
    }

    async fn look_up(&self, request: &HttpRequest) -> Outcome {
        let (Some(hostname), Some(found)) = (visitor::hostname(request), routes::find(request.uri().path()))
        else {
            return Outcome::NotFound;
        };
        let Found { resource: Resource::Link, slug } = found;
        match resolve(&self.app, &hostname, slug).await {
            Ok(Resolution::Redirect(target)) => redirected_to(&target.location()),
            Ok(Resolution::LandingElsewhere { url }) => redirected_to(&url),
            Ok(Resolution::Landing { title }) => match pages::landing(&title) {
                Ok(html) => Outcome::Shown(html),
                Err(error) => {
                    tracing::error!(%error, "a landing page cannot be rendered");
                    Outcome::Failed
                }
            },
            Ok(Resolution::NotThere) => Outcome::NotFound,
            Err(error) => {
                self.outages.note(&error);
                Outcome::Unavailable
            }
        }
    }
}

/// The log does not name the address: it is a visitor's.
fn turned_away(Throttled { retry_after_seconds, is_first }: Throttled) -> Outcome {
    if is_first {
        tracing::warn!(
            retry_after_seconds,
            "an address has opened as many links that do not exist as `miss-throttle-per-minute` allows; it gets 429 until the minute ends"
        );
    }
    Outcome::Throttled { retry_after_seconds }
}

fn redirected_to(location: &str) -> Outcome {
    HeaderValue::from_str(location).map_or_else(
        |_| {
            tracing::error!("a target does not fit a header");
            Outcome::Failed
        },
        Outcome::Redirected,
    )
}
