//! The origin of the dashboard, and the requests that come from it (D67, D72, D74).

use std::net::IpAddr;

use url::{Host, Url};

/// The setting `dashboard-url`: the origin at which people open the dashboard.
///
/// ```
/// # use signpost_dashboard::DashboardOrigin;
/// let origin = DashboardOrigin::parse("https://dash.example.com").unwrap();
/// assert!(origin.is_secure());
/// assert_eq!(origin.as_str(), "https://dash.example.com");
/// assert!(DashboardOrigin::parse("https://dash.example.com/path").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DashboardOrigin {
    /// Without a final slash.
    origin: String,
    /// As the header `Host` has it: in lower case, and with the port unless it is the scheme's default.
    host: String,
    is_secure: bool,
    is_loopback: bool,
}

/// The text is not the origin of a dashboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an origin, such as https://dash.example.com or http://localhost:8082")]
pub struct MalformedOrigin;

impl DashboardOrigin {
    /// Reads an origin: `http` or `https`, a host, an optional port and an optional slash.
    ///
    /// # Errors
    /// [`MalformedOrigin`].
    pub fn parse(text: &str) -> Result<Self, MalformedOrigin> {
        let url = Url::parse(text).map_err(|_| MalformedOrigin)?;
        let is_plain = url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        let is_secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(MalformedOrigin),
        };
        let (Some(host), true) = (url.host(), is_plain) else { return Err(MalformedOrigin) };
        let is_loopback = match host {
            Host::Domain(name) => is_localhost(name),
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        };
        let origin = url.origin().ascii_serialization();
        let host = origin.split_once("://").map(|(_, host)| host.to_owned()).ok_or(MalformedOrigin)?;
        Ok(Self { origin, host, is_secure, is_loopback })
    }

    /// The origin on this machine at this port.
    #[must_use]
    pub fn local(port: u16) -> Self {
        // Browsers leave out the port that their scheme has by default.
        let host = if port == 80 { "localhost".to_owned() } else { format!("localhost:{port}") };
        Self { origin: format!("http://{host}"), host, is_secure: false, is_loopback: true }
    }

    /// The origin, without a final slash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.origin
    }

    /// The host without a port.
    #[must_use]
    pub fn hostname(&self) -> &str {
        match self.host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => &self.host,
        }
    }

    /// Whether browsers reach it by `https`.
    #[must_use]
    pub const fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// Whether it is a name of the machine itself.
    #[must_use]
    pub const fn is_loopback(&self) -> bool {
        self.is_loopback
    }

    /// Whether a request with this `Host` is for the dashboard. While the origin is a loopback name, any loopback name with any
    /// port is: people forward ports.
    pub(crate) fn answers_to(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        host == self.host || (self.is_loopback && is_loopback_host(&host))
    }

    /// Whether a request with this `Host` and this `Origin` comes from a page of the dashboard.
    pub(crate) fn is_own(&self, host: &str, origin: &str) -> bool {
        let own_host = self.is_loopback && is_loopback_host(&host.to_ascii_lowercase());
        origin == self.origin || (own_host && origin.strip_prefix("http://") == Some(host))
    }

    /// The path of an address, with its query, if it is a page of the dashboard.
    pub(crate) fn own_page<'a>(&self, address: &'a str) -> Option<&'a str> {
        let (_, host_and_path) = address.split_once("://")?;
        let (host, _) = host_and_path.split_once('/')?;
        let (origin, path) = address.split_at(address.len() - host_and_path.len() + host.len());
        self.is_own(host, origin).then_some(path)
    }

    /// The name of a cookie in the browser. Browsers accept the prefix only from secure origins.
    pub(crate) fn cookie_name(&self, name: &str) -> String {
        if self.is_secure { format!("__Host-{name}") } else { name.to_owned() }
    }
}

fn is_localhost(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

/// Whether the value of `Host` is a name of the machine itself, with or without a port.
fn is_loopback_host(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    is_localhost(name) || address.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_dashboard_have_a_path() {
        let origin = DashboardOrigin::parse("https://dash.example.com").unwrap();
        assert_eq!(origin.own_page("https://dash.example.com/a/links?q=1"), Some("/a/links?q=1"));
        for foreign in [
            "https://dash.example.com.evil.test/a",
            "http://dash.example.com/",
            "https://dash.example.com",
            "/a",
            "",
        ] {
            assert_eq!(origin.own_page(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn a_local_origin_is_the_one_that_people_write() {
        for (port, text) in [(8082, "http://localhost:8082"), (80, "http://localhost")] {
            assert_eq!(DashboardOrigin::local(port), DashboardOrigin::parse(text).unwrap());
        }
    }

    #[test]
    fn d74_only_the_origins_own_host_is_answered() {
        let origin = DashboardOrigin::parse("https://Dash.example.com").unwrap();
        assert!(origin.answers_to("dash.example.com") && origin.answers_to("DASH.example.com"));
        for other in ["example.com", "dash.example.com:8443", "dash.example.com.evil.test", "localhost", ""] {
            assert!(!origin.answers_to(other), "{other}");
        }
        assert!(
            DashboardOrigin::parse("https://dash.example.com:8443")
                .unwrap()
                .answers_to("dash.example.com:8443")
        );
    }

    #[test]
    fn d74_a_loopback_origin_answers_to_every_loopback_name() {
        let origin = DashboardOrigin::parse("http://localhost:8082").unwrap();
        for own in
            ["localhost:8082", "127.0.0.1:8082", "[::1]:8082", "localhost:9000", "a.localhost", "127.9.9.9"]
        {
            assert!(origin.answers_to(own), "{own}");
        }
        for other in
            ["evil.test:8082", "192.168.1.5:8082", "localhost.evil.test", "127.0.0.1.evil.test", "::"]
        {
            assert!(!origin.answers_to(other), "{other}");
        }
    }

    #[test]
    fn d74_an_origin_is_own_if_it_is_the_dashboards_or_that_of_the_loopback_host() {
        let public = DashboardOrigin::parse("https://dash.example.com/").unwrap();
        assert!(public.is_own("dash.example.com", "https://dash.example.com"));
        for foreign in
            ["null", "http://dash.example.com", "https://evil.test", "https://dash.example.com:444", ""]
        {
            assert!(!public.is_own("dash.example.com", foreign), "{foreign}");
        }
        let local = DashboardOrigin::parse("http://localhost:8082").unwrap();
        assert!(local.is_own("127.0.0.1:9000", "http://127.0.0.1:9000"));
        assert!(!local.is_own("127.0.0.1:9000", "http://127.0.0.1:9001"));
        assert!(!local.is_own("evil.test", "http://evil.test"));
    }

    #[test]
    fn d72_the_cookies_prefix_needs_https() {
        assert_eq!(
            DashboardOrigin::parse("https://d.example").unwrap().cookie_name("signpost"),
            "__Host-signpost"
        );
        assert_eq!(DashboardOrigin::parse("http://localhost").unwrap().cookie_name("signpost"), "signpost");
    }

    #[test]
    fn origins_have_neither_path_nor_user() {
        for text in [
            "",
            "dash",
            "ftp://d.example",
            "https://d.example/x",
            "https://u@d.example",
            "https://d.example?x",
        ] {
            assert!(DashboardOrigin::parse(text).is_err(), "{text}");
        }
    }
}
