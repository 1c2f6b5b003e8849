//! Answers are current, and a missing answer is an error (D42).

use signpost_domain::{HostResolution, Hostname, TextResolution};

use super::chains::{address, alias, leads, resolution};
use super::fixture::Fresh;
use super::texts::{text, texts};

const HOST: &str = "www.customer.com";
const PROOF: &str = "_signpost.www.customer.com";

/// A negative answer allows caching, but the owner who verifies a domain has just added the record.
pub(super) async fn a_new_record_is_seen_at_once_after_a_negative_answer(fresh: Fresh) {
    let dns = fresh.dns().await;
    assert_eq!(dns.txt_records(PROOF).await, Ok(TextResolution::default()));
    assert_eq!(resolution(&dns, HOST).await, HostResolution::default());
    dns.set(PROOF, [text("signpost-verification=abc")]);
    dns.set(HOST, [alias("edge.example.com")]);
    assert_eq!(texts(&dns, PROOF).await, ["signpost-verification=abc"]);
    assert_eq!(resolution(&dns, HOST).await, leads(&["edge.example.com"], &[]));
    dns.set("edge.example.com", [address("192.0.2.1")]);
    assert_eq!(resolution(&dns, HOST).await, leads(&["edge.example.com"], &["192.0.2.1"]));
}

pub(super) async fn a_change_and_a_removal_are_seen_at_once(fresh: Fresh) {
    let dns = fresh.dns().await;
    dns.set(PROOF, [text("old")]);
    dns.set(HOST, [address("192.0.2.1")]);
    assert_eq!(texts(&dns, PROOF).await, ["old"]);
    assert_eq!(resolution(&dns, HOST).await, leads(&[], &["192.0.2.1"]));
    dns.set(PROOF, [text("new")]);
    dns.set(HOST, [address("2001:db8::1")]);
    assert_eq!(texts(&dns, PROOF).await, ["new"]);
    assert_eq!(resolution(&dns, HOST).await, leads(&[], &["2001:db8::1"]));
    dns.remove(PROOF);
    dns.remove(HOST);
    assert_eq!(dns.txt_records(PROOF).await, Ok(TextResolution::default()));
    assert_eq!(resolution(&dns, HOST).await, HostResolution::default());
}

/// An unavailable server never means "no such record", and recovery takes effect at once.
pub(super) async fn d42_an_unavailable_server_is_an_error(fresh: Fresh) {
    let dns = fresh.dns().await;
    let hostname = Hostname::parse(HOST).unwrap();
    dns.set(PROOF, [text("signpost-verification=abc")]);
    dns.set(HOST, [address("192.0.2.1")]);
    for _ in 0..2 {
        dns.set_unavailable(true);
        dns.txt_records(PROOF).await.unwrap_err();
        dns.txt_records("nothing.customer.com").await.unwrap_err();
        dns.resolution(&hostname).await.unwrap_err();
        dns.caa_records(HOST).await.unwrap_err();
        dns.set_unavailable(false);
        assert_eq!(texts(&dns, PROOF).await, ["signpost-verification=abc"]);
        assert_eq!(resolution(&dns, HOST).await, leads(&[], &["192.0.2.1"]));
    }
}
