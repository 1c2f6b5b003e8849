//! What happens to every request before it is routed: the host, the origin (D74) and the proxy that signs people in (D77) are
//! checked. Every answer gets the headers that keep pages from other sites away.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{
    CONTENT_SECURITY_POLICY, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, SET_COOKIE,
};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage as _, web};
use signpost_app::Application;
use signpost_request_layer::RequestFacts;

use crate::answer::add_session;
use crate::failure::Failure;
use crate::kept_form::with_kept_form;
use crate::origin::DashboardOrigin;
use crate::paths;
use crate::views::ErrorKind;
use crate::visit::{NewSession, Shared};

const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The headers of every answer. `same-origin` as the referrer's policy: with `no-referrer` Chromium posts `Origin: null`.
const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
         frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types signpost",
    ),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
];

/// Marks an answer that a page of the dashboard shows in a frame: a page for visitors, which has its own policy.
#[derive(Debug, Clone)]
pub(crate) struct FramedPage {
    /// The policy with which visitors get the page. It forbids every frame.
    pub(crate) policy: String,
}

impl FramedPage {
    /// The policy of the frame. `sandbox` gives the page an origin of its own, so that nothing in it is of the dashboard.
    fn header(&self) -> Option<HeaderValue> {
        let policy = self.policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'");
        HeaderValue::from_str(&format!("sandbox; {policy}")).ok()
    }
}

/// Adds [`HEADERS`].
pub(crate) fn secure(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

/// Checks where a request comes from, names its route for the log, and completes the answer.
pub(crate) async fn guard(
    shared: web::Data<Shared>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    if let Some(facts) = RequestFacts::<()>::of(&request)
        && let Some(pattern) = paths::pattern_of(&request)
    {
        facts.route.set(pattern);
    }
    let refused = refused(&shared.origin, request.method(), request.headers())
        .or_else(|| not_of_the_proxy(&shared.app, &request));
    let mut response = match refused {
        Some(kind) => request.error_response(Failure::Page(kind)),
        None => with_kept_form(next.call(request).await?.map_into_boxed_body()),
    };
    give_new_session(&shared.origin, &mut response);
    let framed = response.response().extensions().get::<FramedPage>().and_then(FramedPage::header);
    secure(response.headers_mut());
    if let Some(policy) = framed {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

/// Why a request is refused before anything else of it is read.
fn refused(origin: &DashboardOrigin, method: &Method, headers: &HeaderMap) -> Option<ErrorKind> {
    let host = only(headers, &HOST).unwrap_or_default();
    if !origin.answers_to(host) {
        return Some(ErrorKind::WrongHost);
    }
    if method.is_safe() {
        return None;
    }
    let is_own = if headers.contains_key(SEC_FETCH_SITE) {
        matches!(only(headers, &SEC_FETCH_SITE), Some("same-origin" | "none"))
    } else {
        only(headers, &ORIGIN).is_some_and(|from| origin.is_own(host, from))
    };
    (!is_own).then_some(ErrorKind::CrossSite)
}

/// Why a request is refused while a proxy signs people in (D77). The proxy may send its own cookie from every site, so another
/// site is kept from everything but links, as `SameSite=Lax` keeps it where the cookie signs people in.
fn not_of_the_proxy(app: &Application, request: &ServiceRequest) -> Option<ErrorKind> {
    let proxy = app.proxy_sign_in.as_ref()?;
    if !proxy.is_peer(request.peer_addr().map(|peer| peer.ip()), app.clock.now()) {
        return Some(ErrorKind::NotTheProxy);
    }
    is_embedded(request.headers()).then_some(ErrorKind::CrossSite)
}

/// Whether a page of another site asks for this within itself, such as for an image or a frame.
fn is_embedded(headers: &HeaderMap) -> bool {
    let is_foreign = headers.get_all(&SEC_FETCH_SITE).any(|site| site == "cross-site");
    is_foreign && only(headers, &SEC_FETCH_DEST) != Some("document")
}

/// Gives the browser the session that the request has opened, unless the handler has taken it away again.
fn give_new_session(origin: &DashboardOrigin, response: &mut ServiceResponse<BoxBody>) {
    if response.headers().contains_key(SET_COOKIE) {
        return;
    }
    let opened = response.request().extensions().get::<NewSession>().cloned();
    if let Some(NewSession(token)) = opened {
        add_session(response.response_mut(), origin, &token);
    }
}

/// The value of a header that occurs once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name);
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(method: &Method, sent: &[(&'static str, &'static str)]) -> Option<ErrorKind> {
        let origin = DashboardOrigin::parse("https://dash.example.com").unwrap();
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        refused(&origin, method, &headers)
    }

    #[test]
    fn d77_another_site_links_to_the_dashboard_but_embeds_nothing_of_it() {
        let embedded = |sent: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in sent {
                headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            is_embedded(&headers)
        };
        let (foreign, link) = (("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document"));
        for refused in [&[foreign][..], &[foreign, ("sec-fetch-dest", "iframe")], &[foreign, link, link]] {
            assert!(embedded(refused), "{refused:?}");
        }
        for own in [&[][..], &[foreign, link], &[("sec-fetch-site", "same-origin")]] {
            assert!(!embedded(own), "{own:?}");
        }
    }

    const OWN: (&str, &str) = ("host", "dash.example.com");

    #[test]
    fn d74_another_host_is_refused_before_all_else() {
        for sent in [&[][..], &[("host", "evil.test")], &[OWN, OWN]] {
            assert_eq!(judged(&Method::GET, sent), Some(ErrorKind::WrongHost), "{sent:?}");
            assert_eq!(judged(&Method::POST, sent), Some(ErrorKind::WrongHost), "{sent:?}");
        }
        assert_eq!(judged(&Method::GET, &[OWN]), None);
    }

    #[test]
    fn d74_an_unsafe_request_comes_from_the_dashboard_itself() {
        let post = |more: &[(&'static str, &'static str)]| judged(&Method::POST, &[&[OWN], more].concat());
        let own_origin = ("origin", "https://dash.example.com");
        for own in [
            &[("sec-fetch-site", "same-origin")][..],
            &[("sec-fetch-site", "none")],
            &[own_origin],
            &[("sec-fetch-site", "same-origin"), ("origin", "null")],
        ] {
            assert_eq!(post(own), None, "{own:?}");
        }
        for foreign in [
            &[][..],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "cross-site"), own_origin],
            &[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "none")],
            &[("origin", "null")],
            &[("origin", "https://evil.test")],
            &[("origin", "http://dash.example.com")],
            &[own_origin, own_origin],
        ] {
            assert_eq!(post(foreign), Some(ErrorKind::CrossSite), "{foreign:?}");
            assert_eq!(
                judged(&Method::GET, &[&[OWN], foreign].concat()),
                None,
                "reading needs no origin: {foreign:?}"
            );
        }
    }
}
