//! Which address a request counts for, and a warning when that may be a proxy's (D18).

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use signpost_domain::{Timestamp, TrustedProxies};

use crate::log_pace::LogPace;

/// The minimum interval between two warnings. Any client can send the headers that cause them.
const WARNING_INTERVAL: Duration = Duration::from_hours(1);

/// The origin of a request. The headers are as the listener received them.
#[derive(Debug)]
pub struct Sender<'a> {
    /// The peer of the connection; `None` if the listener does not know it.
    pub peer: Option<IpAddr>,
    /// The values of all `X-Forwarded-For` headers, in order. An unreadable value is passed as any text that is not an
    /// address.
    pub forwarded_for: Vec<&'a str>,
    /// Whether the request has a `Forwarded` header. Its value is never read.
    pub has_forwarded: bool,
}

/// Finds the client's address behind trusted proxies, and warns when a proxy seems to be missing from the settings.
#[derive(Debug)]
pub struct ClientAddresses {
    proxies: TrustedProxies,
    warnings: LogPace,
}

impl Sender<'_> {
    /// The headers by which a proxy says that it passes a request on.
    const OF_PROXIES: [&'static str; 4] = ["x-forwarded-for", "forwarded", "via", "x-real-ip"];

    /// Whether a request comes from this machine itself, so that its sender probably operates the installation. `has_header`
    /// says whether the request has a header with this name; proxies on this machine add one.
    pub fn is_this_machine(peer: Option<IpAddr>, has_header: impl Fn(&str) -> bool) -> bool {
        peer.is_some_and(|peer| peer.to_canonical().is_loopback())
            && !Self::OF_PROXIES.into_iter().any(has_header)
    }
}

impl ClientAddresses {
    /// Trusts these proxies.
    #[must_use]
    pub const fn new(proxies: TrustedProxies) -> Self {
        Self { proxies, warnings: LogPace::new(WARNING_INTERVAL) }
    }

    /// Whether `address` belongs to a trusted proxy, whose statements about its clients are used.
    #[must_use]
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.proxies.contains(address)
    }

    /// The address that a request counts for.
    ///
    /// It logs a warning, at most once an hour, if an untrusted peer sends `X-Forwarded-For` or `Forwarded`, or if a trusted
    /// proxy sends only `Forwarded`. The warning does not name the peer, which may be a visitor.
    pub fn of(&self, sender: &Sender<'_>, now: Timestamp) -> IpAddr {
        let Sender { peer, forwarded_for, has_forwarded } = sender;
        let peer = peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let is_trusted = self.proxies.contains(peer);
        if !is_trusted && (*has_forwarded || !forwarded_for.is_empty()) && self.warnings.is_due(now) {
            tracing::warn!(
                "X-Forwarded-For or Forwarded was ignored, because it came from an address that `trusted-proxies` does not name; \
                 if your proxy sent it, add the proxy's network to `trusted-proxies`, or all its clients share one throttle"
            );
        }
        if is_trusted && *has_forwarded && forwarded_for.is_empty() && self.warnings.is_due(now) {
            tracing::warn!(
                "a proxy that `trusted-proxies` names sent Forwarded, which is not read, and no X-Forwarded-For; \
                 let it send X-Forwarded-For, or all its clients share one throttle"
            );
        }
        self.proxies.client_address(peer, forwarded_for.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d15_only_a_loopback_peer_without_a_proxy_is_this_machine() {
        let is_own = |peer: &str, header: Option<&str>| {
            Sender::is_this_machine(Some(peer.parse().unwrap()), |name| Some(name) == header)
        };
        for peer in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            assert!(is_own(peer, None) && is_own(peer, Some("accept")), "{peer}");
            for header in ["x-forwarded-for", "forwarded", "via", "x-real-ip"] {
                assert!(!is_own(peer, Some(header)), "{peer} {header}");
            }
        }
        assert!(!is_own("203.0.113.9", None) && !is_own("192.168.0.1", None));
        assert!(!Sender::is_this_machine(None, |_| false));
    }
}
