//! Compression of the answers' bodies (ADR 65).

use std::io::{self, Write as _};
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, ready};

use actix_http::Response;
use actix_http::body::{BodySize, BoxBody, MessageBody};
use actix_http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, VARY};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use signpost_listener::{AcceptedEncodings, Effort, Encoding, LEAST_BYTES};

/// The compressed forms of a body that never changes. The body is compressed when a client first accepts the form, and
/// every later answer shares the result.
#[derive(Debug, Default)]
pub struct KeptForms {
    brotli: OnceLock<Option<Bytes>>,
    gzip: OnceLock<Option<Bytes>>,
}

impl KeptForms {
    /// No form yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { brotli: OnceLock::new(), gzip: OnceLock::new() }
    }

    fn form(&self, encoding: Encoding, body: &[u8]) -> Option<Bytes> {
        let form = match encoding {
            Encoding::Brotli => &self.brotli,
            Encoding::Gzip => &self.gzip,
        };
        form.get_or_init(|| encoding.compress(body, Effort::Kept).map(Bytes::from)).clone()
    }
}

/// Tells the layer that the body of this response never changes: an extension of the response.
#[derive(Debug, Clone, Copy)]
pub struct KeptBody(pub &'static KeptForms);

/// The response with its body in the best form that the client accepts. Texts of more than [`LEAST_BYTES`] and streams are
/// compressed, or without `of_one_caller` only bodies that never change. Everything else stays.
pub(crate) fn compressed(
    of_one_caller: bool,
    accepted: AcceptedEncodings,
    mut response: Response<BoxBody>,
) -> Response<BoxBody> {
    let kept = response.extensions().get::<KeptBody>().copied();
    let is_worth_it = match response.body().size() {
        BodySize::Sized(length) => usize::try_from(length).is_ok_and(|length| length > LEAST_BYTES),
        BodySize::Stream => true,
        BodySize::None => false,
    };
    let may_be = of_one_caller || kept.is_some();
    if !may_be
        || !is_worth_it
        || !is_text(response.headers())
        || response.headers().contains_key(CONTENT_ENCODING)
    {
        return response;
    }
    // Also where this client gets the plain form: caches must not give the other one to a client that cannot read it.
    response.headers_mut().append(VARY, HeaderValue::from_static("accept-encoding"));
    let effort = if kept.is_some() { Effort::Kept } else { Effort::Once };
    let Some(encoding) = accepted.best(effort) else { return response };
    let (mut response, body) = response.into_parts();
    let (body, encoding) = match body.try_into_bytes() {
        Ok(plain) => {
            let form = match kept {
                Some(KeptBody(forms)) => forms.form(encoding, &plain),
                None => encoding.compress(&plain, effort).map(Bytes::from),
            };
            match form {
                Some(form) => (BoxBody::new(form), Some(encoding)),
                None => (BoxBody::new(plain), None),
            }
        }
        // Parts of a stream leave as they come.
        Err(stream) => match encoding {
            Encoding::Gzip => (BoxBody::new(GzipStream::of(stream)), Some(encoding)),
            Encoding::Brotli => (stream, None),
        },
    };
    if let Some(encoding) = encoding {
        response.headers_mut().insert(CONTENT_ENCODING, encoding.header());
    }
    response.set_body(body)
}

fn is_text(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.starts_with("text/")
        || content_type.starts_with("application/json")
        || content_type.starts_with("application/x-ndjson")
}

/// A stream in the form of gzip. It holds one part of the stream at a time. A stream that fails has no end in this form
/// either, so the client notices.
struct GzipStream {
    plain: BoxBody,
    /// `None` after the end.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl GzipStream {
    fn of(plain: BoxBody) -> Self {
        Self { plain, encoder: Some(GzEncoder::new(Vec::new(), Compression::new(3))) }
    }
}

impl MessageBody for GzipStream {
    type Error = Box<dyn std::error::Error>;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let Self { plain, encoder: open } = self.get_mut();
        loop {
            let Some(encoder) = open else { return Poll::Ready(None) };
            let written: io::Result<Vec<u8>> = match ready!(Pin::new(&mut *plain).poll_next(cx)) {
                Some(Ok(part)) => encoder.write_all(&part).map(|()| std::mem::take(encoder.get_mut())),
                Some(Err(error)) => {
                    *open = None;
                    return Poll::Ready(Some(Err(error)));
                }
                None => open.take().map_or_else(|| Ok(Vec::new()), GzEncoder::finish),
            };
            match written {
                // The encoder waits for more.
                Ok(output) if output.is_empty() => {}
                Ok(output) => return Poll::Ready(Some(Ok(Bytes::from(output)))),
                Err(error) => return Poll::Ready(Some(Err(error.into()))),
            }
        }
    }
}
