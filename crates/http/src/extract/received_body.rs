//! Receiving a body: how large, how long, announced as what (D10).

use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use actix_web::rt::time::timeout;
use futures_util::StreamExt as _;

use super::content_type;
use crate::api_error::ApiError;

/// The largest body that is accepted (D10).
const MOST_BYTES: usize = 1024 * 1024;

/// How long a body may take to arrive.
const TIME: Duration = Duration::from_secs(10);

/// How much more of a body that is too large is read and thrown away before it is refused. A client that is still
/// sending when the connection closes sees a reset and not the answer, so most are let finish.
const MOST_DRAINED_BYTES: usize = 8 * 1024 * 1024;

/// How long that may take.
const DRAINING_TIME: Duration = Duration::from_secs(3);

/// Why the bytes of a body are not all there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Incomplete {
    /// They did not arrive in time.
    Late,
    /// The connection or its encoding broke.
    Broken,
}

/// Whether the request announces a body.
pub(crate) fn is_announced(request: &HttpRequest) -> bool {
    request.headers().contains_key(TRANSFER_ENCODING)
        || announced_length(request).is_some_and(|bytes| bytes > 0)
}

fn announced_length(request: &HttpRequest) -> Option<u64> {
    request.headers().get(CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

/// Receives the body, after it was checked for what its headers announce: first its type, then its size (D7).
///
/// The outer error refuses the request as a whole; the inner one is a violation of its body.
pub(crate) async fn receive(
    request: HttpRequest,
    mut payload: Payload,
) -> Result<Result<Vec<u8>, Incomplete>, ApiError> {
    content_type::check(request.headers(), is_announced(&request)).map_err(ApiError::UnsupportedMediaType)?;
    let too_large =
        usize::try_from(announced_length(&request).unwrap_or(0)).map_or(true, |length| length > MOST_BYTES);
    let received = if too_large {
        Err(Interruption::TooLarge)
    } else {
        timeout(TIME, collect(&mut payload)).await.unwrap_or(Err(Interruption::Incomplete(Incomplete::Late)))
    };
    match received {
        Ok(bytes) => Ok(Ok(bytes)),
        Err(Interruption::Incomplete(reason)) => Ok(Err(reason)),
        Err(Interruption::TooLarge) => {
            // Whether all of it was drained in time makes no difference to the answer.
            let _ = timeout(DRAINING_TIME, drain(&mut payload)).await;
            Err(ApiError::PayloadTooLarge)
        }
    }
}

enum Interruption {
    TooLarge,
    Incomplete(Incomplete),
}

async fn collect(payload: &mut Payload) -> Result<Vec<u8>, Interruption> {
    let mut bytes = Vec::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| Interruption::Incomplete(Incomplete::Broken))?;
        if bytes.len() + chunk.len() > MOST_BYTES {
            return Err(Interruption::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

async fn drain(payload: &mut Payload) {
    let mut drained = 0;
    while drained < MOST_DRAINED_BYTES
        && let Some(Ok(chunk)) = payload.next().await
    {
        drained += chunk.len();
    }
}
