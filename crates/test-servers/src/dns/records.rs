//! DNS records and their wire format.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The maximum length of one string of a `TXT` record, in bytes.
const MAX_STRING: usize = 255;

/// A DNS record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// An IPv4 address.
    A(Ipv4Addr),
    /// An IPv6 address.
    Aaaa(Ipv6Addr),
    /// The target of an alias.
    Cname(String),
    /// Strings of at most 255 bytes each.
    Txt(Vec<Vec<u8>>),
    /// Which certificate authorities may issue: flags, tag and value.
    Caa(u8, String, Vec<u8>),
}

impl Record {
    /// A `TXT` record with this text, split into strings of the maximum length.
    #[must_use]
    pub fn text(text: &str) -> Self {
        if text.is_empty() {
            return Self::Txt(vec![Vec::new()]);
        }
        Self::Txt(text.as_bytes().chunks(MAX_STRING).map(<[u8]>::to_vec).collect())
    }

    /// An `A` or `AAAA` record.
    ///
    /// # Panics
    /// If this is not an IP address.
    #[must_use]
    pub fn address(address: &str) -> Self {
        match address.parse().unwrap() {
            IpAddr::V4(address) => Self::A(address),
            IpAddr::V6(address) => Self::Aaaa(address),
        }
    }

    /// A `CNAME` record.
    #[must_use]
    pub fn alias(target: &str) -> Self {
        Self::Cname(target.to_owned())
    }

    /// A `CAA` record that is not critical.
    #[must_use]
    pub fn caa(tag: &str, value: &str) -> Self {
        Self::Caa(0, tag.to_owned(), value.as_bytes().to_vec())
    }

    pub(super) const fn type_number(&self) -> u16 {
        match self {
            Self::A(_) => 1,
            Self::Cname(_) => CNAME,
            Self::Txt(_) => 16,
            Self::Aaaa(_) => 28,
            Self::Caa(..) => 257,
        }
    }

    /// The data of the record, after its length.
    pub(super) fn data(&self) -> Vec<u8> {
        match self {
            Self::A(address) => address.octets().to_vec(),
            Self::Aaaa(address) => address.octets().to_vec(),
            Self::Cname(target) => name(target),
            Self::Txt(strings) => strings.iter().flat_map(|string| prefixed(string)).collect(),
            Self::Caa(flags, tag, value) => {
                std::iter::once(*flags).chain(prefixed(tag.as_bytes())).chain(value.iter().copied()).collect()
            }
        }
    }
}

pub(super) const CNAME: u16 = 5;
pub(super) const NS: u16 = 2;
pub(super) const SOA: u16 = 6;

/// A name as labels.
pub(super) fn name(text: &str) -> Vec<u8> {
    let labels = text.split('.').filter(|label| !label.is_empty());
    labels.flat_map(|label| prefixed(label.as_bytes())).chain([0]).collect()
}

fn prefixed(bytes: &[u8]) -> impl Iterator<Item = u8> {
    let length = u8::try_from(bytes.len()).expect("at most 255 bytes");
    std::iter::once(length).chain(bytes.iter().copied())
}
