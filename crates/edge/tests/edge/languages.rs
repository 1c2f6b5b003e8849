//! The small pages in the visitor's language.

use signpost_memory::{Fault, InMemory, Step};

use crate::harness::{Answer, Edge, HOST, options};

fn get_in(edge: &Edge, path: &str, language: &str) -> Answer {
    edge.request_with("GET", path, &format!("Host: {HOST}\r\nAccept-Language: {language}\r\n"))
}

#[tokio::test(flavor = "multi_thread")]
async fn small_pages_use_the_visitors_language() {
    let edge = Edge::start().await;
    for (language, tag, heading) in [
        ("de-AT,de;q=0.9,en;q=0.8", "de", "Dieser Link führt ins Leere"),
        ("ja, pt;q=0.5", "pt", "Este link não leva a lugar nenhum"),
        ("ru", "ru", "Эта ссылка никуда не ведёт"),
        ("ja", "en", "This link leads nowhere"),
    ] {
        let answer = get_in(&edge, "/none", language);
        assert_eq!(answer.status, 404);
        assert!(answer.body.contains(&format!("<html lang=\"{tag}\">")), "{language}");
        assert!(answer.body.contains(&format!("<h1>{heading}</h1>")), "{language}: {}", answer.body);
    }
    let lines = ["ja", "ru;q=0.5", "pt;q=0.7"].map(|language| format!("Accept-Language: {language}\r\n"));
    let joined = edge.request_with("GET", "/none", &format!("Host: {HOST}\r\n{}", lines.concat()));
    assert!(joined.body.contains("<html lang=\"pt\">"), "{}", joined.body);
    let strange = edge.send(b"GET /none HTTP/1.1\r\nHost: go.example.com\r\nAccept-Language: \xff;q=\xff\r\nConnection: close\r\n\r\n");
    assert!(strange.body.contains("<html lang=\"en\">"));
}

#[tokio::test(flavor = "multi_thread")]
async fn other_pages_are_translated_too() {
    let edge = Edge::start_with(InMemory::default(), options(1), |_| {}).await;
    let root = get_in(&edge, "/", "fr");
    assert_eq!(root.status, 200);
    assert!(root.body.contains("Ici vivent des liens courts"));
    edge.memory.store.faults().fail_next(Step::Read, Fault::Unavailable, 1);
    assert!(get_in(&edge, "/none", "es").body.contains("Vuelve a intentarlo en un momento"));
    let headers = format!("Host: {HOST}\r\nAccept-Language: de\r\n");
    assert!(edge.request_with("PUT", "/none", &headers).body.contains("Dieser Link lässt sich nur öffnen"));
    get_in(&edge, "/none", "fr");
    assert!(get_in(&edge, "/none", "fr").body.contains("Trop de tentatives"));
}

/// Contract D54: in every language, each reason yields the same bytes.
#[tokio::test(flavor = "multi_thread")]
async fn d54_translated_page_does_not_reveal_the_reason() {
    let edge = Edge::start().await;
    let unknown = get_in(&edge, "/unknown", "de");
    let widget = "/none/w/wgt_00000000000000000000000000000001";
    for path in ["/a/b", "/none/qr.svg", "/qr.png", widget, "/.well-known/x"] {
        assert_eq!(get_in(&edge, path, "de"), unknown, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_system_domain_has_a_root_page() {
    let edge = Edge::start().await;
    let root = edge.get("/?x=1");
    assert_eq!(root.status, 200);
    assert_eq!(root.header("cache-control"), Some("private, no-store"));
    assert!(root.body.contains("<h1>Short links live here</h1>"));
    assert_eq!(edge.request("HEAD", "/").headers, root.headers);
    assert_eq!(edge.request_with("GET", "/", "Host: other.example\r\n").status, 404);
}
