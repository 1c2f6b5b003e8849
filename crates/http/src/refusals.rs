//! What the API says to requests that never reach it (contract "Errors": every error response on every status).

use std::sync::Arc;

use actix_http::Response;
use actix_http::body::BoxBody;
use actix_web::http::Method;
use signpost_app::Application;
use signpost_domain::RequestId;
use signpost_listener::{MAX_HEAD_BYTES, Refusal, Refusals};

use crate::api_error::ApiError;
use crate::error_response;
use crate::middleware::access_log::AccessRecord;
use crate::middleware::common_headers;

/// Answers in the contract's envelope.
pub(crate) struct ApiRefusals {
    app: Arc<Application>,
}

impl ApiRefusals {
    pub(crate) const fn new(app: Arc<Application>) -> Self {
        Self { app }
    }
}

impl Refusals for ApiRefusals {
    fn answer(&self, refusal: Refusal) -> Response<BoxBody> {
        let request_id: RequestId = self.app.ids.next();
        let span = tracing::error_span!("request", %request_id);
        let _entered = span.enter();
        // Neither its method nor its path is known.
        let record = AccessRecord::begin(&Method::default(), "unreadable");
        let error = meaning(refusal);
        let mut response = error_response::response(&error, request_id);
        common_headers::insert(response.headers_mut(), request_id);
        record.finish(response.status(), Some(error.code()), None);
        response.into()
    }
}

fn meaning(refusal: Refusal) -> ApiError {
    match refusal {
        Refusal::HeadTooSlow => ApiError::Unreadable("The head of the request did not arrive in time."),
        Refusal::HeadTooLarge => {
            const { assert!(MAX_HEAD_BYTES == 32 * 1024, "the message names another size") };
            ApiError::Unreadable(
                "The head of the request is larger than 32 KiB, or has more than 96 headers.",
            )
        }
        Refusal::NotHttp => ApiError::Unreadable(
            "The request is not HTTP/1.1 as RFC 9112 defines it. Its address must be ASCII, with everything else \
             percent-encoded; it must have one `Host` header.",
        ),
        Refusal::Overloaded => ApiError::Overloaded,
    }
}
