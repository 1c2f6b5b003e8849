//! Which hostnames can be connected, as far as sockets and DNS have a say in it (D37); the rules one by one are held where
//! they are made.

use serde_json::json;
use signpost_test_servers::dns::Transport;

use crate::harness::domains::{DomainScene, connect, listed, verify};
use crate::harness::redirect_body;

/// A hostname of so many characters: labels of 63, as far as they go.
fn hostname_of(length: usize) -> String {
    let mut name = ".test".to_owned();
    while name.len() + 1 + 63 < length {
        name = format!(".{}{name}", "a".repeat(63));
    }
    let first = "b".repeat(length - name.len());
    assert!((1..=63).contains(&first.len()));
    format!("{first}{name}")
}

/// The longest hostname that there is connects. What would prove it has a name longer than DNS knows, which is a definite
/// "no" (D42).
#[test]
fn d37_the_longest_hostname_connects() {
    let scene = DomainScene::start();
    let [account, elsewhere] = scene.clients();
    let longest = hostname_of(253);
    let domain = connect(&account, &format!(" {}. ", longest.to_ascii_uppercase()));
    assert_eq!((&domain["hostname"], longest.len()), (&json!(longest), 253));
    assert_eq!(verify(&elsewhere, &domain), domain);
    let longer = format!("b{longest}");
    account.post("/v1/domains", &json!({"hostname": longer})).expect_violations(&[("hostname", "too_long")]);
    assert_eq!(listed(&elsewhere), [domain]);
}

/// The longest that can be proven is, and its links live.
#[test]
fn d39_the_longest_hostname_that_can_be_proven_serves() {
    let scene = DomainScene::start();
    let [account, _] = scene.clients();
    let hostname = hostname_of(243);
    scene.activate(&account, &hostname);
    assert_eq!(scene.dns.queries(&format!("_signpost.{hostname}"), Transport::Udp), 1);
    let link = account.create_redirect(&redirect_body(json!({"domain": hostname, "slug": "a".repeat(64)})));
    let path = format!("/{}", "a".repeat(64));
    assert_eq!(link["url"], format!("http://{hostname}{path}"));
    scene.assert_leads(scene.first(), &hostname, &path, Some("https://example.com"));
    assert!(scene.may_have_certificate(&hostname));
    let longer = connect(&account, &hostname_of(244));
    scene.publish(&[&longer]);
    assert_eq!(verify(&account, &longer), longer);
}
