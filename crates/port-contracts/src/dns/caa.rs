//! `CAA` records (D189).

use signpost_domain::CaaRecord;

use super::chains::{address, alias};
use super::fixture::{DnsUnderTest, Fresh, Record};
use super::texts::text;

const NAME: &str = "www.customer.com";

fn caa(is_critical: bool, tag: &str, value: &[u8]) -> CaaRecord {
    CaaRecord { is_critical, tag: tag.to_owned(), value: value.to_vec() }
}

/// The records at a name, sorted by their values.
async fn records(dns: &DnsUnderTest, name: &str) -> Vec<CaaRecord> {
    let mut records = dns.caa_records(name).await.unwrap();
    records.sort_by(|one, other| one.value.cmp(&other.value));
    records
}

pub(super) async fn d189_a_name_has_the_caa_records_that_were_set(fresh: Fresh) {
    let dns = fresh.dns().await;
    let wanted = [
        caa(false, "issuewild", b";"),
        caa(true, "future", b"\xff\x00 anything"),
        caa(false, "issue", b"ca.example.net; validationmethods=http-01"),
    ];
    dns.set(NAME, wanted.clone().map(Record::Caa));
    let mut sorted = wanted.to_vec();
    sorted.sort_by(|one, other| one.value.cmp(&other.value));
    assert_eq!(records(&dns, NAME).await, sorted);
    assert_eq!(records(&dns, "WWW.Customer.com").await, sorted);
}

/// A definite "no such record" is an answer (D42).
pub(super) async fn d189_a_missing_name_has_no_caa_records(fresh: Fresh) {
    let dns = fresh.dns().await;
    assert_eq!(dns.caa_records(NAME).await, Ok(Vec::new()));
    assert_eq!(dns.caa_records("com").await, Ok(Vec::new()));
}

pub(super) async fn d189_other_record_types_are_not_caa_records(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set(NAME, [address("192.0.2.1"), text("issue ca.example.net")]);
    assert_eq!(dns.caa_records(NAME).await, Ok(Vec::new()));
}

pub(super) async fn d189_records_of_the_names_above_are_not_included(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set("customer.com", [Record::Caa(caa(false, "issue", b"ca.example.net"))]);
    dns.set(NAME, [address("192.0.2.1")]);
    assert_eq!(dns.caa_records(NAME).await, Ok(Vec::new()));
    assert_eq!(records(&dns, "customer.com").await, [caa(false, "issue", b"ca.example.net")]);
}

pub(super) async fn d189_aliases_lead_to_caa_records(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set(NAME, [alias("one.provider.net")]);
    dns.set("one.provider.net", [alias("two.provider.net")]);
    assert_eq!(dns.caa_records(NAME).await, Ok(Vec::new()));
    dns.set("two.provider.net", [Record::Caa(caa(false, "issue", b";"))]);
    assert_eq!(records(&dns, NAME).await, [caa(false, "issue", b";")]);
}
