//! Sends answers, in the form that the request asks for.

use std::future::poll_fn;
use std::pin::{Pin, pin};

use actix_http::body::{BodySize, MessageBody};
use actix_http::{ConnectionType, Method, Request, Response, Version};

use crate::connection::End;
use crate::wire::{ANSWER_BYTES, Wire};

/// What the request says about the form of its answer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AnswerForm {
    /// The answer has no body.
    pub(crate) is_to_head: bool,
    /// The client knows no chunks (RFC 9112, section 6.1).
    pub(crate) is_http_1_0: bool,
}

impl AnswerForm {
    pub(crate) fn of(request: &Request) -> Self {
        Self {
            is_to_head: *request.method() == Method::HEAD,
            is_http_1_0: request.version() < Version::HTTP_11,
        }
    }
}

/// Sends an answer. A short one may wait to be written with the next.
pub(crate) async fn answer<B: MessageBody>(
    wire: &Wire,
    response: Response<B>,
    closes: bool,
    form: AnswerForm,
) -> Result<(), End> {
    let (mut head, body) = response.into_parts();
    let size = body.size();
    // Without chunks, only the end of the connection ends a body of unknown size.
    let ends_by_closing = form.is_http_1_0 && size == BodySize::Stream;
    if closes || ends_by_closing {
        head.head_mut().set_connection_type(ConnectionType::Close);
    }
    head.head_mut().no_chunking(ends_by_closing);
    wire.encode_head(head, size)?;
    // Making a body may cost more than sending it, so it is not asked for one that is not sent.
    if !form.is_to_head && !matches!(size, BodySize::None | BodySize::Sized(0)) {
        if ends_by_closing {
            // A reset is the only sign that the body is incomplete, also if this future is dropped.
            wire.discard_output();
        }
        send_body(wire, pin!(body)).await?;
        if ends_by_closing {
            wire.flush().await?;
            wire.keep_output();
        }
    }
    if wire.unwritten_bytes() >= ANSWER_BYTES {
        wire.flush().await?;
    }
    Ok(())
}

async fn send_body<B: MessageBody>(wire: &Wire, mut body: Pin<&mut B>) -> Result<(), End> {
    loop {
        let next = poll_fn(|cx| {
            let polled = body.as_mut().poll_next(cx);
            if polled.is_pending() {
                wire.write_available(cx);
            }
            polled
        });
        match next.await {
            Some(Ok(mut rest)) => {
                while !rest.is_empty() {
                    let part = rest.split_to(rest.len().min(ANSWER_BYTES));
                    wire.encode_body(Some(part))?;
                    if wire.unwritten_bytes() >= ANSWER_BYTES {
                        wire.flush().await?;
                    }
                }
            }
            Some(Err(error)) => {
                let error: Box<dyn std::error::Error> = error.into();
                tracing::error!(%error, "the body of an answer ended early");
                // Omits the final chunk, so the client sees that the body is incomplete.
                return Err(End::Closed);
            }
            None => return Ok(wire.encode_body(None)?),
        }
    }
}
