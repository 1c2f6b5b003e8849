//! Landing pages as visitors see them.

use signpost_domain::{
    CustomDomainScheme, Hostname, Landing, PageContent, SystemDomain, WidgetContent, WidgetText,
};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::harness::{ACTIVE, Edge, options};

#[tokio::test(flavor = "multi_thread")]
async fn a_landing_page_is_shown_with_its_title_and_nothing_private() {
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

/// Contract D34, D35: everything on a page, as it is after a change.
#[tokio::test(flavor = "multi_thread")]
async fn d34_a_landing_page_shows_what_is_on_it_and_changes_hold_at_once() {
    let edge = Edge::start().await;
    let page = samples::landing("menu");
    edge.add(&page).await;
    edge.write_page(&page, &samples::page_content()).await;
    let answer = edge.get("/menu");
    for part in
        ["All that we do", "Welcome", "Open daily,", "example.com", "The house", "Instagram", "mailto:owner@"]
    {
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

/// The address to share is the page's own as the API shows it, whatever name of the host the visitor used (R47). The page says
/// so in its body, which no `ETag` stands for.
#[tokio::test(flavor = "multi_thread")]
async fn d34_a_page_names_its_own_address_under_every_name_of_the_host() {
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

/// A page that is too large to be kept in memory is shown all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_very_much_text_is_shown() {
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

/// Contract D53: GET and HEAD only, and a trailing slash is the same address.
#[tokio::test(flavor = "multi_thread")]
async fn d53_a_landing_page_is_opened_as_a_redirect_is() {
    let edge = Edge::start().await;
    edge.add(&samples::landing("menu")).await;
    let (get, head) = (edge.get("/menu"), edge.request("HEAD", "/menu"));
    assert_eq!((head.status, &head.headers, head.body.as_str()), (200, &get.headers, ""));
    assert_eq!(edge.get("/menu/?x=1"), get);
    assert_eq!(edge.request("POST", "/menu").status, 405);
    assert_eq!(edge.get("/Menu").status, 404);
}

/// Contract D54: inactive is one and the same 404.
#[tokio::test(flavor = "multi_thread")]
async fn d54_an_inactive_landing_page_is_not_there() {
    let edge = Edge::start().await;
    let active = samples::landing("menu");
    edge.add(&active).await;
    edge.update(&active, &Landing { is_active: false, ..active.clone() }).await;
    assert_eq!(edge.get("/menu"), edge.get("/none"));
}

/// Contract D24: a target on another of our addresses is followed, and a landing page is where it ends. The visitor is
/// sent to the page's own address as it is today, whatever name of the system domain the target has (R47).
#[tokio::test(flavor = "multi_thread")]
async fn d24_a_redirect_may_lead_to_a_landing_page() {
    let aliases = vec![Hostname::parse("old.example.com").unwrap()];
    let memory = InMemory::new(SystemDomain::new("https://go.example.com", aliases).unwrap());
    let edge = Edge::start_with(memory, options(0), |_| {}).await;
    edge.add(&samples::landing("menu")).await;
    for (slug, target) in [
        ("a", "https://go.example.com/b"),
        ("b", "https://go.example.com/menu/"),
        ("c", "http://old.example.com/menu?x=1#y"),
    ] {
        edge.add(&samples::redirect(slug).with(|content| content.target_url = samples::target(target))).await;
    }
    for path in ["/a", "/b", "/c"] {
        let answer = edge.get(path);
        assert_eq!((answer.status, answer.header("location")), (302, Some("https://go.example.com/menu")));
    }
}
