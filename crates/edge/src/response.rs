//! From the outcome of a visit to the answer.

use actix_http::body::BoxBody;
use actix_http::header::{self, HeaderValue};
use actix_http::{Response, ResponseBuilder, StatusCode};
use signpost_pages::{Language, SmallPage};

use crate::files::File;
use crate::gates::TurnedAway;
use crate::outcome::Outcome;
use crate::pages::{Page, Pages};

/// Nothing of an answer is kept by anybody, so that a change of a link holds at once (D53, D58).
const NOT_STORED: HeaderValue = HeaderValue::from_static("private, no-store");

/// The header lines of a redirect beside its location.
pub(crate) const REDIRECT_HEADERS: &str = "cache-control: private, no-store\r\n";

/// Files may be kept for an hour: they say the same as long as they are there.
const KEPT_FOR_AN_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");

/// An SVG image that is opened by itself runs and loads nothing.
const NOTHING_LET_IN: HeaderValue = HeaderValue::from_static("default-src 'none'");

/// The methods of the link listener (D53), as `Allow` lists them.
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD");

/// Seconds after which it is worth asking again while the store is away.
const OUTAGE_RETRY_AFTER_SECONDS: u32 = 5;

/// The answer to a visit. `language` is asked for the pages that have several.
pub(crate) fn response(
    pages: &Pages,
    outcome: Outcome,
    language: impl FnOnce() -> Language,
) -> Response<BoxBody> {
    let small = |page| pages.page(page, language());
    match outcome {
        Outcome::Redirected(location) => redirected(location),
        Outcome::RedirectedAtOnce(redirect) => match HeaderValue::from_str(&redirect.location()) {
            Ok(location) => redirected(location),
            Err(_) => show(small(SmallPage::Failed), &mut |_| {}),
        },
        Outcome::Shown(page) | Outcome::Pixels(page) => show(&page, &mut |_| {}),
        Outcome::Root => show(small(SmallPage::Root), &mut |_| {}),
        Outcome::TurnedAway(TurnedAway::Bot { .. }) => show(small(SmallPage::ForPeopleOnly), &mut |_| {}),
        Outcome::TurnedAway(TurnedAway::Country { .. }) => {
            show(small(SmallPage::CountryBlocked), &mut |_| {})
        }
        Outcome::NotFound => show(small(SmallPage::NotFound), &mut |_| {}),
        Outcome::MethodNotAllowed => show(small(SmallPage::MethodNotAllowed), &mut |answer| {
            answer.insert_header((header::ALLOW, ALLOWED_METHODS));
        }),
        Outcome::Throttled { retry_after_seconds } => show(small(SmallPage::Throttled), &mut |answer| {
            answer.insert_header((header::RETRY_AFTER, retry_after_seconds));
        }),
        Outcome::Unavailable => show(small(SmallPage::Unavailable), &mut |answer| {
            answer.insert_header((header::RETRY_AFTER, OUTAGE_RETRY_AFTER_SECONDS));
        }),
        Outcome::Failed => show(small(SmallPage::Failed), &mut |_| {}),
        Outcome::File { file, is_known } => give(file, is_known),
        Outcome::BadRequest(error) => Response::build(StatusCode::BAD_REQUEST)
            .insert_header((header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")))
            .insert_header((header::CACHE_CONTROL, NOT_STORED))
            .body(format!("{error}\n"))
            .map_into_boxed_body(),
    }
}

fn show(page: &Page, also: &mut dyn FnMut(&mut ResponseBuilder)) -> Response<BoxBody> {
    let mut answer = Response::build(page.status);
    answer
        .insert_header((header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")))
        .insert_header((header::CONTENT_SECURITY_POLICY, page.content_security_policy.clone()))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")))
        .insert_header((header::REFERRER_POLICY, HeaderValue::from_static(page.referrer_policy)))
        .insert_header((header::CACHE_CONTROL, NOT_STORED));
    also(&mut answer);
    answer.body(page.html.clone()).map_into_boxed_body()
}

fn give(File { content, content_type, etag }: File, is_known: bool) -> Response<BoxBody> {
    let mut answer = Response::build(if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK });
    answer.insert_header((header::ETAG, etag)).insert_header((header::CACHE_CONTROL, KEPT_FOR_AN_HOUR));
    if is_known {
        return answer.body(BoxBody::new(())).map_into_boxed_body();
    }
    answer
        .insert_header((header::CONTENT_TYPE, HeaderValue::from_static(content_type)))
        .insert_header((header::CONTENT_SECURITY_POLICY, NOTHING_LET_IN))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")));
    answer.body(content).map_into_boxed_body()
}

fn redirected(location: HeaderValue) -> Response<BoxBody> {
    Response::build(StatusCode::FOUND)
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, NOT_STORED))
        .body(BoxBody::new(()))
        .map_into_boxed_body()
}
