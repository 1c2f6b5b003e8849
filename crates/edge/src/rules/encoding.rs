//! Compiles rules into bytes.

use std::net::IpAddr;

use signpost_domain::routing::{
    AgentName, Condition, DateRange, Network, QueryIs, QueryTest, ReferrerHost, Rule, RuleTarget, Rules, Test,
};
use signpost_domain::{LanguageTag, Timestamp};

use super::hours::encoded_hours;
use super::{NEGATED, SPLIT, TestType, device_bit, query_test};
use crate::byte_codec::{TooLong, Writer, encoded_list};

/// In front of the length of the prefix of a network of IPv6 addresses.
pub(super) const IPV6: u8 = 64;

/// Compiles rules as of `now`. Empty without rules.
pub(crate) fn encoded_rules(rules: &Rules, now: Timestamp) -> Result<Vec<u8>, TooLong> {
    if rules.is_empty() {
        return Ok(Vec::new());
    }
    let needed = rules.as_slice().iter().fold(0, |needed, rule| needed | needed_by(rule));
    let mut writer = Writer::default();
    writer.number(needed);
    if needed & SPLIT != 0 {
        writer.bytes(&rules.split_key().unwrap_or_default().to_bytes());
    }
    for rule in rules.as_slice() {
        writer.text(&encoded_rule(rule, now)?)?;
    }
    Ok(writer.finish())
}

fn needed_by(rule: &Rule) -> u32 {
    let split = match rule.leads_to {
        RuleTarget::Target(_) => 0,
        RuleTarget::Split(_) => SPLIT,
    };
    rule.conditions.iter().fold(split, |needed, condition| needed | TestType::of(&condition.test).bit())
}

fn encoded_rule(rule: &Rule, now: Timestamp) -> Result<Vec<u8>, TooLong> {
    let mut conditions = Writer::default();
    for Condition { test, is_negated } in &rule.conditions {
        let negated = if *is_negated { NEGATED } else { 0 };
        conditions.bytes(&[TestType::of(test).number() | negated]);
        conditions.text(&operand(test, now)?)?;
    }
    let mut writer = Writer::default();
    writer.text(&conditions.finish())?;
    let label = rule.label();
    match &rule.leads_to {
        RuleTarget::Target(target) => {
            writer.number(0);
            writer.text(label.as_bytes())?;
            writer.bytes(target.location().as_bytes());
        }
        RuleTarget::Split(split) => {
            writer.number(u32::try_from(split.as_slice().len()).map_err(|_| TooLong)?);
            writer.number(split.total_weight());
            for variant in split.as_slice() {
                writer.number(u32::from(variant.weight.get()));
                writer.text(format!("{label}.{}", variant.name.as_str()).as_bytes())?;
                writer.text(variant.target_url.location().as_bytes())?;
            }
        }
    }
    Ok(writer.finish())
}

fn operand(test: &Test, now: Timestamp) -> Result<Vec<u8>, TooLong> {
    match test {
        Test::Country(countries) => {
            let mut codes: Vec<&str> = countries.iter().map(|code| code.as_str()).collect();
            codes.sort_unstable();
            Ok(codes.concat().into_bytes())
        }
        Test::Device(devices) => Ok(vec![devices.iter().fold(0, |bits, device| bits | device_bit(*device))]),
        Test::Os(names) | Test::Browser(names) => encoded_list(names.iter().map(AgentName::as_str)),
        Test::Language(tags) => encoded_list(tags.iter().map(LanguageTag::as_str)),
        Test::Date(range) => Ok(encoded_range(range)),
        Test::Hours(hours) => encoded_hours(hours, now),
        Test::Query(test) => encoded_query_test(test),
        Test::Referrer(hosts) => encoded_list(hosts.iter().map(ReferrerHost::as_str)),
        Test::Network(networks) => Ok(networks.iter().flat_map(encoded_network).collect()),
    }
}

/// The first instant, and that after the last.
fn encoded_range(range: &DateRange) -> Vec<u8> {
    let from = range.from().map_or(i64::MIN, Timestamp::unix_millis);
    let until = range.until().map_or(i64::MAX, Timestamp::unix_millis);
    [from, until].map(i64::to_le_bytes).concat()
}

fn encoded_query_test(QueryTest { name, is }: &QueryTest) -> Result<Vec<u8>, TooLong> {
    let (kind, value) = match is {
        QueryIs::Present => (query_test::PRESENT, ""),
        QueryIs::Absent => (query_test::ABSENT, ""),
        QueryIs::Equals(value) => (query_test::EQUALS, value.as_str()),
    };
    let mut writer = Writer::default();
    writer.bytes(&[kind]);
    writer.text(name.as_str().as_bytes())?;
    writer.bytes(value.as_bytes());
    Ok(writer.finish())
}

/// The length of the prefix, and the address.
fn encoded_network(network: &Network) -> Vec<u8> {
    let net = network.net();
    match net.network() {
        IpAddr::V4(address) => [&[net.prefix_len()][..], &address.octets()].concat(),
        IpAddr::V6(address) => [&[net.prefix_len().saturating_add(IPV6)][..], &address.octets()].concat(),
    }
}
