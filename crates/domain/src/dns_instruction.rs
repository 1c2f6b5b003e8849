//! The DNS records that an account has to add for a hostname (D38).

use std::fmt;
use std::net::IpAddr;

use crate::edge::Edge;
use crate::hostname::Hostname;
use crate::id::AccountId;
use crate::public_suffix::is_apex;
use crate::verification_token::VerificationRecord;

/// The type of a record, as named in the forms of DNS providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DnsRecordType {
    /// An IPv4 address.
    A,
    /// An IPv6 address.
    Aaaa,
    /// An alias of another name.
    Cname,
    /// A type that many providers offer where a `CNAME` is not possible: they look up the name and answer
    /// with its addresses. It is not a type of DNS itself.
    Alias,
    /// Text.
    Txt,
}

impl DnsRecordType {
    /// All types.
    pub const ALL: [Self; 5] = [Self::A, Self::Aaaa, Self::Cname, Self::Alias, Self::Txt];

    /// The name in API answers, in capitals.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::Aaaa => "AAAA",
            Self::Cname => "CNAME",
            Self::Alias => "ALIAS",
            Self::Txt => "TXT",
        }
    }
}

impl fmt::Display for DnsRecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One record to add (contract "Domain").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DnsInstruction {
    /// The record's type.
    pub record_type: DnsRecordType,
    /// The record's full name, without a trailing dot.
    pub name: String,
    /// The record's value: an address, a name without a trailing dot, or a text without quotation marks.
    pub value: String,
    /// The purpose of the record, in a sentence for people.
    pub purpose: &'static str,
}

/// The records with which `account` points `hostname` at `edge` and proves it: first the records that lead
/// visitors here, then the `TXT` record (D38).
///
/// A subdomain gets a `CNAME` to the edge hostname. At an apex DNS allows no `CNAME`, so it gets an address
/// record for each address of the edge. If the operator configured no addresses, it gets an `ALIAS` to the
/// edge hostname. Without an edge hostname, both get address records. With neither, the only record is the
/// `TXT` record.
///
/// ```
/// use std::collections::BTreeSet;
/// use signpost_domain::{Edge, Hostname, Id, dns_instructions};
///
/// let edge = Edge { hostname: Hostname::parse("edge.example.com").ok(), addresses: BTreeSet::new() };
/// let records = dns_instructions(&edge, Id::from_bytes([1; 16]), &Hostname::parse("go.shop.com").unwrap());
/// let types: Vec<_> = records.iter().map(|record| record.record_type.as_str()).collect();
/// assert_eq!(types, ["CNAME", "TXT"]);
/// ```
#[must_use]
pub fn dns_instructions(edge: &Edge, account: AccountId, hostname: &Hostname) -> Vec<DnsInstruction> {
    let Edge { hostname: edge_hostname, addresses } = edge;
    let mut records = match edge_hostname {
        Some(target) if !is_apex(hostname) => vec![DnsInstruction {
            record_type: DnsRecordType::Cname,
            name: hostname.to_string(),
            value: target.to_string(),
            purpose: "Sends the visitors of this hostname to your links. Remove other records of the same name.",
        }],
        Some(target) if addresses.is_empty() => vec![DnsInstruction {
            record_type: DnsRecordType::Alias,
            name: hostname.to_string(),
            value: target.to_string(),
            purpose: "Sends the visitors of this hostname to your links. DNS providers call such a record ALIAS, ANAME or \
                      flattened CNAME.",
        }],
        Some(_) | None => addresses.iter().map(|address| address_record(hostname, *address)).collect(),
    };
    let proof = VerificationRecord::of(account, hostname);
    records.push(DnsInstruction {
        record_type: DnsRecordType::Txt,
        name: proof.name(),
        value: proof.value(),
        purpose: "Proves that the hostname is yours.",
    });
    records
}

fn address_record(hostname: &Hostname, address: IpAddr) -> DnsInstruction {
    DnsInstruction {
        record_type: match address {
            IpAddr::V4(_) => DnsRecordType::A,
            IpAddr::V6(_) => DnsRecordType::Aaaa,
        },
        name: hostname.to_string(),
        value: address.to_string(),
        purpose: "Sends the visitors of this hostname to your links. Remove A and AAAA records with other addresses.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    const NAME: &str = "edge.example.com";

    /// The records for `hostname` as `TYPE name value`, without the last one. That is the `TXT` record that
    /// every hostname gets, and is checked here.
    fn pointing(edge_hostname: Option<&str>, addresses: &[&str], hostname: &str) -> Vec<String> {
        let edge = Edge {
            hostname: edge_hostname.map(|name| Hostname::parse(name).unwrap()),
            addresses: addresses.iter().map(|text| text.parse().unwrap()).collect(),
        };
        let account = Id::from_bytes([1; 16]);
        let hostname = Hostname::parse(hostname).unwrap();
        let mut records = dns_instructions(&edge, account, &hostname);
        let txt = records.pop().unwrap();
        let proof = VerificationRecord::of(account, &hostname);
        assert_eq!((txt.record_type, txt.name, txt.value), (DnsRecordType::Txt, proof.name(), proof.value()));
        records
            .iter()
            .map(|record| format!("{} {} {}", record.record_type, record.name, record.value))
            .collect()
    }

    #[test]
    fn d38_a_subdomain_gets_a_cname() {
        for hostname in ["go.shop.com", "go.shop.co.uk", "a.b.shop.github.io", "go.shop.zzzz"] {
            let expected = [format!("CNAME {hostname} edge.example.com")];
            assert_eq!(pointing(Some(NAME), &["192.0.2.1"], hostname), expected);
            assert_eq!(pointing(Some(NAME), &[], hostname), expected);
        }
    }

    #[test]
    fn d38_an_apex_gets_a_record_for_each_address() {
        for hostname in ["shop.com", "shop.co.uk", "shop.github.io", "shop.zzzz"] {
            let expected = [
                format!("A {hostname} 192.0.2.1"),
                format!("A {hostname} 192.0.2.2"),
                format!("AAAA {hostname} 2001:db8::1"),
            ];
            let addresses = ["2001:db8::1", "192.0.2.2", "192.0.2.1"];
            assert_eq!(pointing(Some(NAME), &addresses, hostname), expected);
            assert_eq!(pointing(None, &addresses, hostname), expected);
        }
    }

    #[test]
    fn d38_an_apex_without_addresses_gets_an_alias() {
        assert_eq!(pointing(Some(NAME), &[], "shop.co.uk"), ["ALIAS shop.co.uk edge.example.com"]);
    }

    #[test]
    fn d38_without_an_edge_hostname_a_subdomain_gets_addresses_too() {
        assert_eq!(pointing(None, &["192.0.2.1"], "go.shop.com"), ["A go.shop.com 192.0.2.1"]);
        assert_eq!(pointing(None, &[], "go.shop.com"), [""; 0]);
    }

    /// A hostname that follows the instructions points here (contract D38, D39).
    #[test]
    fn d39_an_apex_with_the_addresses_of_its_instructions_points_here() {
        let edge = Edge {
            hostname: Hostname::parse(NAME).ok(),
            addresses: ["192.0.2.1", "2001:db8::1"].iter().map(|text| text.parse().unwrap()).collect(),
        };
        let records = dns_instructions(&edge, Id::from_bytes([1; 16]), &Hostname::parse("shop.com").unwrap());
        let addresses = records.iter().filter_map(|record| record.value.parse().ok()).collect();
        let resolution = crate::HostResolution { chain: vec![], addresses };
        assert_eq!(resolution.addresses.len(), 2);
        assert!(edge.points_here(&resolution, &std::collections::BTreeSet::new()));
    }
}
