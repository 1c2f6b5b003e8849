//! The HTTP client of `instant-acme`, for one call of the port.
//!
//! The library forgets the headers of answers and the status of those that it cannot parse. So this part turns refusals into
//! errors of its own, and notes what successful answers say.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::LOCATION;
use hyper::{Request, Response, StatusCode};
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use signpost_app::ports::Clock;
use signpost_domain::Timestamp;
use signpost_https_client::{Answer, HttpsError};

use crate::clock_comparison::ComparingClient;
use crate::failure::{BAD_NONCE, Problem};
use crate::retry_after::retry_after;

/// An answer with a status of failure.
#[derive(Debug, thiserror::Error)]
#[error("the authority answered with status {status}")]
pub(crate) struct Rejection {
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<Timestamp>,
    /// `None` if the body is not of the protocol, such as a page of a proxy.
    pub(crate) problem: Option<Problem>,
}

impl Rejection {
    /// `None` for an answer that reports success.
    pub(crate) fn of(answer: &Answer, now: Timestamp) -> Option<Self> {
        let status = answer.parts.status;
        let is_success = status.is_success();
        (!is_success).then(|| Self {
            status,
            retry_after: retry_after(&answer.parts.headers, now),
            problem: serde_json::from_slice(&answer.body).ok(),
        })
    }
}

/// What the last successful answer said beside its body.
#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<Noted>);

#[derive(Debug, Default, Clone)]
pub(crate) struct Noted {
    pub(crate) retry_after: Option<Timestamp>,
    pub(crate) location: Option<String>,
}

impl Notes {
    pub(crate) fn last(&self) -> Noted {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The client of one call.
pub(crate) struct CallTransport {
    pub(crate) https: Arc<ComparingClient>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) notes: Arc<Notes>,
}

impl HttpClient for CallTransport {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let (https, clock, notes) = (self.https.clone(), self.clock.clone(), self.notes.clone());
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let Ok(body) = body.collect().await;
            let request = Request::from_parts(parts, Full::new(body.to_bytes()));
            let answer = https.send(request).await.map_err(of_connection)?;
            let now = clock.now();
            match Rejection::of(&answer, now) {
                // The library repeats the request with a new nonce.
                Some(rejection) if is_bad_nonce(&rejection) => {}
                Some(rejection) => return Err(Error::Other(Box::new(rejection))),
                None => {
                    let location = answer.parts.headers.get(LOCATION);
                    *notes.lock() = Noted {
                        retry_after: retry_after(&answer.parts.headers, now),
                        location: location.and_then(|value| value.to_str().ok()).map(str::to_owned),
                    };
                }
            }
            let response = Response::from_parts(answer.parts, Full::new(answer.body));
            Ok(BytesResponse::from(response))
        })
    }
}

fn of_connection(error: HttpsError) -> Error {
    Error::Other(Box::new(error))
}

fn is_bad_nonce(rejection: &Rejection) -> bool {
    rejection.status == StatusCode::BAD_REQUEST
        && rejection.problem.as_ref().is_some_and(|problem| problem.kind() == BAD_NONCE)
}
