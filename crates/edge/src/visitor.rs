//! What a request says about the visitor and the requested host.

use std::borrow::Cow;
use std::net::IpAddr;
use std::rc::Rc;

use actix_http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_http::{HttpMessage as _, Request};
use signpost_app::admission::{ClientAddresses, Sender};
use signpost_app::visits::Sending;
use signpost_domain::{Hostname, Timestamp, forward_query};
use signpost_enrichment::{KnownProgram, classify};
use signpost_pages::Language;

use crate::requested_address::{HashedSite, HostCache};

/// Returns the site of the requested host, which `site_of` derives from the hostname. `None` if the request
/// names no host, several, or an invalid one.
pub(crate) fn site(
    request: &Request,
    known: &HostCache,
    site_of: impl FnOnce(Hostname) -> HashedSite,
) -> Option<Rc<HashedSite>> {
    let mut values = request.headers().get_all(header::HOST);
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let hostname_of = |authority: &[u8]| Hostname::from_authority(str::from_utf8(authority).ok()?).ok();
    // A request target in absolute form names the host again. A proxy and this server could read different
    // hosts, so a request with two hosts matches no address.
    if let Some(authority) = request.uri().authority() {
        let named_again = hostname_of(authority.as_str().as_bytes())?;
        if hostname_of(value.as_bytes())? != named_again {
            return None;
        }
    }
    known.site(value.as_bytes(), || hostname_of(value.as_bytes()).map(site_of))
}

/// The address to which the request is attributed (D18, D54).
pub(crate) fn address(request: &Request, addresses: &ClientAddresses, now: Timestamp) -> IpAddr {
    let forwarded_for = request.headers().get_all(header::X_FORWARDED_FOR);
    let sender = Sender {
        peer: request.peer_addr().map(|peer| peer.ip()),
        // A value that is not text becomes an empty one: an unreadable hop, and values before it are not
        // trusted.
        forwarded_for: forwarded_for.map(|value| value.to_str().unwrap_or_default()).collect(),
        has_forwarded: request.headers().contains_key(header::FORWARDED),
    };
    addresses.of(&sender, now)
}

static X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// The host for which the visitor asked a trusted proxy, if the request names another one in `Host`. It only serves a warning,
/// because any visitor can send the header through a proxy that does not set it.
pub(crate) fn forwarded_host(request: &Request, addresses: &ClientAddresses) -> Option<Hostname> {
    let forwarded = request.headers().get(&X_FORWARDED_HOST)?.as_bytes();
    let host = text(request, &header::HOST);
    if forwarded == host || !addresses.trusts(request.peer_addr()?.ip()) {
        return None;
    }
    // Each proxy on the way may append the host that it saw.
    let first = forwarded.split(|byte| *byte == b',').next()?;
    let hostname = |authority: &[u8]| Hostname::from_authority(str::from_utf8(authority).ok()?).ok();
    let first = hostname(first)?;
    (hostname(host).as_ref() != Some(&first)).then_some(first)
}

static X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Whether a trusted proxy says that the visitor reached it over HTTPS.
pub(crate) fn used_https(request: &Request, addresses: &ClientAddresses) -> bool {
    // Each proxy on the way may append the scheme that it saw.
    let first = text(request, &X_FORWARDED_PROTO).split(|byte| *byte == b',').next();
    first.is_some_and(|scheme| scheme.trim_ascii().eq_ignore_ascii_case(b"https"))
        && request.peer_addr().is_some_and(|peer| addresses.trusts(peer.ip()))
}

/// The language of the pages that the visitor prefers.
pub(crate) fn language(request: &Request) -> Language {
    Language::preferred(&accept_language(request))
}

/// The value of `Accept-Language`. Empty if it is not sent. Several lines are joined to one list (RFC 9110, section 5.3), as far as any
/// reader of the list reads it.
pub(crate) fn accept_language(request: &Request) -> Cow<'_, [u8]> {
    let mut lines = request.headers().get_all(header::ACCEPT_LANGUAGE).map(HeaderValue::as_bytes).peekable();
    let first = lines.next().unwrap_or_default();
    if lines.peek().is_none() {
        return Cow::Borrowed(first);
    }
    let mut list = first.to_vec();
    for line in lines {
        if list.len() > Language::MAX_BYTES {
            break;
        }
        list.extend_from_slice(b", ");
        list.extend_from_slice(line);
    }
    Cow::Owned(list)
}

/// The value of `User-Agent`. Empty if it is not sent.
pub(crate) fn user_agent(request: &Request) -> &[u8] {
    text(request, &header::USER_AGENT)
}

/// The programs that the `User-Agent`s name. Every one is read, so a program gains nothing by adding a browser's. Without any, it
/// is the program of an empty one.
pub(crate) fn named_programs(headers: &HeaderMap) -> impl Iterator<Item = KnownProgram> {
    let mut agents = headers.get_all(header::USER_AGENT).map(HeaderValue::as_bytes).peekable();
    let none_sent = agents.peek().is_none().then_some(&b""[..]);
    none_sent.into_iter().chain(agents).filter_map(classify)
}

/// The headers with which browsers say that they fetch a page ahead of a visit: today's, and earlier ones of Chromium, Safari
/// and Firefox.
static PURPOSES: [HeaderName; 4] = [
    HeaderName::from_static("sec-purpose"),
    HeaderName::from_static("purpose"),
    HeaderName::from_static("x-purpose"),
    HeaderName::from_static("x-moz"),
];

/// What the browser says about a request ahead of a visit. Empty if it says nothing.
pub(crate) fn purpose(request: &Request) -> &[u8] {
    let purposes = PURPOSES.iter().map(|name| text(request, name));
    purposes.into_iter().find(|purpose| !purpose.is_empty()).unwrap_or_default()
}

/// The value of a header. Empty if it is not sent.
pub(crate) fn text<'a>(request: &'a Request, name: &HeaderName) -> &'a [u8] {
    request.headers().get(name).map_or(&[], HeaderValue::as_bytes)
}

/// The location with the parameters of the visitor, if the link forwards them and there are any.
pub(crate) fn forwarded(request: &Request, sending: Sending, start: &str, rest: &[u8]) -> Option<String> {
    if !sending.forwards_query {
        return None;
    }
    let query = request.uri().query().filter(|query| !query.is_empty())?;
    let rest = str::from_utf8(rest).ok()?;
    let mut location = String::with_capacity(start.len() + rest.len() + 1 + query.len());
    location.push_str(start);
    location.push_str(rest);
    forward_query(&mut location, query);
    Some(location)
}
