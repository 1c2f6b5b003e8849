//! The client address of a request behind proxies (D18).

use std::net::IpAddr;

use ipnet::IpNet;

/// The proxies whose `X-Forwarded-For` is trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Trusts these networks.
    #[must_use]
    pub const fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    /// The trusted networks.
    pub fn networks(&self) -> impl Iterator<Item = &IpNet> {
        self.0.iter()
    }

    /// Whether a proxy at this address is trusted.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The client's address. If the peer of the connection is not a trusted proxy, it is the peer's.
    /// Otherwise it is the last address in `forwarded_for` that is not a trusted proxy's. `forwarded_for` has
    /// the values of all `X-Forwarded-For` headers in order. Entries that the client wrote itself are left of
    /// the first trusted proxy's entry, so they are never reached.
    ///
    /// ```
    /// # use signpost_domain::TrustedProxies;
    /// let proxies = TrustedProxies::new(vec!["10.0.0.0/8".parse().unwrap()]);
    /// let client = |peer: &str, header| proxies.client_address(peer.parse().unwrap(), [header]).to_string();
    /// assert_eq!(client("10.0.0.1", "6.6.6.6, 203.0.113.9, 10.0.0.2"), "203.0.113.9");
    /// assert_eq!(client("198.51.100.7", "203.0.113.9"), "198.51.100.7");
    /// ```
    pub fn client_address<'a>(
        &self,
        peer: IpAddr,
        forwarded_for: impl IntoIterator<Item = &'a str, IntoIter: DoubleEndedIterator>,
    ) -> IpAddr {
        let mut address = peer.to_canonical();
        for hop in forwarded_for.into_iter().rev().flat_map(|header| header.rsplit(',')) {
            if !self.contains(address) {
                return address;
            }
            // Behind an unreadable entry, no entry can be trusted.
            let Some(next) = parse_hop(hop.trim()) else { return address };
            address = next;
        }
        address
    }
}

/// An address as proxies write it: plain, or with a port; IPv6 with a port is in brackets.
fn parse_hop(hop: &str) -> Option<IpAddr> {
    if let Ok(address) = hop.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    if let Ok(address) = hop.parse::<std::net::SocketAddr>() {
        return Some(address.ip().to_canonical());
    }
    hop.strip_prefix('[')?.strip_suffix(']')?.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, headers: &[&str]) -> String {
        let networks = ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().unwrap());
        let proxies = TrustedProxies::new(networks.to_vec());
        proxies.client_address(peer.parse().unwrap(), headers.iter().copied()).to_string()
    }

    #[test]
    fn d18_the_header_of_an_untrusted_peer_is_ignored() {
        assert_eq!(client("198.51.100.7", &["203.0.113.9"]), "198.51.100.7");
        assert_eq!(client("::ffff:198.51.100.7", &["203.0.113.9"]), "198.51.100.7");
    }

    #[test]
    fn d18_the_nearest_address_that_is_not_a_proxy_counts() {
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["203.0.113.9"]), "203.0.113.9");
        assert_eq!(client("10.0.0.1", &["6.6.6.6, 203.0.113.9", "10.0.0.2,10.0.0.3"]), "203.0.113.9");
        assert_eq!(client("fd00::1", &["[2001:db8::5]:4711"]), "2001:db8::5");
        assert_eq!(client("::ffff:10.0.0.1", &["[2001:db8::5]"]), "2001:db8::5");
        assert_eq!(client("10.0.0.1", &["203.0.113.9:80"]), "203.0.113.9");
    }

    #[test]
    fn d18_entries_behind_an_unreadable_hop_are_ignored() {
        assert_eq!(client("10.0.0.1", &["203.0.113.9, unknown"]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["203.0.113.9, junk, 10.0.0.2"]), "10.0.0.2");
        assert_eq!(client("10.0.0.1", &[""]), "10.0.0.1");
    }
}
