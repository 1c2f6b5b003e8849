//! From the outcome of a visit to the answer.

use actix_http::body::BoxBody;
use actix_http::header::{self, HeaderValue};
use actix_http::{Response, ResponseBuilder, StatusCode};

use crate::outcome::Outcome;
use crate::pages::{Page, Pages};

/// Nothing of an answer is kept by anybody, so that a change of a link holds at once (D53, D58).
const NOT_STORED: HeaderValue = HeaderValue::from_static("private, no-store");

/// The header lines of a redirect beside its location.
pub(crate) const REDIRECT_HEADERS: &str = "cache-control: private, no-store\r\n";

/// The methods of the link listener (D53), as `Allow` lists them.
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD");

/// Seconds after which it is worth asking again while the store is away.
const OUTAGE_RETRY_AFTER_SECONDS: u32 = 5;

/// The answer to a visit.
pub(crate) fn response(pages: &Pages, outcome: Outcome) -> Response<BoxBody> {
    match outcome {
        Outcome::Redirected(location) => Response::build(StatusCode::FOUND)
            .insert_header((header::LOCATION, location))
            .insert_header((header::CACHE_CONTROL, NOT_STORED))
            .body(BoxBody::new(()))
            .map_into_boxed_body(),
        Outcome::RedirectedAtOnce(redirect) => match HeaderValue::from_str(&redirect.location()) {
            Ok(location) => response(pages, Outcome::Redirected(location)),
            Err(_) => response(pages, Outcome::Failed),
        },
        Outcome::Shown(html) => show(pages, &Page { status: StatusCode::OK, html }, &mut |_| {}),
        Outcome::TurnedAway(_) => show(pages, &pages.turned_away, &mut |_| {}),
        Outcome::NotFound => show(pages, &pages.not_found, &mut |_| {}),
        Outcome::MethodNotAllowed => show(pages, &pages.method_not_allowed, &mut |answer| {
            answer.insert_header((header::ALLOW, ALLOWED_METHODS));
        }),
        Outcome::Throttled { retry_after_seconds } => show(pages, &pages.throttled, &mut |answer| {
            answer.insert_header((header::RETRY_AFTER, retry_after_seconds));
        }),
        Outcome::Unavailable => show(pages, &pages.unavailable, &mut |answer| {
            answer.insert_header((header::RETRY_AFTER, OUTAGE_RETRY_AFTER_SECONDS));
        }),
        Outcome::Failed => show(pages, &pages.failed, &mut |_| {}),
    }
}

fn show(pages: &Pages, page: &Page, also: &mut dyn FnMut(&mut ResponseBuilder)) -> Response<BoxBody> {
    let mut answer = Response::build(page.status);
    answer
        .insert_header((header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")))
        .insert_header((header::CONTENT_SECURITY_POLICY, pages.content_security_policy.clone()))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")))
        .insert_header((header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")))
        .insert_header((header::CACHE_CONTROL, NOT_STORED));
    also(&mut answer);
    answer.body(page.html.clone()).map_into_boxed_body()
}
