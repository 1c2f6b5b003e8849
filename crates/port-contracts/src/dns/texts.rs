//! `TXT` records.

use signpost_domain::TextResolution;

use super::chains::{address, alias};
use super::fixture::{DnsUnderTest, Fresh, Record};

const NAME: &str = "_signpost.www.customer.com";

pub(super) fn text(text: &str) -> Record {
    Record::Txt(vec![text.as_bytes().to_vec()])
}

/// The texts at a name, sorted.
pub(super) async fn texts(dns: &DnsUnderTest, name: &str) -> Vec<String> {
    let mut texts = dns.txt_records(name).await.unwrap().texts;
    texts.sort_unstable();
    texts
}

fn found(chain: &[&str], texts: &[&str]) -> TextResolution {
    let [chain, texts] = [chain, texts].map(|names| names.iter().map(|&name| name.to_owned()).collect());
    TextResolution { chain, texts }
}

pub(super) async fn a_name_has_the_texts_that_were_set(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set(NAME, [text("signpost-verification=abc")]);
    assert_eq!(texts(&dns, NAME).await, ["signpost-verification=abc"]);
    dns.set(NAME, [text("v=spf1 -all"), text("a"), text("")]);
    assert_eq!(texts(&dns, NAME).await, ["", "a", "v=spf1 -all"]);
    assert_eq!(texts(&dns, "www.customer.com").await, Vec::<String>::new());
}

/// A definite "no such record" is an answer (D42).
pub(super) async fn a_missing_name_has_no_texts(fresh: Fresh) {
    let dns = fresh.dns().await;
    assert_eq!(dns.txt_records(NAME).await, Ok(TextResolution::default()));
    dns.set("www.customer.com", [text("a")]);
    assert_eq!(dns.txt_records(NAME).await, Ok(TextResolution::default()));
}

pub(super) async fn other_record_types_are_not_texts(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set(NAME, [address("192.0.2.1"), address("2001:db8::1")]);
    assert_eq!(dns.txt_records(NAME).await, Ok(TextResolution::default()));
    dns.set(NAME, []);
    assert_eq!(dns.txt_records(NAME).await, Ok(TextResolution::default()));
}

/// A record of more than 255 bytes has several strings, and a character may be split between two of them.
pub(super) async fn the_strings_of_one_record_are_joined(fresh: Fresh) {
    let dns = fresh.dns().await;
    let long = "0123456789".repeat(60);
    let pieces = long.as_bytes().chunks(255).map(<[u8]>::to_vec).collect();
    let [first, second] = ["ä".as_bytes()[..1].to_vec(), "ä".as_bytes()[1..].to_vec()];
    let divided = Record::Txt(vec![b"x".to_vec(), first, Vec::new(), second]);
    dns.set(NAME, [Record::Txt(pieces), divided]);
    assert_eq!(texts(&dns, NAME).await, [long, "xä".to_owned()]);
}

pub(super) async fn invalid_utf_8_is_replaced(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set(NAME, [Record::Txt(vec![b"a\xffb\0".to_vec()])]);
    assert_eq!(texts(&dns, NAME).await, ["a\u{fffd}b\0"]);
}

pub(super) async fn names_are_looked_up_ignoring_case(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set("_Signpost.WWW.customer.com", [text("Case Stays")]);
    assert_eq!(texts(&dns, "_signpost.www.CUSTOMER.com").await, ["Case Stays"]);
}

pub(super) async fn aliases_lead_to_texts(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set(NAME, [alias("proof.provider.net")]);
    dns.set("proof.provider.net", [alias("Of-Us.provider.net")]);
    dns.set("of-us.provider.net", [text("signpost-verification=abc")]);
    let expected = found(&["proof.provider.net", "of-us.provider.net"], &["signpost-verification=abc"]);
    assert_eq!(dns.txt_records(NAME).await, Ok(expected));
}

/// The aliases are in the answer too, because they explain why a record is not seen (D65).
pub(super) async fn a_broken_alias_chain_has_no_texts(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set(NAME, [alias("nothing.provider.net")]);
    let expected = found(&["nothing.provider.net"], &[]);
    assert_eq!(dns.txt_records(NAME).await, Ok(expected.clone()));
    dns.set("nothing.provider.net", [address("192.0.2.1")]);
    assert_eq!(dns.txt_records(NAME).await, Ok(expected.clone()));
    dns.set("nothing.provider.net", [alias(NAME)]);
    assert_eq!(dns.txt_records(NAME).await, Ok(expected));
}

/// The name of the proof is longer than the hostname, and the hostname may have the maximum length (D37, D38).
pub(super) async fn an_overlong_name_has_no_texts(fresh: Fresh) {
    let dns = fresh.dns().await;
    let label = "a".repeat(63);
    let longest = [label.as_str(), &label, &label, &label[..61]].join(".");
    assert_eq!(longest.len(), 253);
    dns.set(&longest, [text("long")]);
    assert_eq!(texts(&dns, &longest).await, ["long"]);
    assert_eq!(dns.txt_records(&format!("_signpost.{longest}")).await, Ok(TextResolution::default()));
    assert_eq!(dns.txt_records(&format!("{label}a.example.com")).await, Ok(TextResolution::default()));
}
