//! Turns the outcome of a visit into a response.

use actix_http::body::BoxBody;
use actix_http::header::{self, HeaderValue};
use actix_http::{Response, ResponseBuilder, StatusCode};
use signpost_pages::{Language, SmallPage};

use crate::files::File;
use crate::gates::TurnedAway;
use crate::outcome::Outcome;
use crate::pages::{Forms, Page, Pages};

/// No cache stores the answer, so a change of a link takes effect at once (D53, D58).
const NO_STORE: HeaderValue = HeaderValue::from_static("private, no-store");

/// The header lines of a redirect other than its location.
pub(crate) const REDIRECT_HEADERS: &str = "cache-control: private, no-store\r\n";

/// Files do not change while they exist, so caches may keep them for an hour.
const CACHED_FOR_AN_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");

/// An SVG image opened on its own runs and loads nothing.
const LOAD_NOTHING: HeaderValue = HeaderValue::from_static("default-src 'none'");

/// The methods of the link listener (D53), for `Allow`.
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD");

/// `Retry-After` during an outage of the store.
const OUTAGE_RETRY_AFTER_SECONDS: u32 = 5;

/// Builds the response to a visit. It calls `language` only for translated pages.
pub(crate) fn response(
    pages: &Pages,
    outcome: Outcome,
    language: impl FnOnce() -> Language,
) -> Response<BoxBody> {
    let small = |page| pages.page(page, language());
    match outcome {
        Outcome::Redirected(location) => redirect_response(location),
        Outcome::RedirectedDirectly(redirect) => match HeaderValue::from_str(&redirect.location()) {
            Ok(location) => redirect_response(location),
            Err(_) => page_response(small(SmallPage::Failed), &mut |_| {}),
        },
        Outcome::Shown(page) | Outcome::Pixels(page) => page_response(&page, &mut |_| {}),
        Outcome::Root => page_response(small(SmallPage::Root), &mut |_| {}),
        Outcome::TurnedAway(TurnedAway::Bot { .. }) => {
            page_response(small(SmallPage::ForPeopleOnly), &mut |_| {})
        }
        Outcome::TurnedAway(TurnedAway::Country { .. }) => {
            page_response(small(SmallPage::CountryBlocked), &mut |_| {})
        }
        Outcome::NotFound => page_response(small(SmallPage::NotFound), &mut |_| {}),
        Outcome::MethodNotAllowed => page_response(small(SmallPage::MethodNotAllowed), &mut |answer| {
            answer.insert_header((header::ALLOW, ALLOWED_METHODS));
        }),
        Outcome::Throttled { retry_after_seconds } => {
            page_response(small(SmallPage::Throttled), &mut |answer| {
                answer.insert_header((header::RETRY_AFTER, retry_after_seconds));
            })
        }
        Outcome::Unavailable => page_response(small(SmallPage::Unavailable), &mut |answer| {
            answer.insert_header((header::RETRY_AFTER, OUTAGE_RETRY_AFTER_SECONDS));
        }),
        Outcome::Failed => page_response(small(SmallPage::Failed), &mut |_| {}),
        Outcome::File { file, is_known } => file_response(file, is_known),
        Outcome::BadRequest(error) => Response::build(StatusCode::BAD_REQUEST)
            .insert_header((header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")))
            .insert_header((header::CACHE_CONTROL, NO_STORE))
            .body(format!("{error}\n"))
            .map_into_boxed_body(),
    }
}

fn page_response(page: &Page, also: &mut dyn FnMut(&mut ResponseBuilder)) -> Response<BoxBody> {
    let mut answer = Response::build(page.status);
    answer
        .insert_header((header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")))
        .insert_header((header::CONTENT_SECURITY_POLICY, page.content_security_policy.clone()))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")))
        .insert_header((header::REFERRER_POLICY, HeaderValue::from_static(page.referrer_policy)))
        .insert_header((header::CACHE_CONTROL, NO_STORE));
    if let Forms::Negotiated(encoding) = page.forms {
        answer.insert_header((header::VARY, HeaderValue::from_static("accept-encoding")));
        if let Some(encoding) = encoding {
            answer.insert_header((header::CONTENT_ENCODING, encoding.header()));
        }
    }
    also(&mut answer);
    answer.body(page.html.clone()).map_into_boxed_body()
}

fn file_response(file: File, is_known: bool) -> Response<BoxBody> {
    let File { content, content_type, etag, disposition } = file;
    let mut answer = Response::build(if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK });
    answer.insert_header((header::ETAG, etag)).insert_header((header::CACHE_CONTROL, CACHED_FOR_AN_HOUR));
    if is_known {
        return answer.body(BoxBody::new(())).map_into_boxed_body();
    }
    answer
        .insert_header((header::CONTENT_TYPE, HeaderValue::from_static(content_type)))
        .insert_header((header::CONTENT_SECURITY_POLICY, LOAD_NOTHING))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")));
    if let Some(disposition) = disposition {
        answer.insert_header((header::CONTENT_DISPOSITION, disposition));
    }
    answer.body(content).map_into_boxed_body()
}

fn redirect_response(location: HeaderValue) -> Response<BoxBody> {
    Response::build(StatusCode::FOUND)
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, NO_STORE))
        .body(BoxBody::new(()))
        .map_into_boxed_body()
}
