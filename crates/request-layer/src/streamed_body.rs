//! Bodies that are still made when the head is sent.

use std::any::Any;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_http::Response;
use actix_http::body::{BodySize, BoxBody, MessageBody};
use bytes::Bytes;
use tracing::Span;

/// A streamed body. Log lines of making it belong to the request (D4), and a panic ends it as an error does: the client sees
/// that it is incomplete.
struct StreamedBody {
    body: BoxBody,
    span: Span,
}

/// The response, whose body is made in the current span if it is streamed.
pub(crate) fn streamed_in_span(response: Response<BoxBody>) -> Response<BoxBody> {
    if response.body().size() != BodySize::Stream {
        return response;
    }
    let span = Span::current();
    response.map_body(|_, body| BoxBody::new(StreamedBody { body, span }))
}

impl MessageBody for StreamedBody {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let Self { body, span } = &mut *self;
        let _entered = span.enter();
        let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(body).poll_next(context)));
        polled.unwrap_or_else(|panic| {
            let cause = format!("a panic: {}", panic_message(panic.as_ref()));
            tracing::error!(cause, "an answer was aborted");
            Poll::Ready(Some(Err("making the body panicked".into())))
        })
    }
}

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}
