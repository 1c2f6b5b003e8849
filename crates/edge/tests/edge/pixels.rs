//! Redirects that fire pixels on the way (D57).

use std::collections::HashSet;

use signpost_app::ports::{ClickKind, Store};
use signpost_domain::{Pixel, PixelType, Redirect};
use signpost_port_contracts::samples;

use crate::harness::{Answer, Edge, HOST};

/// An edge with a redirect at `sale` that has these pixels.
async fn started(types: &[PixelType]) -> (Edge, Redirect) {
    let edge = Edge::start().await;
    let mut ids = Vec::new();
    for pixel_type in types {
        let pixel = Pixel { code: samples::pixel_code(*pixel_type), ..samples::pixel("pixel") };
        let mut work = edge.memory.store.begin().await.unwrap();
        work.insert_pixel(edge.account, &pixel, 100).await.unwrap();
        edge.commit(work).await;
        ids.push(pixel.id);
    }
    let redirect = samples::redirect("sale").with(|content| content.pixel_ids = samples::pixel_ids(ids));
    edge.add(&redirect).await;
    (edge, redirect)
}

fn nonce(answer: &Answer) -> String {
    let policy = answer.header("content-security-policy").unwrap();
    policy.split_once("'nonce-").unwrap().1.split_once('\'').unwrap().0.to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn d57_page_fires_pixels_and_redirects() {
    let (edge, _) = started(&[PixelType::Meta, PixelType::X]).await;
    let answer = edge.get("/sale");
    assert_eq!((answer.status, answer.header("location")), (200, None));
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    assert_eq!(answer.header("referrer-policy"), Some("strict-origin"));
    assert_eq!(answer.header("set-cookie"), None);
    for part in [
        "fbq('init','123456789012345')",
        "twq('config',",
        "<meta http-equiv=\"refresh\" content=\"0; url=https://example.com/sale\">",
        "href=\"https://example.com/sale\"",
    ] {
        assert!(answer.body.contains(part), "no {part} in {}", answer.body);
    }
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("https://connect.facebook.net") && !policy.contains("tiktok"), "{policy}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r23_each_answer_has_its_own_nonce() {
    let (edge, _) = started(&[PixelType::Meta]).await;
    let mut nonces = HashSet::new();
    for _ in 0..20 {
        let answer = edge.get("/sale");
        let nonce = nonce(&answer);
        assert_eq!(
            answer.body.matches("<script").count(),
            answer.body.matches(&format!("<script nonce=\"{nonce}\"")).count()
        );
        assert!(nonces.insert(nonce), "a nonce was used twice");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d57_visitors_who_refuse_tracking_get_no_pixels() {
    let (edge, _) = started(&[PixelType::Meta]).await;
    let with = |header: &str| edge.request_with("GET", "/sale", &format!("Host: {HOST}\r\n{header}\r\n"));
    for header in ["Sec-GPC: 1", "DNT: 1", "dnt: 1\r\nsec-gpc: 0"] {
        let answer = with(header);
        assert_eq!(
            (answer.status, answer.header("location")),
            (302, Some("https://example.com/sale")),
            "{header}"
        );
        assert_eq!(answer.content, b"");
    }
    for header in ["Sec-GPC: 0", "DNT: 0", "DNT: null"] {
        assert_eq!(with(header).status, 200, "{header}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d57_bots_prefetches_and_head_get_the_plain_redirect() {
    let (edge, _) = started(&[PixelType::Meta]).await;
    edge.memory.bots.put(b"Previewer/1.0");
    let sent = |method: &str, lines: &str| {
        let answer = edge.request_with(method, "/sale", &format!("Host: {HOST}\r\n{lines}"));
        (
            answer.status,
            answer.header("location").map(str::to_owned),
            answer.headers.contains_key("content-security-policy"),
        )
    };
    let plain = (302, Some("https://example.com/sale".to_owned()), false);
    let page = (200, None, true);
    for (method, lines, expected) in [
        ("GET", "User-Agent: Previewer/1.0\r\n", &plain),
        ("GET", "User-Agent: Browser/1.0\r\n", &page),
        ("GET", "", &page),
        ("GET", "User-Agent: Browser/1.0\r\nSec-Purpose: prefetch;prerender\r\n", &plain),
        ("GET", "User-Agent: Browser/1.0\r\nPurpose: prefetch\r\n", &plain),
        ("GET", "User-Agent: Browser/1.0\r\nX-Purpose: preview\r\n", &plain),
        ("GET", "User-Agent: Browser/1.0\r\nX-Moz: prefetch\r\n", &plain),
        ("HEAD", "User-Agent: Browser/1.0\r\n", &plain),
    ] {
        assert_eq!(&sent(method, lines), expected, "{method} {lines}");
    }
}

/// Visitors take precedence: without random bytes no nonce and no page is possible, and the visit redirects.
#[tokio::test(flavor = "multi_thread")]
async fn visitors_are_redirected_without_random_bytes() {
    let (edge, _) = started(&[PixelType::Meta]).await;
    edge.memory.randomness.set_unavailable(true);
    assert_eq!(edge.get("/sale").status, 302);
}

#[tokio::test(flavor = "multi_thread")]
async fn d48_visit_with_pixels_counts_once() {
    let (edge, redirect) = started(&[PixelType::Meta]).await;
    edge.get("/sale");
    edge.request("HEAD", "/sale");
    let clicks: Vec<_> = edge.clicks().await.iter().map(|click| (click.kind, click.link)).collect();
    assert_eq!(clicks, [(ClickKind::Sent, redirect.id.into())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pixel_page_link_uses_the_visitors_language() {
    let (edge, _) = started(&[PixelType::Meta]).await;
    let answer = edge.request_with("GET", "/sale", &format!("Host: {HOST}\r\nAccept-Language: de\r\n"));
    assert!(answer.body.contains("Weiter zu <bdi>example.com</bdi>"), "{}", answer.body);
}
