//! Addresses of providers that answer for a hostname in place of its records.

use std::net::IpAddr;
use std::sync::LazyLock;

use ipnet::IpNet;

/// The networks that Cloudflare publishes as those of its proxy. It serves most hostnames whose owners leave a proxy on, and
/// the switch is on by default there.
static PROXIES: LazyLock<Vec<IpNet>> = LazyLock::new(|| {
    let networks = [
        "173.245.48.0/20",
        "103.21.244.0/22",
        "103.22.200.0/22",
        "103.31.4.0/22",
        "141.101.64.0/18",
        "108.162.192.0/18",
        "190.93.240.0/20",
        "188.114.96.0/20",
        "197.234.240.0/22",
        "198.41.128.0/17",
        "162.158.0.0/15",
        "104.16.0.0/13",
        "104.24.0.0/14",
        "172.64.0.0/13",
        "131.0.72.0/22",
        "2400:cb00::/32",
        "2606:4700::/32",
        "2803:f800::/32",
        "2405:b500::/32",
        "2405:8100::/32",
        "2a06:98c0::/29",
        "2c0f:f248::/32",
    ];
    networks.iter().filter_map(|network| network.parse().ok()).collect()
});

/// Whether the address is one of a proxy, so that nobody sees the records behind it.
pub(crate) fn is_proxy(address: IpAddr) -> bool {
    PROXIES.iter().any(|network| network.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d65_proxies_are_known_by_their_networks() {
        assert_eq!(PROXIES.len(), 22, "every network is readable");
        for (address, expected) in [
            ("104.16.0.1", true),
            ("104.27.255.255", true),
            ("104.28.0.1", false),
            ("2606:4700::6810:1", true),
            ("192.0.2.1", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(is_proxy(address.parse().unwrap()), expected, "{address}");
        }
    }
}
