//! Decides by compiled rules where a visit leads.

use std::net::IpAddr;

use signpost_domain::CountryCode;
use signpost_domain::routing::{Facts, SplitKey};

use super::encoding::IPV6;
use super::parameters::{LazyParameters, Parameters};
use super::{NEGATED, SPLIT, TestType, device_bit, hours, query_test};
use crate::byte_codec::{Items, Reader};

/// The compiled rules of a link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RulesView<'a> {
    needed: u32,
    rest: Reader<'a>,
}

/// Where a rule leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RuledLocation<'a> {
    pub(crate) location: &'a [u8],
    /// What analytics shows in the dimension `rule`.
    pub(crate) label: &'a str,
}

impl<'a> RulesView<'a> {
    /// Takes what [`encoded_rules`](super::encoded_rules) returned. `None` without rules.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        let mut rest = Reader::new(bytes);
        Some(Self { needed: rest.number(), rest })
    }

    /// Whether any rule asks for this fact.
    pub(crate) const fn asks(self, test: TestType) -> bool {
        self.needed & test.bit() != 0
    }

    /// Whether any rule asks what the visitor's `User-Agent` names.
    pub(crate) const fn asks_for_agent(self) -> bool {
        self.asks(TestType::Device) || self.asks(TestType::Os) || self.asks(TestType::Browser)
    }

    /// The location of the first rule that holds. `None` if none does, so that the link's own target counts.
    pub(crate) fn decide(self, facts: &Facts<'_>) -> Option<RuledLocation<'a>> {
        let mut rules = self.rest;
        let query = LazyParameters::new(facts.query);
        let key = if self.needed & SPLIT == 0 { None } else { rules.bytes(16).first_chunk() };
        while !rules.rest().is_empty() {
            let mut rule = Reader::new(rules.text());
            if all_hold(rule.text(), facts, &query) {
                return location(rule, key, facts);
            }
        }
        None
    }
}

/// The location of a rule that holds. In a split it follows from the visitor's address and agent.
fn location<'a>(
    mut rule: Reader<'a>,
    key: Option<&[u8; 16]>,
    facts: &Facts<'_>,
) -> Option<RuledLocation<'a>> {
    let variants = rule.number();
    if variants == 0 {
        let label = str::from_utf8(rule.text()).ok()?;
        return Some(RuledLocation { location: rule.rest(), label });
    }
    let total = rule.number();
    let mut slot = SplitKey::from_bytes(*key?).slot(facts.address, facts.agent, total);
    for _ in 0..variants {
        if rule.rest().is_empty() {
            break;
        }
        let (weight, label, location) = (rule.number(), rule.text(), rule.text());
        if slot < weight {
            return Some(RuledLocation { location, label: str::from_utf8(label).ok()? });
        }
        slot -= weight;
    }
    None
}

fn all_hold(conditions: &[u8], facts: &Facts<'_>, query: &LazyParameters<'_>) -> bool {
    let mut reader = Reader::new(conditions);
    while let Some(first) = reader.bytes(1).first() {
        let is_negated = first & NEGATED != 0;
        let operand = reader.text();
        let test = TestType::of_number(first & !NEGATED);
        // An unknown fact fails both ways.
        if test.and_then(|test| holds(test, operand, facts, query)) != Some(!is_negated) {
            return false;
        }
    }
    true
}

/// Whether a test holds. `None` if its fact is unknown.
fn holds(test: TestType, operand: &[u8], facts: &Facts<'_>, query: &LazyParameters<'_>) -> Option<bool> {
    Some(match test {
        TestType::Country => has_country(operand, facts.country?),
        TestType::Device => operand.first()? & device_bit(facts.device?) != 0,
        TestType::Os => has_name(operand, facts.os?),
        TestType::Browser => has_name(operand, facts.browser?),
        TestType::Language => has_language(operand, facts.language?),
        TestType::Date => {
            let (instants, _) = operand.as_chunks();
            let [from, until] = instants else { return None };
            let at = facts.now?.unix_millis();
            (i64::from_le_bytes(*from)..i64::from_le_bytes(*until)).contains(&at)
        }
        TestType::Hours => return hours::holds(operand, facts.now?),
        TestType::Query => query_holds(operand, query.get()?)?,
        TestType::Referrer => has_referrer(operand, facts.referrer?),
        TestType::Network => has_address(operand, facts.address?),
    })
}

fn has_country(codes: &[u8], country: CountryCode) -> bool {
    let (codes, _) = codes.as_chunks::<2>();
    let sought = country.as_str().as_bytes();
    codes.binary_search_by(|code| code[..].cmp(sought)).is_ok()
}

fn has_name(names: &[u8], name: &str) -> bool {
    Items::new(names).any(|each| each.eq_ignore_ascii_case(name.as_bytes()))
}

/// Whether a tag is the language, or the beginning of it up to a hyphen.
fn has_language(tags: &[u8], language: &str) -> bool {
    Items::new(tags).any(|tag| {
        let parts = language.as_bytes().split_at_checked(tag.len());
        parts.is_some_and(|(start, rest)| start.eq_ignore_ascii_case(tag) && matches!(rest, [] | [b'-', ..]))
    })
}

/// Whether a host is the referrer, or a domain above it. The empty host means that there is none.
fn has_referrer(hosts: &[u8], referrer: &str) -> bool {
    let referrer = referrer.as_bytes();
    Items::new(hosts).any(|host| {
        let parts = referrer.len().checked_sub(host.len()).and_then(|at| referrer.split_at_checked(at));
        parts.is_some_and(|(start, end)| {
            let is_whole = start.is_empty() || (!host.is_empty() && start.ends_with(b"."));
            is_whole && end.eq_ignore_ascii_case(host)
        })
    })
}

fn has_address(networks: &[u8], address: IpAddr) -> bool {
    let mut reader = Reader::new(networks);
    let address = address.to_canonical();
    while let Some(first) = reader.bytes(1).first() {
        let is_in = if let Some(prefix) = first.checked_sub(IPV6) {
            let network = reader.bytes(16).first_chunk().map(|bytes| u128::from_be_bytes(*bytes));
            match (network, address) {
                (Some(network), IpAddr::V6(address)) => {
                    let differences = network ^ u128::from_be_bytes(address.octets());
                    differences.leading_zeros() >= u32::from(prefix)
                }
                _ => false,
            }
        } else {
            let network = reader.bytes(4).first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
            match (network, address) {
                (Some(network), IpAddr::V4(address)) => {
                    let differences = network ^ u32::from_be_bytes(address.octets());
                    differences.leading_zeros() >= u32::from(*first)
                }
                _ => false,
            }
        };
        if is_in {
            return true;
        }
    }
    false
}

/// Whether a query has a parameter.
fn query_holds(operand: &[u8], query: &Parameters) -> Option<bool> {
    let mut reader = Reader::new(operand);
    let kind = *reader.bytes(1).first()?;
    let mut values = query.values_of(reader.text());
    match kind {
        query_test::PRESENT => Some(values.next().is_some()),
        query_test::ABSENT => Some(values.next().is_none()),
        query_test::EQUALS => Some(values.any(|value| value == reader.rest())),
        _ => None,
    }
}
