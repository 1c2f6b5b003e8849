//! Redirects that visitors open.

use signpost_domain::{Hostname, Redirect, SystemDomain};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::harness::{Edge, HOST, options};

#[tokio::test(flavor = "multi_thread")]
async fn d53_redirect_is_an_uncacheable_302_without_body() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    let answer = edge.get("/sale");
    assert_eq!(answer.status, 302);
    assert_eq!(answer.header("location"), Some("https://example.com/sale"));
    assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    assert_eq!(answer.body, "");
    let mut names: Vec<&str> = answer.headers.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["cache-control", "connection", "content-length", "location"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn d53_head_answers_like_get() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    assert_eq!(edge.request("HEAD", "/sale"), edge.get("/sale"));
    let (head, get) = (edge.request("HEAD", "/none"), edge.get("/none"));
    assert_eq!((head.status, head.headers, head.body.as_str()), (get.status, get.headers, ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn d53_trailing_slash_and_encoding_are_ignored_and_case_is_not() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    for path in ["/sale", "/sale/", "/s%61le", "/%73%61%6C%65/"] {
        assert_eq!(edge.get(path).header("location"), Some("https://example.com/sale"), "{path}");
    }
    for path in ["/Sale", "/sale//", "//sale", "/sale/x", "/sale%2F", "/sale%00", "/s%ff"] {
        assert_eq!(edge.get(path).status, 404, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d53_what_messages_add_to_an_address_is_cut_off_after_a_miss() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    for path in ["/sale.", "/sale,", "/sale)", "/sale%20", "/sale%E2%80%8B", "/sale&fbclid=x", "/sale%3Fx"] {
        assert_eq!(edge.get(path).header("location"), Some("https://example.com/sale"), "{path}");
    }
    for path in ["/other.", "/sale.txt", "/.", "/sale/x."] {
        assert_eq!(edge.get(path).status, 404, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r47_links_open_at_every_system_hostname_port_and_case() {
    let aliases = vec![Hostname::parse("old.example.com").unwrap()];
    let memory = InMemory::new(SystemDomain::new("https://go.example.com", aliases).unwrap());
    let edge = Edge::start_with(memory, options(0), |_| {}).await;
    edge.add(&samples::redirect("sale")).await;
    for host in [HOST, "GO.Example.COM", "go.example.com:8081", "go.example.com.", "old.example.com:80"] {
        let answer = edge.request_with("GET", "/sale", &format!("Host: {host}\r\n"));
        assert_eq!(answer.status, 302, "{host}");
    }
    let answer = edge.request_with("GET", &format!("http://{HOST}/sale"), &format!("Host: {HOST}\r\n"));
    assert_eq!(answer.status, 302, "absolute form");
}

#[tokio::test(flavor = "multi_thread")]
async fn d58_change_and_deactivation_take_effect_at_once() {
    let edge = Edge::start().await;
    let first = samples::redirect("sale");
    edge.add(&first).await;
    assert_eq!(edge.get("/sale").header("location"), Some("https://example.com/sale"));
    let second =
        first.clone().with(|content| content.target_url = samples::target("https://example.com/other"));
    edge.update(&first, &second).await;
    assert_eq!(edge.get("/sale").header("location"), Some("https://example.com/other"));
    let inactive = Redirect { is_active: false, ..second.clone() };
    edge.update(&second, &inactive).await;
    assert_eq!(edge.get("/sale").status, 404);
}
