//! Decides by compiled rules where a visit leads.

use std::net::IpAddr;

use signpost_domain::CountryCode;
use signpost_domain::routing::{Facts, SplitKey};

use super::encoding::IPV6;
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
        let key = if self.needed & SPLIT == 0 { None } else { rules.bytes(16).first_chunk() };
        while !rules.rest().is_empty() {
            let mut rule = Reader::new(rules.text());
            if all_hold(rule.text(), facts) {
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

fn all_hold(conditions: &[u8], facts: &Facts<'_>) -> bool {
    let mut reader = Reader::new(conditions);
    while let Some(first) = reader.bytes(1).first() {
        let is_negated = first & NEGATED != 0;
        let operand = reader.text();
        let test = TestType::of_number(first & !NEGATED);
        // An unknown fact fails both ways.
        if test.and_then(|test| holds(test, operand, facts)) != Some(!is_negated) {
            return false;
        }
    }
    true
}

/// Whether a test holds. `None` if its fact is unknown.
fn holds(test: TestType, operand: &[u8], facts: &Facts<'_>) -> Option<bool> {
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
        TestType::Query => query_holds(operand, facts.query?)?,
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

/// Compares the parameters of a query while it decodes them. The caller bounds the length of the query.
fn query_holds(operand: &[u8], query: &[u8]) -> Option<bool> {
    let mut reader = Reader::new(operand);
    let kind = *reader.bytes(1).first()?;
    let name = reader.text();
    let value = reader.rest();
    let mut named =
        query.split(|byte| *byte == b'&').filter(|parameter| !parameter.is_empty()).filter_map(|parameter| {
            let at = parameter.iter().position(|byte| *byte == b'=');
            let (sent, value) = match at.and_then(|at| parameter.split_at_checked(at)) {
                Some((sent, value)) => (sent, value.get(1..).unwrap_or_default()),
                None => (parameter, &[][..]),
            };
            decodes_to(sent, name).then_some(value)
        });
    match kind {
        query_test::PRESENT => Some(named.next().is_some()),
        query_test::ABSENT => Some(named.next().is_none()),
        query_test::EQUALS => Some(named.any(|sent| decodes_to(sent, value))),
        _ => None,
    }
}

/// Whether a text of a query is `plain` once `+` and percent-encoded bytes are decoded. A `%` without two digits stays.
fn decodes_to(sent: &[u8], plain: &[u8]) -> bool {
    let (mut sent, mut plain) = (sent, plain.iter());
    loop {
        let (byte, rest) = match sent {
            [] => return plain.next().is_none(),
            [b'%', high, low, rest @ ..] => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, rest),
                _ => (b'%', sent.get(1..).unwrap_or_default()),
            },
            [b'+', rest @ ..] => (b' ', rest),
            [byte, rest @ ..] => (*byte, rest),
        };
        if plain.next() != Some(&byte) {
            return false;
        }
        sent = rest;
    }
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
