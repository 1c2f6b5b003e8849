//! Receiving a body within the limits of size, time and type (D10).

use std::io;

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use futures_util::StreamExt as _;

use super::content_type;
use crate::api_error::ApiError;

/// The size limit of a body (D10).
const MOST_BYTES: usize = 1024 * 1024;

/// Why a body did not arrive in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Incomplete {
    /// It exceeded the listener's timeout for bodies.
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

/// Receives the body. First checks the announced type, then the announced size (D7).
///
/// The outer error refuses the request as a whole; the inner one is a violation of its body. A body beyond the limit is
/// refused at once; the connection discards the rest of it after the response.
pub(crate) async fn receive(
    request: HttpRequest,
    mut payload: Payload,
) -> Result<Result<Vec<u8>, Incomplete>, ApiError> {
    content_type::check(request.headers(), is_announced(&request)).map_err(ApiError::UnsupportedMediaType)?;
    let too_large =
        usize::try_from(announced_length(&request).unwrap_or(0)).map_or(true, |length| length > MOST_BYTES);
    if too_large {
        return Err(ApiError::PayloadTooLarge);
    }
    match collect(&mut payload).await {
        Ok(bytes) => Ok(Ok(bytes)),
        Err(Interruption::Incomplete(reason)) => Ok(Err(reason)),
        Err(Interruption::TooLarge) => Err(ApiError::PayloadTooLarge),
    }
}

enum Interruption {
    TooLarge,
    Incomplete(Incomplete),
}

async fn collect(payload: &mut Payload) -> Result<Vec<u8>, Interruption> {
    let mut bytes = Vec::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| Interruption::Incomplete(reason(&error)))?;
        if bytes.len() + chunk.len() > MOST_BYTES {
            return Err(Interruption::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn reason(error: &PayloadError) -> Incomplete {
    match error {
        PayloadError::Io(error) if error.kind() == io::ErrorKind::TimedOut => Incomplete::Late,
        _ => Incomplete::Broken,
    }
}

#[cfg(test)]
mod tests {
    use actix_http::h1;
    use actix_web::test::TestRequest;
    use actix_web::web::Bytes;
    use futures_util::future::poll_immediate;

    use super::*;

    /// The outcome for a chunked body that has sent so many bytes and has not ended.
    async fn received(bytes: usize) -> Option<Result<Result<Vec<u8>, Incomplete>, ApiError>> {
        let request = TestRequest::post()
            .insert_header((TRANSFER_ENCODING, "chunked"))
            .insert_header(("content-type", "application/json"))
            .to_http_request();
        let (mut sender, payload) = h1::Payload::create(false);
        sender.feed_data(Bytes::from(vec![b' '; bytes]));
        poll_immediate(receive(request, Payload::from(payload))).await
    }

    #[actix_web::test]
    async fn d10_a_body_is_refused_as_soon_as_it_exceeds_the_limit() {
        assert!(received(MOST_BYTES).await.is_none(), "the next chunk may complete it");
        let refused = received(MOST_BYTES + 1).await;
        assert!(matches!(refused, Some(Err(ApiError::PayloadTooLarge))), "it must not wait for the end");
    }
}
