//! The host that a request names.

use actix_http::Request;
use actix_http::header::HOST;

/// The requested host without its port, as it was sent. `None` if the request names none, or not as text.
#[must_use]
pub fn host_of(request: &Request) -> Option<&str> {
    let authority = match request.uri().authority() {
        Some(authority) => authority.as_str(),
        None => request.head().headers().get(HOST)?.to_str().ok()?,
    };
    // An address in brackets has colons too; no certificate and no role is for an address.
    Some(authority.rsplit_once(':').map_or(authority, |(host, _)| host))
}

#[cfg(test)]
mod tests {
    use actix_http::test::TestRequest;

    use super::*;

    #[test]
    fn d181_the_host_is_named_by_the_target_or_by_the_header() {
        for (target, header, expected) in [
            ("/a", Some("go.example.com"), Some("go.example.com")),
            ("/a", Some("Go.Example.com:8443"), Some("Go.Example.com")),
            ("http://api.example.com:80/a", Some("go.example.com"), Some("api.example.com")),
            ("/a", None, None),
        ] {
            let mut request = TestRequest::with_uri(target);
            if let Some(host) = header {
                request.insert_header(("host", host));
            }
            assert_eq!(host_of(&request.finish()), expected, "{target} {header:?}");
        }
    }
}
