//! What DNS says about a hostname (D39), and about the `TXT` records of a name (D38).

use std::collections::BTreeSet;
use std::net::IpAddr;

/// Where a hostname leads in DNS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostResolution {
    /// The names in its chain of `CNAME` records, in order, at most [`MAX_CHAIN`](Self::MAX_CHAIN): in lower
    /// case, without the trailing dot. They need not be hostnames.
    pub chain: Vec<String>,
    /// The addresses of its `A` and `AAAA` records, or of those at the end of the chain. Empty if the chain
    /// is longer, is a loop, or leads to no address.
    pub addresses: BTreeSet<IpAddr>,
}

impl HostResolution {
    /// The maximum number of `CNAME` records that are followed (D39).
    pub const MAX_CHAIN: usize = 8;

    /// Whether DNS has neither an alias nor an address at the hostname.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chain.is_empty() && self.addresses.is_empty()
    }
}

/// The `TXT` records of a name in DNS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextResolution {
    /// The names in the name's chain of `CNAME` records, as in [`HostResolution::chain`].
    pub chain: Vec<String>,
    /// The values at the name, or at the end of the chain, in any order.
    pub texts: Vec<String>,
}
