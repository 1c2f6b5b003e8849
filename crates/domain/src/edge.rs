//! The edge: the hostname and addresses of this installation that custom domains have to point to (D38, D39).

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::host_resolution::HostResolution;
use crate::hostname::Hostname;

/// The edge as configured by the operator. With neither a hostname nor addresses, no domain can point here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edge {
    /// The target of `CNAME` records (setting `edge-hostname`).
    pub hostname: Option<Hostname>,
    /// The targets of `A` and `AAAA` records (setting `edge-addresses`).
    pub addresses: BTreeSet<IpAddr>,
}

impl Edge {
    /// Whether accounts can connect domains (D61): a subdomain needs the hostname (D38).
    #[must_use]
    pub const fn can_be_pointed_at(&self) -> bool {
        self.hostname.is_some()
    }

    /// Whether a hostname with this resolution points at the edge (D39). Either its chain reaches the edge
    /// hostname within [`HostResolution::MAX_CHAIN`] records. Or it has addresses, and each is an edge
    /// address or one of `edge_addresses_by_dns`.
    ///
    /// `edge_addresses_by_dns` are the addresses that DNS has for the edge hostname. They matter only if
    /// [`needs_edge_addresses`](Self::needs_edge_addresses) returns true. One foreign address is enough for
    /// "no", because some visitors would be sent there.
    #[must_use]
    pub fn points_here(&self, resolution: &HostResolution, edge_addresses_by_dns: &BTreeSet<IpAddr>) -> bool {
        let is_ours = |address: &IpAddr| self.has(*address, edge_addresses_by_dns);
        self.is_reached_by(resolution)
            || (!resolution.addresses.is_empty() && resolution.addresses.iter().all(is_ours))
    }

    /// Whether an address is an edge address, by the settings or by DNS.
    pub(crate) fn has(&self, address: IpAddr, edge_addresses_by_dns: &BTreeSet<IpAddr>) -> bool {
        self.addresses.contains(&address) || edge_addresses_by_dns.contains(&address)
    }

    /// Whether the addresses of the edge hostname are needed to decide if `resolution` points here, so that
    /// DNS must be asked for them. They are if an edge hostname exists, the chain does not reach it, and not
    /// all addresses are configured ones.
    #[must_use]
    pub fn needs_edge_addresses(&self, resolution: &HostResolution) -> bool {
        self.hostname.is_some()
            && !resolution.addresses.is_empty()
            && !self.points_here(resolution, &BTreeSet::new())
    }

    fn is_reached_by(&self, resolution: &HostResolution) -> bool {
        self.hostname.as_ref().is_some_and(|edge| {
            resolution.chain.iter().take(HostResolution::MAX_CHAIN).any(|name| name == edge.as_str())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(list: &[&str]) -> BTreeSet<IpAddr> {
        list.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn resolution(chain: &[&str], list: &[&str]) -> HostResolution {
        HostResolution {
            chain: chain.iter().map(|&name| name.to_owned()).collect(),
            addresses: addresses(list),
        }
    }

    fn edge() -> Edge {
        Edge {
            hostname: Some(Hostname::parse("edge.example.com").unwrap()),
            addresses: addresses(&["192.0.2.1", "2001:db8::1"]),
        }
    }

    /// Whether it points here, and whether the addresses of the edge hostname were needed.
    fn points_here(edge: &Edge, resolution: &HostResolution) -> (bool, bool) {
        let by_dns = addresses(&["198.51.100.7"]);
        (edge.points_here(resolution, &by_dns), edge.needs_edge_addresses(resolution))
    }

    #[test]
    fn d39_a_chain_that_reaches_the_edge_hostname_points_here() {
        let elsewhere = ["203.0.113.9"];
        for chain in
            [&["edge.example.com"][..], &["a.net", "edge.example.com"], &["edge.example.com", "a.net"]]
        {
            assert_eq!(points_here(&edge(), &resolution(chain, &elsewhere)), (true, false), "{chain:?}");
            // The end of the chain makes no difference.
            assert_eq!(points_here(&edge(), &resolution(chain, &[])), (true, false), "{chain:?}");
        }
        for chain in [&["a.edge.example.com"][..], &["example.com"], &["edge.example.com.evil.net"]] {
            assert_eq!(points_here(&edge(), &resolution(chain, &elsewhere)), (false, true), "{chain:?}");
            assert_eq!(points_here(&edge(), &resolution(chain, &[])), (false, false), "{chain:?}");
        }
    }

    #[test]
    fn d39_a_chain_counts_as_far_as_its_eighth_name() {
        let mut chain = vec!["a.net"; 7];
        chain.push("edge.example.com");
        assert!(edge().points_here(&resolution(&chain, &[]), &BTreeSet::new()));
        chain.insert(0, "a.net");
        assert!(!edge().points_here(&resolution(&chain, &[]), &BTreeSet::new()));
    }

    #[test]
    fn d39_all_addresses_must_be_the_edges() {
        for (list, expected) in [
            (&["192.0.2.1"][..], (true, false)),
            (&["192.0.2.1", "2001:db8::1"], (true, false)),
            (&["198.51.100.7"], (true, true)),
            (&["192.0.2.1", "198.51.100.7"], (true, true)),
            (&["192.0.2.1", "203.0.113.9"], (false, true)),
            (&["203.0.113.9"], (false, true)),
            (&["::ffff:192.0.2.1"], (false, true)),
            (&[], (false, false)),
        ] {
            assert_eq!(points_here(&edge(), &resolution(&[], list)), expected, "{list:?}");
            assert_eq!(points_here(&edge(), &resolution(&["a.net"], list)), expected, "{list:?}");
        }
    }

    #[test]
    fn d39_without_an_edge_hostname_the_configured_addresses_decide() {
        let edge = Edge { hostname: None, ..edge() };
        for (list, expected) in
            [(&["192.0.2.1"][..], true), (&["192.0.2.1", "203.0.113.9"], false), (&[], false)]
        {
            let resolution = resolution(&["edge.example.com"], list);
            assert_eq!(edge.points_here(&resolution, &BTreeSet::new()), expected, "{list:?}");
            assert!(!edge.needs_edge_addresses(&resolution), "{list:?}");
        }
    }

    #[test]
    fn d39_nothing_points_at_an_unconfigured_edge() {
        let edge = Edge::default();
        for resolution in [resolution(&[], &[]), resolution(&["a.net"], &["192.0.2.1"])] {
            assert!(!edge.points_here(&resolution, &BTreeSet::new()));
            assert!(!edge.needs_edge_addresses(&resolution));
        }
    }
}
