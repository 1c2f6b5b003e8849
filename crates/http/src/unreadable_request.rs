//! Requests that are no HTTP: what the framework says of them, and what we say instead.
//!
//! The framework refuses them before any code of ours is asked, with an empty response. It leaves no hook for
//! that, but it leaves a mark: no response of ours is an error without a body, and none holds a line break but
//! between its headers, because JSON escapes them. So its own are told apart by their bytes.

use std::ops::Range;

use actix_web::HttpResponse;
use actix_web::body::MessageBody as _;
use actix_web::http::Method;
use signpost_app::Application;
use signpost_domain::RequestId;

use crate::api_error::ApiError;
use crate::error_response;
use crate::middleware::access_log::AccessRecord;
use crate::middleware::common_headers;

const LINE_END: &[u8] = b"\r\n";
const HEAD_END: &[u8] = b"\r\n\r\n";

/// Where the status stands in `HTTP/1.1 400 Bad Request`.
const STATUS: Range<usize> = 9..12;

/// The framework's own heads have three short headers.
const LONGEST_HEAD: usize = 512;

/// A response that the framework made by itself, within bytes that are about to be sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BareResponse {
    /// Where it stands.
    pub(crate) place: Range<usize>,
    status: u16,
    /// Its `Date` header, with the line's end.
    date: Vec<u8>,
}

impl BareResponse {
    /// The refusal that the framework should have sent and did not.
    pub(crate) const fn unsaid() -> Self {
        Self { place: 0..0, status: 400, date: Vec::new() }
    }

    /// Finds the first one that does not begin before `from`.
    pub(crate) fn find(bytes: &[u8], mut from: usize) -> Option<Self> {
        const START: &[u8] = b"HTTP/1.";
        while let Some(start) = position(bytes, START, from) {
            if let Some(found) = Self::read(bytes, start) {
                return Some(found);
            }
            from = start + START.len();
        }
        None
    }

    /// Reads the head that begins at `start`. What is no error's status line is put aside after a few bytes, and no
    /// more than a short head is ever looked at: a caller may have put any number of such beginnings into a body.
    fn read(bytes: &[u8], start: usize) -> Option<Self> {
        let near = bytes.get(start..bytes.len().min(start + LONGEST_HEAD))?;
        let status = near.get(STATUS)?;
        if !matches!(status, [b'4' | b'5', b'0'..=b'9', b'0'..=b'9']) {
            return None;
        }
        let status: u16 = std::str::from_utf8(status).ok()?.parse().ok()?;
        let end = start + position(near, HEAD_END, 0)? + HEAD_END.len();
        let head = bytes.get(start..end)?;
        let lines = head.split_inclusive(|byte| *byte == b'\n').skip(1);
        let mut is_empty = false;
        let mut date = Vec::new();
        for line in lines {
            is_empty |= line == b"content-length: 0\r\n";
            if line.starts_with(b"date: ") {
                date = line.to_vec();
            }
        }
        (status >= 400 && is_empty).then_some(Self { place: start..end, status, date })
    }

    const fn meaning(&self) -> ApiError {
        ApiError::Unreadable(match self.status {
            408 => "The head of the request did not arrive in time.",
            431 => "The head of the request is larger than 128 KiB, or has more than 96 headers.",
            _ => {
                "The request is not HTTP/1.1 as RFC 9112 defines it. Its address must be ASCII, with everything else \
                 percent-encoded, and of at most 65,534 bytes; it must have one `Host` header."
            }
        })
    }

    /// The bytes to send in its place. The connection ends with them, because nobody knows where the next request
    /// would begin.
    pub(crate) fn replacement(&self, app: &Application) -> Vec<u8> {
        let request_id: RequestId = app.ids.next();
        let span = tracing::error_span!("request", %request_id);
        let _entered = span.enter();
        // Neither its method nor its path is known.
        let record = AccessRecord::begin(&Method::default(), "unreadable");
        let error = self.meaning();
        let mut response = error_response::response(&error, request_id);
        common_headers::insert(response.headers_mut(), request_id);
        record.finish(response.status(), Some(error.code()), None);
        self.serialise(response)
    }

    fn serialise(&self, response: HttpResponse) -> Vec<u8> {
        let status = response.status();
        let mut bytes = format!("HTTP/1.1 {status}\r\nconnection: close\r\n").into_bytes();
        bytes.extend_from_slice(&self.date);
        for (name, value) in response.headers() {
            bytes.extend_from_slice(name.as_str().as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value.as_bytes());
            bytes.extend_from_slice(LINE_END);
        }
        let body = response.into_body().try_into_bytes().unwrap_or_default();
        bytes.extend_from_slice(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }
}

/// Where `pattern` first stands in `bytes`, not before `from`.
fn position(bytes: &[u8], pattern: &[u8], from: usize) -> Option<usize> {
    let found = bytes.get(from..)?.windows(pattern.len()).position(|window| window == pattern)?;
    Some(from + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str =
        "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\ndate: today\r\n\r\n";

    #[test]
    fn a_response_of_the_framework_is_found_behind_others() {
        let ours = "HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\n\r\nHTTP/1.1 HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        assert_eq!(BareResponse::find(BARE.as_bytes(), 1), None);
        for before in ["", ours] {
            let found = BareResponse::find(format!("{before}{BARE}rest").as_bytes(), 0).unwrap();
            assert_eq!(found.place, before.len()..before.len() + BARE.len());
            assert_eq!((found.status, found.date.as_slice()), (400, b"date: today\r\n".as_slice()));
        }
    }

    /// A body may hold any number of beginnings of a response; none may cost more than a glance.
    #[test]
    fn a_body_full_of_beginnings_is_looked_through_once() {
        let body = "HTTP/1.1 400 ".repeat(400_000);
        let begun = std::time::Instant::now();
        assert_eq!(BareResponse::find(body.as_bytes(), 0), None);
        // The work is linear: even a slow build needs a fraction of this, and a quadratic search needs hours.
        assert!(begun.elapsed() < std::time::Duration::from_mins(1));
    }

    #[test]
    fn responses_of_ours_and_parts_of_any_are_left_alone() {
        for other in [
            "",
            "HTTP/1.",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 02\r\n\r\n{}",
            r"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 x\r\ncontent-length: 0\r\n\r\n",
        ] {
            assert_eq!(BareResponse::find(other.as_bytes(), 0), None, "{other}");
        }
    }
}
