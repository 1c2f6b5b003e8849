//! Tiny databases in MaxMind's format, with the structure of GeoLite2-Country.
//!
//! The format is public (maxmind.github.io/MaxMind-DB): a binary tree of address bits, 16 zero bytes, the records, a marker
//! and the metadata.

use std::net::IpAddr;

/// The record of a network.
#[derive(Debug, Clone, Copy, Default)]
pub struct Located {
    /// The country of its addresses.
    pub country: Option<&'static str>,
    /// The country of its registration.
    pub registered_country: Option<&'static str>,
}

impl Located {
    /// A network in `country` that is registered there.
    #[must_use]
    pub const fn in_country(country: &'static str) -> Self {
        Self { country: Some(country), registered_country: Some(country) }
    }
}

/// The marker before the metadata.
const MARKER: &[u8] = b"\xab\xcd\xefMaxMind.com";

/// The zero bytes between the tree and the records.
const SEPARATOR: usize = 16;

/// The build time in the metadata of the databases: 2026-11-01.
pub const BUILT_AT: u64 = 1_793_491_200;

/// A database of these networks, written like `192.0.2.0/24`. The smallest of nested networks wins.
#[must_use]
pub fn country_database(networks: &[(&str, Located)]) -> Vec<u8> {
    let mut networks: Vec<_> = networks.iter().map(|(network, located)| (bits(network), *located)).collect();
    networks.sort_by_key(|(bits, _)| bits.len());
    let mut records = Vec::new();
    let mut tree = vec![[Child::Nothing; 2]];
    for (bits, located) in &networks {
        let record = records.len();
        records.extend(record_of(*located));
        insert(&mut tree, bits, Child::Record(record));
    }
    let mut file = Vec::new();
    for child in tree.iter().flatten() {
        let number = match child {
            Child::Nothing => tree.len(),
            Child::Node(node) => *node,
            Child::Record(offset) => tree.len() + SEPARATOR + offset,
        };
        file.extend(&u32::try_from(number).unwrap().to_be_bytes()[1..]);
    }
    file.extend([0; SEPARATOR]);
    file.extend(records);
    file.extend(MARKER);
    file.extend(about_the_file(tree.len()));
    file
}

#[derive(Debug, Clone, Copy)]
enum Child {
    Nothing,
    Node(usize),
    Record(usize),
}

/// The bits of a network's prefix. IPv4 addresses are the last 32 bits of IPv6 ones.
fn bits(network: &str) -> Vec<usize> {
    let (address, length) = network.split_once('/').expect("a network is written with a slash");
    let length: usize = length.parse().expect("the length of a prefix");
    let (number, length) = match address.parse().expect("an address") {
        IpAddr::V4(address) => (u128::from(u32::from(address)), 96 + length),
        IpAddr::V6(address) => (u128::from(address), length),
    };
    (0..length).map(|place| usize::from(number >> (127 - place) & 1 == 1)).collect()
}

fn insert(tree: &mut Vec<[Child; 2]>, bits: &[usize], record: Child) {
    let (last, path) = bits.split_last().expect("a network is smaller than everything");
    let mut node = 0;
    for bit in path {
        node = match tree[node][*bit] {
            Child::Node(next) => next,
            // The record of a larger network applies to both halves.
            larger => {
                tree.push([larger; 2]);
                let next = tree.len() - 1;
                tree[node][*bit] = Child::Node(next);
                next
            }
        };
    }
    tree[node][*last] = record;
}

fn record_of(located: Located) -> Vec<u8> {
    let Located { country, registered_country } = located;
    let country_of = |code: &str| {
        map(&[
            ("geoname_id", unsigned(6, 2_921_044)),
            ("iso_code", text(code)),
            ("names", map(&[("en", text(code))])),
        ])
    };
    let members = [("country", country), ("registered_country", registered_country)];
    let members: Vec<_> =
        members.into_iter().filter_map(|(key, code)| Some((key, country_of(code?)))).collect();
    map(&members)
}

fn about_the_file(nodes: usize) -> Vec<u8> {
    map(&[
        ("binary_format_major_version", unsigned(5, 2)),
        ("binary_format_minor_version", unsigned(5, 0)),
        ("build_epoch", unsigned(9, BUILT_AT)),
        ("database_type", text("GeoLite2-Country")),
        ("description", map(&[("en", text("A test's countries"))])),
        ("ip_version", unsigned(5, 6)),
        ("languages", control(11, 1).into_iter().chain(text("en")).collect()),
        ("node_count", unsigned(6, u64::try_from(nodes).unwrap())),
        ("record_size", unsigned(5, 24)),
    ])
}

/// The head of a value: its type and its size. Types above 7 take a second byte.
fn control(kind: u8, size: usize) -> Vec<u8> {
    assert!(size < 29, "sizes beyond the first byte are not supported");
    let size = u8::try_from(size).unwrap();
    if kind > 7 { vec![size, kind - 7] } else { vec![kind << 5 | size] }
}

fn text(text: &str) -> Vec<u8> {
    let mut value = control(2, text.len());
    value.extend(text.bytes());
    value
}

fn unsigned(kind: u8, number: u64) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let digits = &bytes[bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len())..];
    let mut value = control(kind, digits.len());
    value.extend(digits);
    value
}

fn map(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut value = control(7, members.len());
    for (key, member) in members {
        value.extend(text(key));
        value.extend(member);
    }
    value
}
