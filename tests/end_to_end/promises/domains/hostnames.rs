//! Which hostnames can be connected, as far as sockets and DNS have a say in it (D37); the rules one by one are held where
//! they are made.

use serde_json::{Value, json};
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

/// The installation's own names, and everything under them, are nobody's, and that comes before every other rule (D37).
#[test]
fn d37_the_installations_own_names_cannot_be_connected() {
    let scene = DomainScene::start_with(|node| {
        node.setting("system-url", "http://go.signpost.test").setting("system-aliases", "old.signpost.test")
    });
    let [account, _] = scene.clients();
    for own in [
        "go.signpost.test",
        "GO.Signpost.test.",
        "a.b.go.signpost.test",
        "old.signpost.test",
        "x.old.signpost.test",
        "edge.example.net",
        "x.EDGE.example.net",
        "xn--x.edge.example.net",
    ] {
        account.post("/v1/domains", &json!({"hostname": own})).expect_error(400, "hostname_is_system_domain");
    }
    for near in ["signpost.test", "agold.signpost.test", "myedge.example.net", "example.net"] {
        connect(&account, near);
    }
}

/// What is no hostname of the public DNS is refused with its field, and nothing is connected (D8, D37).
#[test]
fn d37_what_nobody_can_visit_cannot_be_connected() {
    let scene = DomainScene::start();
    let [account, _] = scene.clients();
    for (hostname, code) in [
        (json!(""), "too_short"),
        (json!("shop"), "invalid_format"),
        (json!("192.0.2.1"), "invalid_format"),
        (json!("[2001:db8::1]"), "invalid_format"),
        (json!("bücher.test"), "invalid_format"),
        (json!("xn--bcher-kva.test"), "invalid_value"),
        (json!("go_shop.test"), "invalid_format"),
        (json!("-go.shop.test"), "invalid_format"),
        (json!("go..test"), "invalid_format"),
        (json!("http://go.shop.test"), "invalid_format"),
        (json!("go.shop.test:80"), "invalid_format"),
        (json!("go.shop.internal"), "invalid_value"),
        (json!("shop.invalid"), "invalid_value"),
        (json!("co.uk"), "invalid_value"),
        (json!("github.io"), "invalid_value"),
        (json!(5), "invalid_type"),
        (Value::Null, "not_nullable"),
    ] {
        let answer = account.post("/v1/domains", &json!({"hostname": hostname}));
        assert_eq!(answer.violations(), [("hostname".to_owned(), code.to_owned())], "{hostname}");
    }
    account.post("/v1/domains", &json!({})).expect_violations(&[("hostname", "required")]);
    account
        .post("/v1/domains", &json!({"hostname": "go.shop.test", "name": "x"}))
        .expect_violations(&[("name", "unknown_field")]);
    assert!(account.walk("/v1/domains", "").is_empty());
}
