//! Where visitors come from: networks, and hosts of pages that refer to a link.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;

use crate::stored::{self, MalformedStored};
use crate::target_host::TargetHost;
use crate::violation::{FieldError, ViolationCode};

/// The length of the prefix that all IPv4 addresses in the form of IPv6 have: `::ffff:0:0/96`.
const BITS_BEFORE_MAPPED: u8 = 96;

/// A network in CIDR notation.
///
/// ```
/// use signpost_domain::routing::Network;
///
/// let network = Network::parse("192.0.2.7/24").unwrap();
/// assert_eq!(network.to_string(), "192.0.2.0/24");
/// assert!(network.contains("::ffff:192.0.2.200".parse().unwrap()));
/// assert_eq!(Network::parse("2001:db8::1").unwrap().to_string(), "2001:db8::1/128");
/// assert_eq!(Network::parse("::ffff:192.0.2.0/120").unwrap(), network);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Network(IpNet);

impl Network {
    /// Reads a network, or an address as the network that has only it. Bits behind the prefix make no difference. IPv4 addresses in the
    /// form of IPv6 become IPv4 addresses, as those of visitors do. So other networks of IPv6, such as `::/0`, have no IPv4 visitor.
    ///
    /// # Errors
    /// `invalid_format` for anything else.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        Self::read(text).ok_or_else(|| {
            let message = "must be a network such as 192.0.2.0/24 or 2001:db8::/32";
            FieldError::new(ViolationCode::InvalidFormat, message)
        })
    }

    /// Reads a stored network, with the same rule.
    pub fn from_stored(text: &str) -> Result<Self, MalformedStored> {
        Self::read(text).ok_or(MalformedStored("is not a network"))
    }

    fn read(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Self(IpNet::from(address.to_canonical())));
        }
        let network = text.parse::<IpNet>().ok()?.trunc();
        let mapped = match network.network() {
            IpAddr::V6(address) => address.to_ipv4_mapped(),
            IpAddr::V4(_) => None,
        };
        let in_v4 = mapped.zip(network.prefix_len().checked_sub(BITS_BEFORE_MAPPED));
        Some(Self(
            in_v4.and_then(|(address, prefix)| IpNet::new(address.into(), prefix).ok()).unwrap_or(network),
        ))
    }

    /// Whether the network has an address. An IPv4 address in the form of IPv6 is an IPv4 address.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }

    /// The network.
    #[must_use]
    pub const fn net(self) -> IpNet {
        self.0
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The host of a page that refers to a link, which stands for itself and all hosts under it. The empty text is no page: the visitor
/// typed the address, or the browser keeps the page for itself.
///
/// ```
/// use signpost_domain::routing::ReferrerHost;
///
/// let host = ReferrerHost::parse("Example.com").unwrap();
/// assert!(host.covers("example.com") && host.covers("www.example.com"));
/// assert!(!host.covers("anexample.com") && !host.covers(""));
/// assert!(ReferrerHost::parse("").unwrap().covers(""));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReferrerHost(String);

impl ReferrerHost {
    /// Reads a host, as those of targets are written (D24): in ASCII or Unicode, in any letter case.
    ///
    /// # Errors
    /// `invalid_value` if it is neither a host nor empty.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        if text.is_empty() {
            return Ok(Self(String::new()));
        }
        TargetHost::parse(text).map(|host| Self(host.as_str().to_owned()))
    }

    /// Reads a stored host: one line.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::one_line(text).map(Self)
    }

    /// The host in ASCII form and lower case; empty for no page.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the page at `host` is meant, in any letter case; an empty host is no page.
    #[must_use]
    pub fn covers(&self, host: &str) -> bool {
        let own = self.as_str();
        if own.is_empty() || host.is_empty() {
            return own == host;
        }
        let Some(start) = host.len().checked_sub(own.len()) else { return false };
        let is_end = host.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(own));
        is_end && (start == 0 || host.as_bytes().get(start - 1) == Some(&b'.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise such a network would have no visitor, and its negation everyone.
    #[test]
    fn d133_networks_of_mapped_addresses_are_networks_of_ipv4() {
        for (sent, shown) in [
            ("::ffff:192.0.2.0/120", "192.0.2.0/24"),
            ("::ffff:192.0.2.7/120", "192.0.2.0/24"),
            ("::ffff:c000:0207/128", "192.0.2.7/32"),
            ("::ffff:192.0.2.7", "192.0.2.7/32"),
            ("::ffff:0:0/96", "0.0.0.0/0"),
            ("::ffff:0:0/95", "::fffe:0:0/95"),
            ("::/0", "::/0"),
            ("2001:db8::/32", "2001:db8::/32"),
        ] {
            let network = Network::parse(sent).unwrap();
            assert_eq!(network.to_string(), shown, "{sent}");
            assert_eq!(Network::from_stored(sent), Ok(network), "{sent}");
            let is_v4 = shown.contains('.');
            assert_eq!(network.contains("192.0.2.7".parse().unwrap()), is_v4, "{sent}");
        }
    }
}
