//! Turns the outcome of a visit into a response.

use actix_http::body::BoxBody;
use actix_http::header::{self, HeaderName, HeaderValue};
use actix_http::{Response, StatusCode};
use signpost_domain::RedirectStatus;
use signpost_listener::{AnswerKind, PRIVATE_FOR_90_SECONDS, PRIVATE_NO_STORE};
use signpost_pages::{Language, SmallPage};

use crate::files::File;
use crate::gates::TurnedAway;
use crate::outcome::Outcome;
use crate::pages::{Forms, Page, Pages};

/// The methods of the link listener (D53), for `Allow`.
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD");

/// `Retry-After` during an outage of the store.
const OUTAGE_RETRY_AFTER_SECONDS: u32 = 5;

/// `Cache-Control` of redirects to HTTPS. A certificate may be removed again, so they are not kept for long.
const MOVED_FOR_FIVE_MINUTES: HeaderValue = HeaderValue::from_static("max-age=300");

/// The answer to API requests without TLS. A proxy may have ended TLS, so it does not claim that the key travelled unencrypted.
const API_WITHOUT_TLS: &str = "The API answers only over HTTPS. If this request had a key and went to an http:// address, the \
                               key travelled unencrypted: revoke it, and use https:// with a new one. If it went to an \
                               https:// address, the proxy there must pass this host to the listener of the API.\n";

/// Builds the response to a visit. It calls `language` only for translated pages.
pub(crate) fn response(
    pages: &Pages,
    outcome: Outcome,
    language: impl FnOnce() -> Language,
) -> Response<BoxBody> {
    let small = |page| pages.page(page, language());
    match outcome {
        Outcome::Redirected(status, location) => redirect_response(status, location),
        Outcome::Missed(location) | Outcome::ExpiredTo(location) => {
            redirect_response(RedirectStatus::Found, location)
        }
        Outcome::RedirectedDirectly(status, redirect) => match HeaderValue::from_str(&redirect.location()) {
            Ok(location) => redirect_response(status, location),
            Err(_) => page_response(small(SmallPage::Failed), None),
        },
        Outcome::Shown(page) | Outcome::Pixels(page) => page_response(&page, None),
        Outcome::Root => page_response(small(SmallPage::Root), None),
        Outcome::TurnedAway(TurnedAway::Bot { .. }) => page_response(small(SmallPage::ForPeopleOnly), None),
        Outcome::TurnedAway(TurnedAway::Country { .. }) => {
            page_response(small(SmallPage::CountryBlocked), None)
        }
        Outcome::NotFound => page_response(small(SmallPage::NotFound), None),
        Outcome::Expired => page_response(small(SmallPage::Expired), None),
        // Without `Retry-After`: programs need not come again.
        Outcome::Withheld => page_response(small(SmallPage::Unavailable), None),
        Outcome::WithheldFromHead => Response::build(StatusCode::OK)
            .insert_header((header::CACHE_CONTROL, PRIVATE_NO_STORE))
            .body(BoxBody::new(()))
            .map_into_boxed_body(),
        Outcome::MovedToHttps(location) => Response::build(StatusCode::PERMANENT_REDIRECT)
            .insert_header((header::LOCATION, location))
            .insert_header((header::CACHE_CONTROL, MOVED_FOR_FIVE_MINUTES))
            .body(BoxBody::new(()))
            .map_into_boxed_body(),
        Outcome::Challenge(answer) => text_response(StatusCode::OK, answer),
        Outcome::ApiWithoutTls => text_response(StatusCode::FORBIDDEN, API_WITHOUT_TLS.to_owned()),
        Outcome::MethodNotAllowed => {
            page_response(small(SmallPage::MethodNotAllowed), Some((header::ALLOW, ALLOWED_METHODS)))
        }
        Outcome::Throttled { retry_after_seconds } => {
            let retry_after = (header::RETRY_AFTER, HeaderValue::from(retry_after_seconds));
            page_response(small(SmallPage::Throttled), Some(retry_after))
        }
        Outcome::Unavailable => {
            let retry_after = (header::RETRY_AFTER, HeaderValue::from(OUTAGE_RETRY_AFTER_SECONDS));
            page_response(small(SmallPage::Unavailable), Some(retry_after))
        }
        Outcome::Failed => page_response(small(SmallPage::Failed), None),
        Outcome::File { file, is_known } => file_response(file, is_known),
        Outcome::BadRequest(error) => text_response(StatusCode::BAD_REQUEST, format!("{error}\n")),
    }
}

fn text_response(status: StatusCode, text: String) -> Response<BoxBody> {
    let mut answer = Response::build(status).body(text);
    let headers = answer.headers_mut();
    AnswerKind::Text.insert_into(headers);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, PRIVATE_NO_STORE);
    answer.map_into_boxed_body()
}

fn page_response(page: &Page, additional: Option<(HeaderName, HeaderValue)>) -> Response<BoxBody> {
    let mut answer = Response::new(page.status).set_body(page.html.clone());
    let headers = answer.headers_mut();
    let policy = page.content_security_policy.clone();
    AnswerKind::Page { policy, referrer_policy: page.referrer_policy }.insert_into(headers);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, PRIVATE_NO_STORE);
    if let Forms::Negotiated(encoding) = page.forms {
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if let Some(encoding) = encoding {
            headers.insert(header::CONTENT_ENCODING, encoding.header());
        }
    }
    if let Some((name, value)) = additional {
        headers.insert(name, value);
    }
    answer.map_into_boxed_body()
}

fn file_response(file: File, is_known: bool) -> Response<BoxBody> {
    let File { content, content_type, etag, disposition, cache_control } = file;
    let mut answer = Response::build(if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK });
    answer.insert_header((header::ETAG, etag)).insert_header((header::CACHE_CONTROL, cache_control));
    if is_known {
        return answer.body(BoxBody::new(())).map_into_boxed_body();
    }
    answer.insert_header((header::CONTENT_TYPE, HeaderValue::from_static(content_type)));
    if let Some(disposition) = disposition {
        answer.insert_header((header::CONTENT_DISPOSITION, disposition));
    }
    let mut answer = answer.body(content);
    AnswerKind::File.insert_into(answer.headers_mut());
    answer.map_into_boxed_body()
}

fn redirect_response(status: RedirectStatus, location: HeaderValue) -> Response<BoxBody> {
    let code = match status {
        RedirectStatus::MovedPermanently => StatusCode::MOVED_PERMANENTLY,
        RedirectStatus::Found => StatusCode::FOUND,
        RedirectStatus::TemporaryRedirect => StatusCode::TEMPORARY_REDIRECT,
        RedirectStatus::PermanentRedirect => StatusCode::PERMANENT_REDIRECT,
    };
    let cache_control = if status.is_permanent() { PRIVATE_FOR_90_SECONDS } else { PRIVATE_NO_STORE };
    Response::build(code)
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, cache_control))
        .body(BoxBody::new(()))
        .map_into_boxed_body()
}
