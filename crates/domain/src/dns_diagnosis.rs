//! What an answer of DNS says about each record that an account has to add (D65).

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::dns_instruction::{DnsInstruction, DnsRecordType, dns_instructions};
use crate::dns_observation::{RecordFinding, RecordMistake, RecordStatus, SeenRecord};
use crate::dns_proxies::is_proxy;
use crate::edge::Edge;
use crate::host_resolution::{HostResolution, TextResolution};
use crate::hostname::Hostname;
use crate::id::AccountId;
use crate::public_suffix::zone_of;
use crate::verification_token::{VALUE_PREFIX, VerificationRecord};

/// The shortest value that counts as the beginning of a record's: with 8 hexadecimal characters of the token, so that one in
/// four billion tokens of other accounts begins the same.
const SHORTEST_CUT_OFF: usize = VALUE_PREFIX.len() + 8;

/// `TXT` values at names at which people put the record by mistake.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Misplaced {
    /// Those at [`with_the_zone_twice`] of the record's name.
    pub below_the_zone_twice: Vec<String>,
    /// Those at the hostname itself.
    pub at_the_hostname: Vec<String>,
}

/// What the `TXT` values at the name of `record` say about it.
///
/// The values may include the token of another account that claims the hostname too. It may be shown: it is
/// public in DNS, and proves the hostname only for that other account. The record itself comes first, then
/// similar values, so that a zone with many values does not hide them. If the record is not found, the alias of
/// its name precedes them, because no record can be added beside an alias.
///
/// `elsewhere` has the `TXT` values at names where the record is found by mistake.
#[must_use]
pub fn seen_proof(record: &VerificationRecord, found: &TextResolution, elsewhere: &Misplaced) -> SeenRecord {
    let TextResolution { chain, texts } = found;
    let ours = record.value();
    let is_ours = |value: &String| record.is_among(std::slice::from_ref(value));
    let is_damaged = |value: &String| damage(value, &ours).is_some();
    let mut values: Vec<&String> = texts.iter().collect();
    // Name servers return records in any order. Sorting makes the result always the same.
    values.sort_by_key(|value| (!is_ours(value), !is_damaged(value), !looks_alike(value), *value));
    values.dedup();
    let is_found = values.first().is_some_and(|first| is_ours(first));
    let alias = chain.first().filter(|_| !is_found);
    let mistake = proof_mistake(record, &values, alias.is_some(), elsewhere);
    let observed: Vec<&String> = alias.into_iter().chain(values).collect();
    let status = if is_found {
        RecordStatus::Found
    } else if observed.is_empty() {
        RecordStatus::Missing
    } else {
        RecordStatus::Wrong
    };
    let finding = RecordFinding::new(status, observed).explained_by(mistake);
    SeenRecord { record_type: DnsRecordType::Txt, value: ours, finding }
}

/// Why `record` is not found, if it is not, where its name has these `TXT` values.
fn proof_mistake(
    record: &VerificationRecord,
    values: &[&String],
    has_alias: bool,
    elsewhere: &Misplaced,
) -> Option<RecordMistake> {
    let ours = record.value();
    if values.iter().any(|value| is_quoted(value, &ours)) {
        return Some(RecordMistake::QuotationMarks);
    }
    let Misplaced { below_the_zone_twice, at_the_hostname } = elsewhere;
    if record.is_among(below_the_zone_twice) {
        Some(RecordMistake::ZoneTwice)
    } else if record.is_among(at_the_hostname) {
        Some(RecordMistake::AtTheHostname)
    } else if let Some(damage) = values.iter().find_map(|value| damage(value, &ours)) {
        Some(damage)
    } else if has_alias {
        Some(RecordMistake::AliasInstead)
    } else {
        values.iter().any(|value| looks_alike(value)).then_some(RecordMistake::OtherToken)
    }
}

/// Whether a value begins as the value of a record does, in any letter case.
fn looks_alike(value: &str) -> bool {
    let start = value.trim_start().get(..VALUE_PREFIX.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(VALUE_PREFIX))
}

/// The mistake that turned `expected`, the value of a record, into this one.
fn damage(value: &str, expected: &str) -> Option<RecordMistake> {
    let value = value.trim();
    if value == expected {
        None
    } else if value.eq_ignore_ascii_case(expected) {
        Some(RecordMistake::LetterCase)
    } else {
        let start = expected.get(..value.len()).filter(|_| value.len() >= SHORTEST_CUT_OFF);
        let is_cut_off = start.is_some_and(|start| start.eq_ignore_ascii_case(value));
        is_cut_off.then_some(RecordMistake::CutOff)
    }
}

/// The name of a record that was entered in full where the provider adds the zone: `go.example.com.example.com`. `None` if no
/// zone can have the name.
#[must_use]
pub fn with_the_zone_twice(hostname: &Hostname, name: &str) -> Option<String> {
    let name = format!("{name}.{}", zone_of(hostname)?);
    (name.len() <= Hostname::MAX_CHARS).then_some(name)
}

/// Whether a value is `expected` within quotation marks, perhaps with the escapes of a zone file.
fn is_quoted(value: &str, expected: &str) -> bool {
    let is_mark = |character: char| "\"'`\\“”„‘’«»".contains(character) || character.is_whitespace();
    value.trim() != expected && value.trim_matches(is_mark) == expected
}

/// What DNS says about each record that points a hostname at the edge. `edge_addresses_by_dns` is as for
/// [`Edge::points_here`], whose decision this explains. If the decision is "yes", no record is `wrong`; if it
/// is "no", at least one is not `found`.
///
/// `below_the_zone_twice` is where [`with_the_zone_twice`] of the hostname leads.
#[must_use]
pub fn seen_pointing(
    edge: &Edge,
    account: AccountId,
    hostname: &Hostname,
    resolution: &HostResolution,
    edge_addresses_by_dns: &BTreeSet<IpAddr>,
    below_the_zone_twice: Option<&HostResolution>,
) -> Vec<SeenRecord> {
    let (ours, foreign): (Vec<IpAddr>, Vec<IpAddr>) =
        resolution.addresses.iter().partition(|address| edge.has(**address, edge_addresses_by_dns));
    let alias = resolution.chain.first().map(String::as_str);
    let is_alias_quoted = || {
        let edge = edge.hostname.as_ref().map(Hostname::as_str);
        alias.zip(edge).is_some_and(|(alias, edge)| is_quoted(alias, edge))
    };
    let is_below_the_zone_twice =
        || below_the_zone_twice.is_some_and(|resolution| edge.points_here(resolution, edge_addresses_by_dns));
    let mistake = if is_alias_quoted() {
        Some(RecordMistake::QuotationMarks)
    } else if is_below_the_zone_twice() {
        Some(RecordMistake::ZoneTwice)
    } else if alias.is_some() {
        Some(RecordMistake::OtherAlias)
    } else if foreign.is_empty() {
        None
    } else if foreign.iter().all(|address| is_proxy(*address)) {
        Some(RecordMistake::Proxied)
    } else {
        Some(RecordMistake::OldAddresses)
    };
    let pointing = Pointing {
        edge,
        mistake,
        points_here: edge.points_here(resolution, edge_addresses_by_dns),
        alias,
        ours,
        foreign,
    };
    let instructions = dns_instructions(edge, account, hostname).into_iter();
    instructions.filter_map(|instruction| pointing.seen(instruction)).collect()
}

/// Where a hostname leads.
struct Pointing<'a> {
    edge: &'a Edge,
    mistake: Option<RecordMistake>,
    points_here: bool,
    /// The name that the hostname itself is an alias of. Further aliases of the chain are shown elsewhere.
    alias: Option<&'a str>,
    ours: Vec<IpAddr>,
    foreign: Vec<IpAddr>,
}

impl Pointing<'_> {
    fn seen(&self, instruction: DnsInstruction) -> Option<SeenRecord> {
        let DnsInstruction { record_type, value, name: _, purpose: _ } = instruction;
        let finding = match record_type {
            DnsRecordType::Cname | DnsRecordType::Alias => self.seen_alias(),
            DnsRecordType::A | DnsRecordType::Aaaa => self.seen_address(value.parse().ok()?),
            DnsRecordType::Txt => return None,
        };
        Some(SeenRecord { record_type, value, finding: finding.explained_by(self.mistake) })
    }

    /// Addresses instead of an alias count too, if they all belong to the edge: providers flatten aliases.
    fn seen_alias(&self) -> RecordFinding {
        if let Some(alias) = self.alias {
            return RecordFinding::new(self.found_or(RecordStatus::Wrong), [alias]);
        }
        let addresses = texts(self.foreign.iter().chain(&self.ours));
        let otherwise = if addresses.is_empty() { RecordStatus::Missing } else { RecordStatus::Wrong };
        RecordFinding::new(self.found_or(otherwise), addresses)
    }

    fn seen_address(&self, address: IpAddr) -> RecordFinding {
        let foreign: Vec<&IpAddr> =
            self.foreign.iter().filter(|other| self.concerns(**other, address)).collect();
        let ours = self.ours.iter().filter(|other| other.is_ipv4() == address.is_ipv4());
        let is_there = self.ours.contains(&address);
        let status = if self.points_here {
            // DNS allows no other records beside an alias.
            if is_there || self.alias.is_some() { RecordStatus::Found } else { RecordStatus::Missing }
        } else if !foreign.is_empty() || (self.alias.is_some() && !is_there) {
            RecordStatus::Wrong
        } else if is_there {
            RecordStatus::Found
        } else {
            RecordStatus::Missing
        };
        let addresses = texts(foreign.iter().copied().chain(ours));
        RecordFinding::new(status, self.alias.map(str::to_owned).into_iter().chain(addresses))
    }

    /// Whether a foreign address is shown in place of the record of `address`. It is shown if both are of the
    /// same family. It is also shown if the edge has no address of its family, because no other instruction
    /// would show it then.
    fn concerns(&self, foreign: IpAddr, address: IpAddr) -> bool {
        let is_like = |other: &IpAddr| other.is_ipv4() == foreign.is_ipv4();
        is_like(&address) || !self.edge.addresses.iter().any(is_like)
    }

    const fn found_or(&self, otherwise: RecordStatus) -> RecordStatus {
        if self.points_here { RecordStatus::Found } else { otherwise }
    }
}

fn texts<'a>(addresses: impl Iterator<Item = &'a IpAddr>) -> Vec<String> {
    addresses.map(IpAddr::to_string).collect()
}

#[cfg(test)]
mod tests;
