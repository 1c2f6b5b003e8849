//! Requests without TLS, while the program speaks TLS itself (D181).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use actix_http::Request;
use actix_http::header::{self, HeaderValue};
use signpost_app::admission::ClientAddresses;
use signpost_domain::Hostname;
use signpost_listener::TlsSites;

use crate::outcome::Outcome;
use crate::visitor;

/// How the link listener answers requests without TLS, while the program speaks TLS on another listener.
#[derive(Clone)]
pub struct PlainHttp {
    /// The hosts that open over HTTPS.
    pub hosts: Arc<dyn TlsSites>,
    /// Whether requests for such hosts are redirected there. Otherwise they are answered as over HTTPS.
    pub redirects: bool,
    /// The port of HTTPS in redirects, unless it is 443.
    pub https_port: Option<u16>,
    /// The hosts of the API. A request for one of them is refused, because its key travelled unencrypted. One from a proxy that
    /// ends TLS is refused too: the proxy must pass it to the listener of the API.
    pub api_hostnames: BTreeSet<Hostname>,
}

impl fmt::Debug for PlainHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hosts: _, redirects, https_port, api_hostnames } = self;
        f.debug_struct("PlainHttp")
            .field("redirects", redirects)
            .field("https_port", https_port)
            .field("api_hostnames", api_hostnames)
            .finish_non_exhaustive()
    }
}

impl PlainHttp {
    /// The answer to a request that does not open a link here. `None` if it may open one.
    pub(crate) fn answer(&self, request: &Request, addresses: &ClientAddresses) -> Option<Outcome> {
        let host = request.head().headers().get(header::HOST)?.to_str().ok()?;
        let host = Hostname::from_authority(host).ok()?;
        if self.api_hostnames.contains(&host) {
            return Some(Outcome::ApiWithoutTls);
        }
        // The proxy would send a redirected request here again, without end.
        let is_redirected = self.redirects && self.hosts.has(host.as_str());
        if !is_redirected || visitor::used_https(request, addresses) {
            return None;
        }
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let location = match self.https_port {
            None => format!("https://{host}{path}"),
            Some(port) => format!("https://{host}:{port}{path}"),
        };
        HeaderValue::from_str(&location).ok().map(Outcome::MovedToHttps)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use actix_http::Method;
    use actix_http::test::TestRequest;
    use rustls::ServerConfig;
    use rustls::crypto::ring;
    use rustls::server::ResolvesServerCertUsingSni;
    use signpost_domain::TrustedProxies;
    use signpost_listener::{CertificateNames, TlsSite};

    use super::*;

    struct OneHost;

    impl TlsSites for OneHost {
        fn site(&self, server_name: Option<&str>) -> Option<TlsSite> {
            let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_cert_resolver(Arc::new(ResolvesServerCertUsingSni::new()));
            let names = Arc::new(CertificateNames::new(["go.example.com"]));
            names.cover(server_name?).then(|| TlsSite { config: Arc::new(config), names: Arc::clone(&names) })
        }
    }

    fn plain_http(redirects: bool, https_port: Option<u16>) -> PlainHttp {
        let api_hostnames = [Hostname::parse("api.example.com").unwrap()].into();
        PlainHttp { hosts: Arc::new(OneHost), redirects, https_port, api_hostnames }
    }

    /// The only trusted proxy.
    const PROXY: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

    fn addresses() -> ClientAddresses {
        ClientAddresses::new(TrustedProxies::new(vec!["10.0.0.1/32".parse().unwrap()]))
    }

    fn answer(plain: &PlainHttp, host: &str, target: &str, method: Method) -> Option<Outcome> {
        let request =
            TestRequest::default().method(method).uri(target).insert_header(("host", host)).finish();
        plain.answer(&request, &addresses())
    }

    /// The answer to a request that this peer passes on with `X-Forwarded-Proto`.
    fn answer_to_peer(peer: IpAddr, scheme: &str, host: &str) -> Option<Outcome> {
        let mut request = TestRequest::with_uri("/a")
            .insert_header(("host", host))
            .insert_header(("x-forwarded-proto", scheme))
            .finish();
        request.head_mut().peer_addr = Some((peer, 50_000).into());
        plain_http(true, None).answer(&request, &addresses())
    }

    const fn moved(location: &'static str) -> Outcome {
        Outcome::MovedToHttps(HeaderValue::from_static(location))
    }

    #[test]
    fn d181_a_host_with_a_certificate_moves_with_path_and_query() {
        let plain = plain_http(true, None);
        for method in [Method::GET, Method::HEAD, Method::POST] {
            let moved_to = answer(&plain, "Go.Example.com:80", "/a%20b?c=d&e", method);
            assert_eq!(moved_to, Some(moved("https://go.example.com/a%20b?c=d&e")));
        }
        assert_eq!(
            answer(&plain, "go.example.com", "/", Method::GET),
            Some(moved("https://go.example.com/"))
        );
        let elsewhere = plain_http(true, Some(8443));
        assert_eq!(
            answer(&elsewhere, "go.example.com", "/a", Method::GET),
            Some(moved("https://go.example.com:8443/a"))
        );
    }

    #[test]
    fn d181_a_proxy_that_ends_tls_gets_answers_instead_of_a_loop() {
        let redirected = Some(moved("https://go.example.com/a"));
        for (peer, scheme, expected) in [
            (PROXY, "https", None),
            (PROXY, "HTTPS", None),
            (PROXY, "https, http", None),
            (PROXY, "http", redirected.clone()),
            (PROXY, "http, https", redirected.clone()),
            (PROXY, "", redirected.clone()),
            (Ipv4Addr::new(10, 0, 0, 2).into(), "https", redirected),
        ] {
            assert_eq!(answer_to_peer(peer, scheme, "go.example.com"), expected, "{peer} {scheme}");
        }
        // The API is at another port, also for proxies.
        assert_eq!(answer_to_peer(PROXY, "https", "api.example.com"), Some(Outcome::ApiWithoutTls));
    }

    #[test]
    fn d181_other_hosts_are_answered_here() {
        for (redirects, host) in
            [(true, "other.example.com"), (true, "192.0.2.1"), (true, "a b"), (false, "go.example.com")]
        {
            assert_eq!(answer(&plain_http(redirects, None), host, "/a", Method::GET), None, "{host}");
        }
    }

    #[test]
    fn d181_the_api_never_answers_without_tls() {
        for redirects in [true, false] {
            let refused =
                answer(&plain_http(redirects, None), "API.example.com", "/v1/redirects", Method::POST);
            assert_eq!(refused, Some(Outcome::ApiWithoutTls));
        }
    }
}
