//! IPv4 addresses within IPv6 addresses.
//!
//! Without this, a target could avoid a rule about an IPv4 address by naming the same host with an IPv6
//! address.

use std::net::{Ipv4Addr, Ipv6Addr};

/// What an IPv6 address says about the IPv4 address within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Embedded {
    /// A connection to the IPv6 address reaches the host with this IPv4 address.
    SameNode(Ipv4Addr),
    /// The IPv6 address is in the network behind this IPv4 address.
    RouterOf(Ipv4Addr),
}

/// The prefix of IPv4-compatible addresses (RFC 4291 section 2.5.5.1).
const COMPATIBLE: [u16; 6] = [0; 6];

/// The prefix of IPv4-mapped addresses (RFC 4291 section 2.5.5.2): operating systems connect to them by IPv4.
const MAPPED: [u16; 6] = [0, 0, 0, 0, 0, 0xffff];

/// The well-known prefix of NAT64 gateways (RFC 6052 section 2.1).
const NAT64: [u16; 6] = [0x64, 0xff9b, 0, 0, 0, 0];

/// The IPv4 address within `host`, if `host` is an IPv6 address in brackets that has one. All spellings of an
/// IPv6 address give the same result.
pub(crate) fn of(host: &str) -> Option<Embedded> {
    let address: Ipv6Addr = host.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
    let [first, second, third, fourth, fifth, sixth, upper, lower] = address.segments();
    match [first, second, third, fourth, fifth, sixth] {
        // `::` and `::1` have no IPv4 address.
        COMPATIBLE if upper == 0 && lower <= 1 => None,
        COMPATIBLE | MAPPED | NAT64 => Some(Embedded::SameNode(joined(upper, lower))),
        // 6to4 (RFC 3056 section 2).
        [0x2002, upper, lower, ..] => Some(Embedded::RouterOf(joined(upper, lower))),
        _ => None,
    }
}

fn joined(upper: u16, lower: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(upper) << 16 | u32::from(lower))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn same(address: &str) -> Embedded {
        Embedded::SameNode(address.parse().unwrap())
    }

    fn router(address: &str) -> Embedded {
        Embedded::RouterOf(address.parse().unwrap())
    }

    #[test]
    fn d24_addresses_that_lead_to_an_ipv4_address_are_known() {
        for (host, embedded) in [
            ("[::ffff:127.0.0.1]", same("127.0.0.1")),
            ("[::ffff:7f00:1]", same("127.0.0.1")),
            ("[0:0:0:0:0:FFFF:7F00:0001]", same("127.0.0.1")),
            ("[::ffff:0.0.0.0]", same("0.0.0.0")),
            ("[::127.0.0.1]", same("127.0.0.1")),
            ("[::7f00:1]", same("127.0.0.1")),
            ("[::0.0.0.2]", same("0.0.0.2")),
            ("[64:ff9b::192.0.2.1]", same("192.0.2.1")),
            ("[2002:c000:201::1]", router("192.0.2.1")),
            ("[2002:c000:201:ffff::]", router("192.0.2.1")),
        ] {
            assert_eq!(of(host), Some(embedded), "{host}");
        }
    }

    #[test]
    fn other_hosts_hold_no_ipv4_address() {
        for host in [
            "[::]",
            "[::1]",
            "[::fffe:127.0.0.1]",
            "[::1:ffff:127.0.0.1]",
            "[1::ffff:127.0.0.1]",
            "[::ffff:127.0.0.1",
            "::ffff:127.0.0.1",
            "[64:ff9b:1::192.0.2.1]",
            "[64:ff9b:0:0:0:1:192.0.2.1]",
            "[2001:db8::192.0.2.1]",
            "[2003:c000:201::1]",
            "127.0.0.1",
            "ffff.example",
            "",
        ] {
            assert_eq!(of(host), None, "{host}");
        }
    }

    proptest! {
        #[test]
        fn every_ipv4_address_is_found_in_its_mapped_form(address: Ipv4Addr) {
            prop_assert_eq!(of(&format!("[{}]", address.to_ipv6_mapped())), Some(Embedded::SameNode(address)));
        }
    }
}
