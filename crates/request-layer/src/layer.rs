//! The layer itself.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use actix_http::body::{BoxBody, MessageBody};
use actix_http::header::{CACHE_CONTROL, HeaderName, HeaderValue};
use actix_http::{ConnectionType, HttpMessage as _, Request, Response};
use actix_service::{IntoServiceFactory, Service as _, ServiceFactory, apply_fn_factory};
use futures_util::FutureExt as _;
use signpost_app::Application;
use signpost_domain::RequestId;
use signpost_listener::{AcceptedEncodings, ListenerRefusal, ListenerRefusals, NO_STORE};
use tracing::{Instrument as _, Span};

use crate::access_log::{AccessRecord, RequestMetrics, method_name};
use crate::compression::compressed;
use crate::facts::RequestFacts;
use crate::streamed_body::{panic_message, streamed_in_span};
use crate::unhandled::{ErrorAnswers, Unhandled};

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The route of requests whose path matches no pattern.
const UNMATCHED: &str = "unmatched";

/// The method and the route of requests that the listener refuses: both are unknown.
const UNREADABLE: &str = "unreadable";

/// What differs between listeners.
#[derive(Debug)]
pub struct LayerOptions {
    /// The metrics; `None` counts nothing.
    pub metrics: Option<RequestMetrics>,
    /// The routes whose lines have the level `DEBUG`. Balancers, supervisors and scrapers ask every few seconds, and their
    /// lines would hide those of callers.
    pub is_probe: fn(route: &str) -> bool,
    /// Whether texts for one caller are compressed; bodies that never change always are. The length of a compressed answer
    /// reveals secrets where browsers send credentials on their own, such as cookies (ADR 65).
    pub compresses_for_one: bool,
}

/// The layer of one listener. It also answers the requests that the listener refuses.
pub struct RequestLayer<E> {
    app: Arc<Application>,
    options: &'static LayerOptions,
    errors: E,
}

impl<E: ErrorAnswers> RequestLayer<E> {
    /// A layer with these options, which answers errors with `errors`.
    pub const fn new(app: Arc<Application>, options: &'static LayerOptions, errors: E) -> Self {
        Self { app, options, errors }
    }

    /// The service within the layer. Its handlers find the [`RequestFacts`] with [`RequestFacts::of`].
    pub fn around<I, S, B>(
        self: &Arc<Self>,
        service: I,
    ) -> impl ServiceFactory<
        Request,
        Config = S::Config,
        Response = Response<BoxBody>,
        Error = S::Error,
        InitError = S::InitError,
    > + use<E, I, S, B>
    where
        I: IntoServiceFactory<S, Request>,
        S: ServiceFactory<Request>,
        S::Response: Into<Response<B>>,
        S::Error: Display + Into<Response<BoxBody>>,
        B: MessageBody + 'static,
    {
        let layer = Arc::clone(self);
        apply_fn_factory(service, move |request: Request, service: &S::Service| {
            let facts = RequestFacts::<E::Facts>::new(layer.app.ids.next(), UNMATCHED);
            let span = span_of(facts.id);
            request.extensions_mut().insert(Rc::clone(&facts));
            let accepted = AcceptedEncodings::of(request.headers());
            let record = AccessRecord::begin(layer.options, method_name(request.method()), facts);
            // A service may do its work in the call already, so that may panic, too.
            let called = span.in_scope(|| catch_unwind(AssertUnwindSafe(|| service.call(request))));
            let layer = Arc::clone(&layer);
            let answered = async move {
                let response = layer.answered(called, record).await;
                streamed_in_span(compressed(layer.options.compresses_for_one, accepted, response))
            };
            answered.map(Ok).instrument(span)
        })
    }

    /// Waits for the service, and completes its answer.
    async fn answered<R, F, B>(
        &self,
        called: thread::Result<impl Future<Output = Result<R, F>>>,
        record: AccessRecord<E::Facts>,
    ) -> Response<BoxBody>
    where
        R: Into<Response<B>>,
        F: Display + Into<Response<BoxBody>>,
        B: MessageBody + 'static,
    {
        // A panic ends one request, not all connections of the worker. Its units of work are dropped uncommitted.
        let outcome = match called {
            Ok(running) => AssertUnwindSafe(running).catch_unwind().await,
            Err(panic) => Err(panic),
        };
        let answered = match outcome {
            Ok(Ok(response)) => Unhandled::checked(response.into().map_into_boxed_body(), None),
            Ok(Err(error)) => {
                let cause = error.to_string();
                Unhandled::checked(error.into(), Some(&cause))
            }
            Err(panic) => Err(Unhandled::failed(&format!("a panic: {}", panic_message(panic.as_ref())))),
        };
        let response = answered.unwrap_or_else(|unhandled| self.errors.answer(unhandled, &record.facts));
        self.completed(response, record)
    }

    /// Adds what every answer has, and records the request.
    fn completed(
        &self,
        mut response: Response<BoxBody>,
        record: AccessRecord<E::Facts>,
    ) -> Response<BoxBody> {
        let headers = response.headers_mut();
        // Request ids are plain ASCII, so the conversion cannot fail (D4).
        if let Ok(id) = HeaderValue::from_str(&record.facts.id.to_string()) {
            headers.insert(X_REQUEST_ID, id);
        }
        // Most answers hold for one account at one moment.
        if !headers.contains_key(CACHE_CONTROL) {
            headers.insert(CACHE_CONTROL, NO_STORE);
        }
        record.finish(response.status());
        if self.app.lifecycle.is_draining() {
            // The caller's next request then reaches another node.
            response.head_mut().set_connection_type(ConnectionType::Close);
        }
        response
    }
}

impl<E: ErrorAnswers> ListenerRefusals for RequestLayer<E> {
    fn answer(&self, refusal: ListenerRefusal) -> Response<BoxBody> {
        let facts = RequestFacts::<E::Facts>::new(self.app.ids.next(), UNREADABLE);
        let _entered = span_of(facts.id).entered();
        let record = AccessRecord::begin(self.options, UNREADABLE, facts);
        let response = self.errors.answer(Unhandled::Refused(refusal), &record.facts);
        self.completed(response, record)
    }
}

/// The span of a request's log lines (D4). At this level every filter that passes an event in the span also passes the span.
fn span_of(request_id: RequestId) -> Span {
    tracing::error_span!("request", %request_id)
}
