//! Answers: pages, redirects, and the cookie of the session.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, HeaderValue, LOCATION, SET_COOKIE};
use askama::Template;
use signpost_app::people::identity::FLOW_VALID;
use signpost_app::people::{CODE_WITHIN, OpenedSession};
use signpost_domain::{SESSION_KEPT, SecretToken};

use crate::failure::Failure;
use crate::origin::DashboardOrigin;

/// The cookie of the session.
pub(crate) const SESSION: &str = "signpost";

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// A page with status 200.
pub(crate) fn page(view: &impl Template) -> Result<HttpResponse, Failure> {
    page_with(StatusCode::OK, view)
}

/// A page with a refused form.
pub(crate) fn refused(view: &impl Template) -> Result<HttpResponse, Failure> {
    page_with(StatusCode::UNPROCESSABLE_ENTITY, view)
}

/// A page with this status.
pub(crate) fn page_with(status: StatusCode, view: &impl Template) -> Result<HttpResponse, Failure> {
    let html = view.render().map_err(|error| Failure::Broken(format!("a page was not rendered: {error}")))?;
    Ok(HttpResponse::build(status).insert_header((CONTENT_TYPE, HTML)).body(html))
}

/// The answer to a form: the browser gets `path` next.
pub(crate) fn see_other(path: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((LOCATION, path)).finish()
}

/// Gives the browser the token of a session (D72).
pub(crate) fn with_session(
    mut response: HttpResponse,
    origin: &DashboardOrigin,
    opened: &OpenedSession,
) -> HttpResponse {
    let kept = opened.session.is_kept.then(|| format!("; Max-Age={}", SESSION_KEPT.as_secs()));
    let name = origin.cookie_name(SESSION);
    set_cookie(&mut response, origin, &name, opened.token.expose(), &kept.unwrap_or_default());
    response
}

/// Gives the browser the token of a session that this request has opened beside its answer (D77).
pub(crate) fn add_session(response: &mut HttpResponse, origin: &DashboardOrigin, token: &SecretToken) {
    set_cookie(response, origin, &origin.cookie_name(SESSION), token.expose(), "");
}

/// Takes the token of the session from the browser.
pub(crate) fn without_session(mut response: HttpResponse, origin: &DashboardOrigin) -> HttpResponse {
    set_cookie(&mut response, origin, &origin.cookie_name(SESSION), "", "; Max-Age=0");
    response
}

/// Gives the browser what it keeps between two steps of a sign-in.
pub(crate) fn with_step(
    mut response: HttpResponse,
    origin: &DashboardOrigin,
    name: &str,
    value: &str,
) -> HttpResponse {
    let lifetime = format!("; Max-Age={}", CODE_WITHIN.as_secs());
    set_cookie(&mut response, origin, &origin.cookie_name(name), value, &lifetime);
    response
}

/// Gives the browser what it keeps while it is at an identity provider, for as long as it can come back (D77).
pub(crate) fn with_flow(
    mut response: HttpResponse,
    origin: &DashboardOrigin,
    name: &str,
    value: &str,
) -> HttpResponse {
    let lifetime = format!("; Max-Age={}", FLOW_VALID.as_secs());
    set_cookie(&mut response, origin, &origin.cookie_name(name), value, &lifetime);
    response
}

/// Takes from the browser what it kept between two steps of a sign-in.
pub(crate) fn without_step(mut response: HttpResponse, origin: &DashboardOrigin, name: &str) -> HttpResponse {
    set_cookie(&mut response, origin, &origin.cookie_name(name), "", "; Max-Age=0");
    response
}

fn set_cookie(
    response: &mut HttpResponse,
    origin: &DashboardOrigin,
    name: &str,
    value: &str,
    lifetime: &str,
) {
    let secure = if origin.is_secure() { "; Secure" } else { "" };
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{lifetime}");
    // Names and tokens are plain ASCII, so the conversion cannot fail.
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
}
