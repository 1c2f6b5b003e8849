//! What DNS says about a hostname, and whether that leads to this installation (D39).

use std::collections::BTreeSet;
use std::net::IpAddr;

/// Where DNS leads from a hostname.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostResolution {
    /// The names that its chain of `CNAME` records leads through, in order, at most
    /// [`MAX_CHAIN`](Self::MAX_CHAIN) of them: in lower case, without the trailing dot. They need not be hostnames.
    pub chain: Vec<String>,
    /// The addresses of its `A` and `AAAA` records, or of those at the end of the chain. None at the end of a chain that
    /// is longer, leads round in a circle, or ends where there is nothing.
    pub addresses: BTreeSet<IpAddr>,
}

impl HostResolution {
    /// How many `CNAME` records are followed (D39).
    pub const MAX_CHAIN: usize = 8;
}
