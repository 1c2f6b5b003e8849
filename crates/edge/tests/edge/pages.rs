//! Visits that reach no link.

use std::sync::Arc;

use signpost_app::ports::{Store, TargetBlocklist};
use signpost_domain::{HostBlocklist, Landing, Redirect};
use signpost_memory::{Fault, InMemory, Step};
use signpost_port_contracts::samples;

use crate::harness::{Answer, Edge, HOST, options, redirect_to};

/// Checks what every page has, whatever its status.
#[track_caller]
fn is_page(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status);
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    for absent in ["set-cookie", "server", "x-request-id", "location", "last-modified", "etag"] {
        assert_eq!(answer.header(absent), None, "{absent}");
    }
    assert_eq!(answer.header("content-length"), Some(answer.body.len().to_string().as_str()));
    assert!(answer.body.starts_with("<!doctype html>"));
}

#[tokio::test(flavor = "multi_thread")]
async fn d54_r30_every_missing_link_gets_the_same_page() {
    let edge = Edge::start().await;
    edge.add(&Redirect { is_active: false, ..samples::redirect("inactive") }).await;
    edge.add(&samples::redirect_at(samples::lost(Some("lost")))).await;
    edge.add(&samples::redirect_at(samples::on_custom("links.example.net", Some("custom")))).await;
    edge.add(&Landing { is_active: false, ..samples::landing("page") }).await;
    edge.add(&redirect_to("blocked", "https://a.evil.example/")).await;
    edge.memory.target_blocklist.replace(HostBlocklist::parse("evil.example").unwrap());

    let unknown = edge.get("/unknown");
    is_page(&unknown, 404);
    for path in
        ["/inactive", "/page", "/lost", "/blocked", "/a/b", "/%ff", "/unknown?q", "/v1", "/.well-known/x"]
    {
        assert_eq!(edge.get(path), unknown, "{path}");
    }
    edge.add(&samples::redirect("sale")).await;
    for headers in [
        "Host: other.example\r\n",
        "Host: links.example.net\r\n",
        "Host: \r\n",
        "Host: a b\r\n",
        "Host: go.example.com:99999\r\n",
        "Host: user@go.example.com\r\n",
        "Host: g\u{f6}.example.com\r\n",
    ] {
        assert_eq!(edge.request_with("GET", "/sale", headers), unknown, "{headers:?}");
    }
    let custom = edge.request_with("GET", "/custom", "Host: links.example.net\r\n");
    assert_eq!(custom, unknown, "inactive domain");
    let no_host = edge.send(b"GET /sale HTTP/1.0\r\n\r\n");
    assert_eq!((no_host.status, &no_host.body), (404, &unknown.body), "HTTP/1.0 without a host");
    let mismatch = edge.request_with("GET", "http://go.example.com/sale", "Host: other.example\r\n");
    assert_eq!(mismatch, unknown, "two hosts in one request");

    let mut work = edge.memory.store.begin().await.unwrap();
    work.set_suspended(edge.account, Some(samples::at(0))).await.unwrap();
    edge.commit(work).await;
    assert_eq!(edge.get("/sale"), unknown, "suspended");
}

#[tokio::test(flavor = "multi_thread")]
async fn d53_other_methods_get_405_with_allow() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get"] {
        for path in ["/sale", "/none", "/", "/a/b", "/sale/qr.svg"] {
            let answer = edge.request(method, path);
            // A link may take a form, so whether there is one is looked up (D131).
            if (method, path) == ("POST", "/none") {
                assert_eq!(answer, edge.get("/none"));
                continue;
            }
            is_page(&answer, 405);
            assert_eq!(answer.header("allow"), Some("GET, HEAD"), "{method} {path}");
        }
    }
    let with_body =
        format!("POST /sale HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}");
    is_page(&edge.send(with_body.as_bytes()), 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn d58_outage_of_the_store_is_503_and_never_404() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    for fault in [Fault::Unavailable, Fault::Contended, Fault::Corrupt] {
        edge.memory.store.faults().fail_next(Step::Read, fault, 2);
        for path in ["/sale", "/none"] {
            let answer = edge.get(path);
            is_page(&answer, 503);
            assert!(answer.header("retry-after").unwrap().parse::<u32>().unwrap() > 0);
        }
    }
    assert_eq!(edge.get("/sale").status, 302, "once the store is back");
}

struct Panicking;

impl TargetBlocklist for Panicking {
    fn current(&self) -> Arc<HostBlocklist> {
        panic!("on request")
    }

    fn version(&self) -> u64 {
        0
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn panic_is_a_500_page_and_the_next_visit_works() {
    let edge = Edge::start_with(InMemory::default(), options(0), |app| {
        app.target_blocklist = Arc::new(Panicking);
    })
    .await;
    edge.add(&samples::redirect("sale")).await;
    for _ in 0..5 {
        is_page(&edge.get("/sale"), 500);
    }
    is_page(&edge.request("PUT", "/sale"), 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_request_is_answered_and_closed() {
    let edge = Edge::start().await;
    let two_hosts = b"GET /sale HTTP/1.1\r\nHost: go.example.com\r\nHost: go.example.com\r\n\r\n";
    for request in
        [&two_hosts[..], b"GET /sale\xff HTTP/1.1\r\n\r\n", b"\0\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"]
    {
        let status = edge.send(request).status;
        assert_eq!(status, 400, "{request:?}");
    }
    assert_eq!(edge.get("/none").status, 404);
}
