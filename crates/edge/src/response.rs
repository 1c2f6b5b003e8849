//! Turns the outcome of a visit into a response.

use actix_http::body::BoxBody;
use actix_http::header::{self, HeaderName, HeaderValue};
use actix_http::{Response, StatusCode};
use signpost_domain::RedirectStatus;
use signpost_listener::{AnswerKind, PRIVATE_FOR_90_SECONDS, PRIVATE_NO_STORE};
use signpost_pages::{Language, PasswordPage, SmallPage};

use crate::files::File;
use crate::gates::TurnedAway;
use crate::outcome::Outcome;
use crate::pages::{Forms, Page, Pages};
use crate::password_form::FormError;

/// The methods of the link listener (D53), for `Allow`. It does not name POST, which only links with a password take: that would tell
/// which links have one (D131).
const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD");

/// `Retry-After` during an outage of the store.
const OUTAGE_RETRY_AFTER_SECONDS: u32 = 5;

/// `Retry-After` while too many passwords of links are being checked. All that wait take about as long.
const BUSY_RETRY_AFTER_SECONDS: u32 = 1;

/// For the form of a password, which is all that is to be seen of its link.
const NOT_INDEXED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex"));

/// The answer to what is no form.
const NO_FORM: &str =
    "Send the password of this link as application/x-www-form-urlencoded, in the field `password`.\n";

/// The answer to a form that did not arrive.
const INCOMPLETE_FORM: &str = "The form did not arrive.\n";

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
        Outcome::RedirectedToGet(location) => located(StatusCode::SEE_OTHER, location, PRIVATE_NO_STORE),
        Outcome::Shown(page) | Outcome::Card(page) | Outcome::Pixels(page) => page_response(&page, None),
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
        Outcome::PasswordAsked => {
            page_response(small(SmallPage::Password(PasswordPage::Asked)), Some(NOT_INDEXED))
        }
        Outcome::PasswordWrong => {
            page_response(small(SmallPage::Password(PasswordPage::Wrong)), Some(NOT_INDEXED))
        }
        Outcome::PasswordThrottled { retry_after_seconds } => page_response(
            small(SmallPage::Password(PasswordPage::Throttled)),
            retry_after(retry_after_seconds),
        ),
        Outcome::PasswordsBusy => {
            page_response(small(SmallPage::Unavailable), retry_after(BUSY_RETRY_AFTER_SECONDS))
        }
        Outcome::BadForm(FormError::TooLarge) => {
            page_response(small(SmallPage::Password(PasswordPage::TooLong)), None)
        }
        // Browsers send the form as it is to be.
        Outcome::BadForm(FormError::OtherType) => {
            text_response(StatusCode::UNSUPPORTED_MEDIA_TYPE, NO_FORM.to_owned())
        }
        Outcome::BadForm(FormError::Incomplete) => {
            text_response(StatusCode::BAD_REQUEST, INCOMPLETE_FORM.to_owned())
        }
        Outcome::MovedToHttps(location) => {
            located(StatusCode::PERMANENT_REDIRECT, location, MOVED_FOR_FIVE_MINUTES)
        }
        Outcome::Challenge(answer) => text_response(StatusCode::OK, answer),
        Outcome::ApiWithoutTls => text_response(StatusCode::FORBIDDEN, API_WITHOUT_TLS.to_owned()),
        Outcome::MethodNotAllowed => {
            page_response(small(SmallPage::MethodNotAllowed), Some((header::ALLOW, ALLOWED_METHODS)))
        }
        Outcome::Throttled { retry_after_seconds } => {
            page_response(small(SmallPage::Throttled), retry_after(retry_after_seconds))
        }
        Outcome::Unavailable => {
            page_response(small(SmallPage::Unavailable), retry_after(OUTAGE_RETRY_AFTER_SECONDS))
        }
        Outcome::Failed => page_response(small(SmallPage::Failed), None),
        Outcome::File { file, is_known } => file_response(file, is_known),
        Outcome::BadRequest(error) => text_response(StatusCode::BAD_REQUEST, format!("{error}\n")),
    }
}

/// The header, as an additional one of a page.
#[expect(clippy::unnecessary_wraps, reason = "pages may have no additional header")]
fn retry_after(seconds: u32) -> Option<(HeaderName, HeaderValue)> {
    Some((header::RETRY_AFTER, HeaderValue::from(seconds)))
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
    located(code, location, cache_control)
}

fn located(code: StatusCode, location: HeaderValue, cache_control: HeaderValue) -> Response<BoxBody> {
    Response::build(code)
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, cache_control))
        .body(BoxBody::new(()))
        .map_into_boxed_body()
}
