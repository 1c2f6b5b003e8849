//! Whose address a request counts for, and a warning where that is a proxy's own (D18).

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use signpost_domain::{Timestamp, TrustedProxies};

use crate::log_pace::LogPace;

/// How often at most the warning is logged. Any stranger can send the header.
const WARNING_INTERVAL: Duration = Duration::from_hours(1);

/// What a request says about where it comes from. The headers are as the listener received them.
#[derive(Debug)]
pub struct Sender<'a> {
    /// The peer of the connection; `None` where the listener cannot name it.
    pub peer: Option<IpAddr>,
    /// The values of every `X-Forwarded-For` header, in order; an unreadable one is any text that is no address.
    pub forwarded_for: Vec<&'a str>,
    /// Whether there is a `Forwarded` header. It is never read.
    pub has_forwarded: bool,
}

/// Knows the trusted proxies, and warns when one seems to be missing.
#[derive(Debug)]
pub struct ClientAddresses {
    proxies: TrustedProxies,
    warnings: LogPace,
}

impl ClientAddresses {
    /// Believes these proxies.
    #[must_use]
    pub const fn new(proxies: TrustedProxies) -> Self {
        Self { proxies, warnings: LogPace::new(WARNING_INTERVAL) }
    }

    /// Whether what a peer at `address` says of its clients is believed.
    #[must_use]
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.proxies.contains(address)
    }

    /// The address that a request counts for.
    ///
    /// Logs a warning, at most once an hour, when a peer that is not trusted sends `X-Forwarded-For` or `Forwarded`, or a trusted
    /// one only `Forwarded`. It does not name the peer, which may be a visitor.
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
