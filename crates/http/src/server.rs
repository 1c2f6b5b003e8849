//! The API listener, and its answers to requests that reach no handler (contract "Errors": every error response on every
//! status).

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::sync::Arc;

use actix_http::Response;
use actix_http::body::BoxBody;
use actix_service::{IntoServiceFactory as _, ServiceFactoryExt as _, map_config};
use actix_web::dev::AppConfig;
use actix_web::http::Method;
use signpost_app::Application;
use signpost_domain::RequestId;
use signpost_listener::{
    Listener, ListenerOptions, ListenerRefusal, ListenerRefusals, MAX_HEAD_BYTES, Proxies, Reply, Times,
};

use crate::api_app::{Shared, api_app_with};
use crate::api_error::ApiError;
use crate::middleware::access_log::{AccessRecord, describe_metrics};
use crate::middleware::frame::insert_common_headers;
use crate::{error_response, health};

/// Options of the listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiOptions {
    /// The number of threads that handle requests.
    pub workers: NonZeroUsize,
    /// The limit of open connections. Beyond it, only health checks are answered; everything else gets a 503.
    pub connections: usize,
}

/// A running API listener. Dropping it stops it without waiting for running requests.
#[derive(Debug)]
#[must_use = "dropping it stops the listener"]
pub struct ApiServer(Listener);

impl ApiServer {
    /// Starts the API on a listening socket. The caller's Tokio runtime accepts the connections. Signals are up to the caller.
    ///
    /// # Errors
    /// The socket cannot be used, or a thread cannot be started.
    pub fn start(listener: TcpListener, app: Arc<Application>, options: ApiOptions) -> io::Result<Self> {
        Self::start_with_times(listener, app, options, Times::default())
    }

    /// Like [`start`](Self::start), with other deadlines of connections. Tests need longer ones, because a busy machine may
    /// pause their clients.
    ///
    /// # Errors
    /// Those of [`start`](Self::start).
    pub fn start_with_times(
        listener: TcpListener,
        app: Arc<Application>,
        options: ApiOptions,
        times: Times,
    ) -> io::Result<Self> {
        let ApiOptions { workers, connections } = options;
        describe_metrics();
        let door = health::is_probe;
        let trusted = Arc::clone(&app);
        let proxies = Proxies::new(move |peer| trusted.client_addresses.trusts(peer));
        let options =
            ListenerOptions { connections, door, proxies, times, ..ListenerOptions::new("api", workers) };
        let refusals: Arc<dyn ListenerRefusals> = Arc::new(ApiRefusals { app: Arc::clone(&app) });
        let shared = Shared::default();
        let service = move || {
            let api = api_app_with(Arc::clone(&app), shared.clone()).into_factory();
            map_config(api, |()| AppConfig::default()).map(|response| {
                let response: Response<_> = response.into();
                Reply::from(response)
            })
        };
        Listener::start(listener, &options, &refusals, service).map(Self)
    }

    /// The address that the listener is bound to.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Waits until the listener ends. Without a call to [`Self::stop`], it ends only on failure.
    ///
    /// # Errors
    /// The listener failed.
    pub async fn ended(&mut self) -> io::Result<()> {
        self.0.ended().await
    }

    /// Stops accepting connections and ends. With `graceful`, running requests get up to 30 seconds to finish (D64);
    /// otherwise they are dropped.
    ///
    /// # Errors
    /// The listener had failed before.
    pub async fn stop(self, graceful: bool) -> io::Result<()> {
        self.0.stop(graceful).await
    }
}

/// Answers the requests that the listener refuses, in the envelope of errors.
struct ApiRefusals {
    app: Arc<Application>,
}

impl ListenerRefusals for ApiRefusals {
    fn answer(&self, refusal: ListenerRefusal) -> Response<BoxBody> {
        let request_id: RequestId = self.app.ids.next();
        let span = tracing::error_span!("request", %request_id);
        let _entered = span.enter();
        // Its method and its path are unknown.
        let record = AccessRecord::begin(&Method::default(), "unreadable");
        let error = error_of(refusal);
        let mut response = error_response::response(&error, request_id);
        insert_common_headers(response.headers_mut(), request_id);
        record.finish(response.status(), Some(error.code()), None);
        response.into()
    }
}

fn error_of(refusal: ListenerRefusal) -> ApiError {
    match refusal {
        ListenerRefusal::HeadTooSlow => {
            ApiError::Unreadable("The head of the request did not arrive in time.")
        }
        ListenerRefusal::HeadTooLarge => {
            const { assert!(MAX_HEAD_BYTES == 32 * 1024, "the message names a different size") };
            ApiError::Unreadable(
                "The head of the request is larger than 32 KiB, or has more than 96 headers.",
            )
        }
        ListenerRefusal::NotHttp => ApiError::Unreadable(
            "The request is not HTTP/1.1 as RFC 9112 defines it. Its address must be ASCII, with everything else \
             percent-encoded; it must have one `Host` header.",
        ),
        ListenerRefusal::Overloaded => ApiError::Overloaded,
    }
}
