//! Answers are of now, and no answer is not a "no" (D42).

use signpost_domain::{HostResolution, Hostname};

use super::chains::{address, alias, leads, resolution};
use super::fixture::Fresh;
use super::texts::{text, texts};

const HOST: &str = "www.customer.com";
const PROOF: &str = "_signpost.www.customer.com";

/// Servers say for how long a "no" may be remembered. Whoever verifies has just added the record.
pub(super) async fn a_record_is_seen_at_once_after_a_no(fresh: Fresh) {
    let dns = fresh.dns().await;
    assert_eq!(dns.txt_records(PROOF).await, Ok(Vec::new()));
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
    assert_eq!(dns.txt_records(PROOF).await, Ok(Vec::new()));
    assert_eq!(resolution(&dns, HOST).await, HostResolution::default());
}

/// "Could not ask" is never "no", and what is known again is known at once.
pub(super) async fn without_an_answer_nothing_is_known(fresh: Fresh) {
    let dns = fresh.dns().await;
    let hostname = Hostname::parse(HOST).unwrap();
    dns.set(PROOF, [text("signpost-verification=abc")]);
    dns.set(HOST, [address("192.0.2.1")]);
    for _ in 0..2 {
        dns.set_unavailable(true);
        dns.txt_records(PROOF).await.unwrap_err();
        dns.txt_records("nothing.customer.com").await.unwrap_err();
        dns.resolution(&hostname).await.unwrap_err();
        dns.set_unavailable(false);
        assert_eq!(texts(&dns, PROOF).await, ["signpost-verification=abc"]);
        assert_eq!(resolution(&dns, HOST).await, leads(&[], &["192.0.2.1"]));
    }
}
