//! Whose address a request counts for, and a warning where that is a proxy's own (D18).

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use signpost_domain::{Timestamp, TrustedProxies};

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
    /// The Unix time, in milliseconds, from which on the next warning may be logged.
    next_warning: AtomicI64,
}

impl ClientAddresses {
    /// Believes these proxies.
    #[must_use]
    pub const fn new(proxies: TrustedProxies) -> Self {
        Self { proxies, next_warning: AtomicI64::new(i64::MIN) }
    }

    /// The address that a request counts for.
    ///
    /// Logs a warning, at most once an hour, when a peer that is not trusted sends `X-Forwarded-For` or `Forwarded`. It does not
    /// name the peer, which may be a visitor.
    pub fn of(&self, sender: &Sender<'_>, now: Timestamp) -> IpAddr {
        let Sender { peer, forwarded_for, has_forwarded } = sender;
        let peer = peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let says_more = *has_forwarded || !forwarded_for.is_empty();
        if says_more && !self.proxies.contains(peer) && self.may_warn(now) {
            tracing::warn!(
                "X-Forwarded-For or Forwarded was ignored, because it came from an address that `trusted-proxies` does not name; \
                 if your proxy sent it, add the proxy's network to `trusted-proxies`, or all its clients share one throttle"
            );
        }
        self.proxies.client_address(peer, forwarded_for.iter().copied())
    }

    /// Whether the warning is due. Of concurrent requests one gets `true`.
    fn may_warn(&self, now: Timestamp) -> bool {
        let now = now.unix_millis();
        let next = self.next_warning.load(Ordering::Relaxed);
        let later = now.saturating_add(WARNING_INTERVAL.as_millis().try_into().unwrap_or(i64::MAX));
        next <= now
            && self.next_warning.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROXY: &str = "10.0.0.1";
    const STRANGER: &str = "198.51.100.7";

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    fn addresses() -> ClientAddresses {
        ClientAddresses::new(TrustedProxies::new(vec!["10.0.0.0/8".parse().unwrap()]))
    }

    /// Whether a request at `now` left the warning due no more.
    fn warned(
        addresses: &ClientAddresses,
        peer: &str,
        forwarded_for: &[&str],
        forwarded: bool,
        now: i64,
    ) -> bool {
        let before = addresses.next_warning.load(Ordering::Relaxed);
        let sender = Sender {
            peer: peer.parse().ok(),
            forwarded_for: forwarded_for.to_vec(),
            has_forwarded: forwarded,
        };
        addresses.of(&sender, at(now));
        addresses.next_warning.load(Ordering::Relaxed) != before
    }

    #[test]
    fn d18_an_untrusted_proxy_is_warned_of_once_an_hour() {
        let addresses = addresses();
        assert!(warned(&addresses, STRANGER, &["203.0.113.9"], false, 0));
        let an_hour = 3_600_000;
        assert!(!warned(&addresses, STRANGER, &["203.0.113.9"], false, an_hour - 1));
        assert!(warned(&addresses, STRANGER, &[], true, an_hour));
    }

    #[test]
    fn d18_trusted_proxies_and_plain_requests_are_not_warned_of() {
        let addresses = addresses();
        assert!(!warned(&addresses, PROXY, &["203.0.113.9"], true, 0));
        assert!(!warned(&addresses, STRANGER, &[], false, 0));
    }
}
