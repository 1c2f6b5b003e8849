//! The proxy that signs people in: which peers belong to it, and whom its header names (D77).

use std::net::IpAddr;
use std::time::Duration;

use signpost_domain::{Email, Timestamp, TrustedProxies};

use crate::log_pace::LogPace;

/// The minimum interval between two warnings about other peers. Any client can cause them.
const WARNING_INTERVAL: Duration = Duration::from_hours(1);

/// Sign-in by a proxy in front of the dashboard. Its header says who sends a request, so neither passwords nor sessions of
/// passwords count.
#[derive(Debug)]
pub struct ProxySignIn {
    header: String,
    proxies: TrustedProxies,
    warnings: LogPace,
}

impl ProxySignIn {
    /// Believes the header with this name, if a peer in `proxies` sends it.
    #[must_use]
    pub const fn new(header: String, proxies: TrustedProxies) -> Self {
        Self { header, proxies, warnings: LogPace::new(WARNING_INTERVAL) }
    }

    /// The name of the header, as the operator wrote it.
    #[must_use]
    pub fn header(&self) -> &str {
        &self.header
    }

    /// Whether the peer of a connection is the proxy. Requests from any other peer are refused, because it could name anybody.
    /// Logs a warning about such a peer, at most once an hour.
    pub fn is_peer(&self, peer: Option<IpAddr>, now: Timestamp) -> bool {
        let is_peer = self.believes(peer);
        if !is_peer && self.warnings.is_due(now) {
            tracing::warn!(
                "a request to the dashboard was refused, because it came from an address that `sign-in-proxies` does not name; if \
                 it was your proxy's, add the proxy's network to `sign-in-proxies`"
            );
        }
        is_peer
    }

    /// The address in the values of the header: that of a person, if the header occurs once, has an e-mail address, and comes
    /// from the proxy.
    pub fn named<'a>(
        &self,
        peer: Option<IpAddr>,
        values: impl IntoIterator<Item = &'a [u8]>,
    ) -> Option<Email> {
        let mut values = values.into_iter();
        match (values.next(), values.next()) {
            (Some(value), None) if self.believes(peer) => Email::parse(std::str::from_utf8(value).ok()?).ok(),
            _ => None,
        }
    }

    fn believes(&self, peer: Option<IpAddr>) -> bool {
        peer.is_some_and(|peer| self.proxies.contains(peer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(peer: &str, values: &[&[u8]]) -> Option<String> {
        let proxies = TrustedProxies::new(vec!["10.0.0.0/8".parse().unwrap()]);
        let proxy = ProxySignIn::new("Remote-Email".to_owned(), proxies);
        let email = proxy.named(peer.parse().ok(), values.iter().copied());
        email.map(|email| email.as_str().to_owned())
    }

    #[test]
    fn d77_the_header_of_the_proxy_names_a_person() {
        for peer in ["10.0.0.1", "::ffff:10.0.0.1"] {
            assert_eq!(named(peer, &[b" Ada@example.com "]).unwrap(), "Ada@example.com");
        }
        assert_eq!(named("10.0.0.1", &["ü@bücher.example".as_bytes()]).unwrap(), "ü@bücher.example");
    }

    #[test]
    fn d77_any_other_peer_sends_no_name() {
        for peer in ["203.0.113.9", "::1", "not an address"] {
            assert_eq!(named(peer, &[b"ada@example.com"]), None, "{peer}");
        }
    }

    #[test]
    fn d77_a_missing_empty_repeated_or_malformed_header_is_no_name() {
        let lists: [&[&str]; 8] = [
            &[],
            &[""],
            &["  "],
            &["ada@example.com", "ada@example.com"],
            &["", "ada@example.com"],
            &["ada"],
            &["ada@example.com,bob@example.com"],
            &["ada@example.com, ada@example.com"],
        ];
        for values in lists {
            let bytes: Vec<&[u8]> = values.iter().map(|value| value.as_bytes()).collect();
            assert_eq!(named("10.0.0.1", &bytes), None, "{values:?}");
        }
        assert_eq!(named("10.0.0.1", &[b"\xff@example.com"]), None);
    }
}
