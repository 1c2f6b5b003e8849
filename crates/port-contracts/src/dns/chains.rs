//! The aliases and addresses of hostnames (D39).

use std::collections::BTreeSet;
use std::net::IpAddr;

use signpost_domain::{HostResolution, Hostname};

use super::fixture::{DnsUnderTest, Fresh, Record};
use super::texts::text;

const HOST: &str = "www.customer.com";

pub(super) fn address(address: &str) -> Record {
    Record::Address(address.parse().unwrap())
}

pub(super) fn alias(target: &str) -> Record {
    Record::Alias(target.to_owned())
}

pub(super) async fn resolution(dns: &DnsUnderTest, hostname: &str) -> HostResolution {
    dns.resolution(&Hostname::parse(hostname).unwrap()).await.unwrap()
}

pub(super) fn leads(chain: &[&str], addresses: &[&str]) -> HostResolution {
    let addresses: BTreeSet<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
    HostResolution { chain: chain.iter().map(|name| (*name).to_owned()).collect(), addresses }
}

pub(super) async fn a_hostname_has_the_addresses_of_both_families(fresh: Fresh) {
    let dns = fresh.dns().await;
    let all = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"];
    dns.set(HOST, all.map(address));
    assert_eq!(resolution(&dns, HOST).await, leads(&[], &all));
}

pub(super) async fn a_hostname_may_have_addresses_of_one_family(fresh: Fresh) {
    let dns = fresh.dns().await;
    for only in ["192.0.2.1", "2001:db8::1"] {
        dns.set(HOST, [address(only)]);
        assert_eq!(resolution(&dns, HOST).await, leads(&[], &[only]));
    }
    dns.set("edge.example.com", [address("2001:db8::1")]);
    dns.set(HOST, [alias("edge.example.com")]);
    assert_eq!(resolution(&dns, HOST).await, leads(&["edge.example.com"], &["2001:db8::1"]));
}

/// A definite "no such record" is an answer (D42).
pub(super) async fn a_missing_hostname_has_no_addresses(fresh: Fresh) {
    let dns = fresh.dns().await;
    assert_eq!(resolution(&dns, HOST).await, HostResolution::default());
}

pub(super) async fn a_hostname_with_only_texts_has_no_addresses(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set(HOST, [text("192.0.2.1")]);
    assert_eq!(resolution(&dns, HOST).await, HostResolution::default());
}

pub(super) async fn an_alias_chain_is_reported_in_order_and_lower_case(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set(HOST, [alias("Shop.Provider.NET")]);
    dns.set("shop.provider.net", [alias("edge.example.com")]);
    dns.set("edge.example.com", [address("192.0.2.1"), address("2001:db8::1")]);
    let expected = leads(&["shop.provider.net", "edge.example.com"], &["192.0.2.1", "2001:db8::1"]);
    assert_eq!(resolution(&dns, HOST).await, expected);
}

/// A hostname behind a ninth alias has no addresses.
pub(super) async fn d39_at_most_eight_aliases_are_followed(fresh: Fresh) {
    let dns = fresh.dns().await;
    let names: Vec<String> = (1..=9).map(|number| format!("n{number}.provider.net")).collect();
    dns.set(HOST, [alias(&names[0])]);
    for pair in names.windows(2).take(7) {
        dns.set(&pair[0], [alias(&pair[1])]);
    }
    dns.set(&names[7], [address("192.0.2.8")]);
    let eight: Vec<&str> = names[..8].iter().map(String::as_str).collect();
    assert_eq!(resolution(&dns, HOST).await, leads(&eight, &["192.0.2.8"]));
    assert_eq!(resolution(&dns, &names[6]).await, leads(&eight[7..], &["192.0.2.8"]));

    dns.set(&names[7], [alias(&names[8])]);
    dns.set(&names[8], [address("192.0.2.9")]);
    assert_eq!(resolution(&dns, HOST).await, leads(&eight, &[]));
}

pub(super) async fn an_alias_cycle_has_no_addresses(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set(HOST, [alias("one.provider.net")]);
    dns.set("one.provider.net", [alias("two.provider.net")]);
    for back_to in [HOST, "one.provider.net"] {
        dns.set("two.provider.net", [alias(back_to)]);
        assert_eq!(resolution(&dns, HOST).await, leads(&["one.provider.net", "two.provider.net"], &[]));
    }
}

pub(super) async fn an_alias_of_itself_has_no_addresses(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set(HOST, [alias(HOST)]);
    assert_eq!(resolution(&dns, HOST).await, HostResolution::default());
}

pub(super) async fn a_broken_alias_chain_is_an_answer(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set(HOST, [alias("edge.example.com")]);
    assert_eq!(resolution(&dns, HOST).await, leads(&["edge.example.com"], &[]));
    dns.set("edge.example.com", [text("no address")]);
    assert_eq!(resolution(&dns, HOST).await, leads(&["edge.example.com"], &[]));
}

pub(super) async fn an_alias_may_lead_to_a_name_that_is_no_hostname(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set(HOST, [alias("_shop_.provider.net")]);
    dns.set("_shop_.provider.net", [address("192.0.2.1")]);
    assert_eq!(resolution(&dns, HOST).await, leads(&["_shop_.provider.net"], &["192.0.2.1"]));
}
