//! Where visitors come from: networks, and hosts of pages that refer to a link.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;

use crate::stored::{self, MalformedStored};
use crate::target_host::TargetHost;
use crate::violation::{FieldError, ViolationCode};

/// A network in CIDR notation.
///
/// ```
/// use signpost_domain::routing::Network;
///
/// let network = Network::parse("192.0.2.7/24").unwrap();
/// assert_eq!(network.to_string(), "192.0.2.0/24");
/// assert!(network.contains("::ffff:192.0.2.200".parse().unwrap()));
/// assert_eq!(Network::parse("2001:db8::1").unwrap().to_string(), "2001:db8::1/128");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Network(IpNet);

impl Network {
    /// Reads a network, or an address as the network that has only it. Bits behind the prefix make no difference.
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
        let network: IpNet = text.parse().ok()?;
        Some(Self(network.trunc()))
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
