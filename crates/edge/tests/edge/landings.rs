//! Landing pages as visitors see them.

use std::io::Read as _;

use signpost_domain::{CustomDomainScheme, Landing, PageContent, SystemDomain, WidgetContent, WidgetText};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::harness::{ACTIVE, Answer, Edge, HOST, options};

#[tokio::test(flavor = "multi_thread")]
async fn landing_page_shows_its_title_and_nothing_private() {
    let edge = Edge::start().await;
    let title = samples::name("Fish & Chips — <menu>");
    edge.add(&Landing { name: title, note: Some(samples::note("secret")), ..samples::landing("menu") }).await;
    let answer = edge.get("/menu");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    assert!(answer.header("content-security-policy").unwrap().starts_with("default-src 'none'; "));
    assert!(
        answer.body.contains("<h1 dir=\"auto\">Fish &#38; Chips — &#60;menu&#62;</h1>"),
        "{}",
        answer.body
    );
    assert!(!answer.body.contains("secret"));
    assert!(answer.body.contains("<meta name=\"robots\" content=\"noindex\">"));
}

/// Contract D34, D35: every widget is shown, and so is a change.
#[tokio::test(flavor = "multi_thread")]
async fn d34_landing_page_shows_its_widgets_and_changes_at_once() {
    let edge = Edge::start().await;
    let page = samples::landing("menu");
    edge.add(&page).await;
    edge.write_page(&page, &samples::page_content()).await;
    let answer = edge.get("/menu");
    for part in [
        "lang=\"en-GB\"",
        "All that we do",
        "Welcome",
        "Open daily,",
        "example.com",
        "The house",
        "Instagram",
        "A day here",
        "mailto:owner@",
        "tel:+442079460958",
    ] {
        assert!(answer.body.contains(part), "no {part} in {}", answer.body);
    }
    assert!(!answer.body.contains("noindex"));
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("; img-src https://example.com; "), "{policy}");
    edge.write_page(&page, &PageContent::default()).await;
    let after = edge.get("/menu");
    assert!(!after.body.contains("Welcome") && after.body.contains("noindex"));
    assert_ne!(after.header("content-security-policy"), Some(policy));
}

/// ADR 65: the compressed forms are kept with the page, and change with it.
#[tokio::test(flavor = "multi_thread")]
async fn landing_page_is_compressed_as_the_browser_accepts() {
    let edge = Edge::start().await;
    let page = samples::landing("menu");
    edge.add(&page).await;
    let get = |method: &str, accepted: &str| {
        edge.request_with(method, "/menu", &format!("Host: {HOST}\r\nAccept-Encoding: {accepted}\r\n"))
    };
    let decoded = |answer: &Answer| {
        let (mut text, content) = (String::new(), &answer.content[..]);
        match answer.header("content-encoding") {
            Some("br") => brotli::Decompressor::new(content, 4_096).read_to_string(&mut text),
            Some("gzip") => flate2::read::GzDecoder::new(content).read_to_string(&mut text),
            _ => {
                text.push_str(&answer.body);
                Ok(0)
            }
        }
        .unwrap();
        text
    };
    for content in [PageContent::default(), samples::page_content()] {
        edge.write_page(&page, &content).await;
        let plain = edge.get("/menu");
        assert_eq!((plain.header("content-encoding"), plain.header("vary")), (None, Some("accept-encoding")));
        for (accepted, encoding) in [
            ("gzip, deflate, br, zstd", Some("br")),
            ("gzip, deflate", Some("gzip")),
            ("identity", None),
            ("br;q=0, gzip;q=0", None),
        ] {
            let answer = get("GET", accepted);
            assert_eq!(answer.header("content-encoding"), encoding, "{accepted}");
            assert_eq!(answer.header("vary"), Some("accept-encoding"));
            assert_eq!(decoded(&answer), plain.body, "{accepted}");
            let is_short = answer.content.len() * 2 < plain.content.len();
            assert_eq!(is_short, encoding.is_some(), "{} of {}", answer.content.len(), plain.content.len());
            let head = get("HEAD", accepted);
            assert_eq!((&head.headers, head.content.len()), (&answer.headers, 0), "{accepted}");
        }
    }
}

/// ADR 65: a redirect has no body, and a page for one visitor is not compressed.
#[tokio::test(flavor = "multi_thread")]
async fn redirects_and_small_pages_are_not_compressed() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    for path in ["/sale", "/none", "/robots.txt", "/sale/qr.svg"] {
        let answer =
            edge.request_with("GET", path, &format!("Host: {HOST}\r\nAccept-Encoding: gzip, br\r\n"));
        assert_eq!(answer.header("content-encoding"), None, "{path}");
        assert_eq!(answer.header("vary"), None, "{path}");
    }
}

/// A page names its address as the API shows it, under every name of the host (R47). Its body contains that
/// address, so it has no `ETag`.
#[tokio::test(flavor = "multi_thread")]
async fn d34_page_names_its_own_address_under_every_hostname() {
    let aliases = vec![samples::hostname("old.example.com")];
    let memory = InMemory {
        custom_domain_scheme: CustomDomainScheme::Http,
        ..InMemory::new(SystemDomain::new("https://go.example.com:8443", aliases).unwrap())
    };
    let edge = Edge::start_with(memory, options(0), |_| {}).await;
    edge.connect_domain("links.example.net", ACTIVE).await;
    edge.add(&samples::landing("menu")).await;
    for slug in [Some("menu"), None] {
        let placement = samples::on_custom("links.example.net", slug);
        edge.add(&samples::landing_at(placement)).await;
    }
    for (host, path, url) in [
        ("go.example.com", "/menu", "https://go.example.com:8443/menu"),
        ("OLD.example.com:80", "/m%65nu/?src=qr", "https://go.example.com:8443/menu"),
        ("links.example.net", "/menu", "http://links.example.net/menu"),
        ("links.example.net:8443", "/", "http://links.example.net/"),
    ] {
        let answer = edge.request_with("GET", path, &format!("Host: {host}\r\n"));
        assert_eq!((answer.status, answer.header("etag")), (200, None), "{host}{path}");
        for part in [
            format!("<meta property=\"og:url\" content=\"{url}\">"),
            format!("<link rel=\"canonical\" href=\"{url}\">"),
        ] {
            assert_eq!(answer.body.matches(&part).count(), 1, "{part} in {}", answer.body);
        }
    }
}

/// A page too large for the cache is still shown.
#[tokio::test(flavor = "multi_thread")]
async fn page_too_large_for_the_cache_is_shown() {
    let edge = Edge::start().await;
    let text = WidgetContent::Text { text: WidgetText::parse(&"\u{1f388}".repeat(2_000)).unwrap() };
    let content = PageContent { widgets: samples::widgets(vec![text; 100]), ..PageContent::default() };
    let page = samples::landing("menu");
    edge.add(&page).await;
    edge.write_page(&page, &content).await;
    for _ in 0..2 {
        assert!(edge.get("/menu").body.len() > 800_000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d53_landing_page_takes_get_and_head_with_optional_slash() {
    let edge = Edge::start().await;
    edge.add(&samples::landing("menu")).await;
    let (get, head) = (edge.get("/menu"), edge.request("HEAD", "/menu"));
    assert_eq!((head.status, &head.headers, head.body.as_str()), (200, &get.headers, ""));
    assert_eq!(edge.get("/menu/?x=1"), get);
    assert_eq!(edge.request("POST", "/menu").status, 405);
    assert_eq!(edge.get("/Menu").status, 404);
}
