//! Links with a start, an end, and an address for later visitors (D128).

use std::time::Duration;

use signpost_app::ports::{ClickKind, Store};
use signpost_domain::{
    DomainFiles, DomainUrls, HostBlocklist, Landing, Life, Pixel, PixelType, Redirect, Schedule, Timestamp,
    WidgetId,
};
use signpost_edge::{EdgeOptions, SystemUrls};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::harness::{ACTIVE, Answer, Edge, HOST, options, redirect_to};
use crate::site_settings::configure;

const CUSTOM: &str = "links.example.net";
const TARGET: &str = "https://example.com/some/page";
const FALLBACK: &str = "https://example.com/over/now";
const EXPIRED: &str = "https://example.org/expired";
const NOTHING: &str = "https://example.org/nothing";

/// The fakes' clock starts at zero.
fn after(millis: i64) -> Timestamp {
    samples::at(millis)
}

fn life(starts_at: Option<i64>, expires_at: Option<i64>) -> Life {
    let schedule = Schedule::new(starts_at.map(after), expires_at.map(after)).unwrap();
    Life { schedule, fallback_url: None }
}

fn life_with_fallback(starts_at: Option<i64>, expires_at: Option<i64>) -> Life {
    Life { fallback_url: Some(samples::target(FALLBACK)), ..life(starts_at, expires_at) }
}

fn redirect(slug: &str, life: Life) -> Redirect {
    Redirect { life, ..redirect_to(slug, TARGET) }
}

/// A redirect on the custom domain; `None` is its root.
fn on_custom(slug: Option<&str>, life: Life) -> Redirect {
    Redirect { placement: samples::on_custom(CUSTOM, slug), ..redirect("link", life) }
}

fn visit(edge: &Edge, method: &str, host: &str, path: &str) -> Answer {
    edge.request_with(method, path, &format!("Host: {host}\r\n"))
}

fn location(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.header("location"))
}

/// An edge with an active domain that has these URLs.
async fn with_domain(urls: DomainUrls, options: EdgeOptions) -> Edge {
    let edge = Edge::start_with(InMemory::default(), options, |_| {}).await;
    let domain = edge.connect_domain(CUSTOM, ACTIVE).await;
    configure(&edge, &domain, urls, &DomainFiles::default()).await;
    edge.stay_in_sync();
    edge
}

fn expired_url() -> DomainUrls {
    DomainUrls { expired_url: Some(samples::target(EXPIRED)), ..DomainUrls::default() }
}

/// A link opens from its start on, and until its end, to the millisecond. The node reads it once.
#[tokio::test(flavor = "multi_thread")]
async fn d128_a_link_begins_and_ends_to_the_millisecond_without_the_store() {
    let edge = Edge::start().await;
    edge.stay_in_sync();
    edge.add(&redirect("sale", life_with_fallback(Some(1_000), Some(2_000)))).await;
    let page = Landing { life: life(Some(1_000), Some(2_000)), ..samples::landing("menu") };
    edge.add(&page).await;
    let nothing = edge.get("/none");
    assert_eq!([edge.get("/sale"), edge.get("/menu")], [nothing.clone(), nothing.clone()]);
    let reads = edge.memory.store.link_reads().count();
    edge.memory.store.faults().set_unavailable(true);
    for _ in 0..2 {
        for (now, sale, menu) in [
            (0, (404, None), 404),
            (999, (404, None), 404),
            (1_000, (302, Some(TARGET)), 200),
            (1_999, (302, Some(TARGET)), 200),
            (2_000, (302, Some(FALLBACK)), 410),
            (9_999_999, (302, Some(FALLBACK)), 410),
        ] {
            edge.memory.clock.set(after(now));
            for method in ["GET", "HEAD"] {
                let answer = edge.request(method, "/sale");
                assert_eq!(location(&answer), sale, "{method} at {now}");
                assert_eq!(answer.header("cache-control"), Some("private, no-store"));
                assert_eq!(edge.request(method, "/menu").status, menu, "{method} at {now}");
            }
        }
    }
    assert_eq!(edge.memory.store.link_reads().count(), reads);
}

/// Contract D54: in every respect, on every site, and whatever the link would do.
#[tokio::test(flavor = "multi_thread")]
async fn d54_d128_before_its_start_a_link_is_like_an_unknown_one() {
    let edge = with_domain(expired_url(), options(0)).await;
    let later = || life_with_fallback(Some(1), Some(2));
    edge.add(&redirect("sale", later()).with(|content| content.antibot_enabled = true)).await;
    let page = Landing { life: later(), ..samples::landing("menu") };
    edge.add(&page).await;
    edge.write_page(&page, &samples::page_content()).await;
    edge.add(&on_custom(Some("sale"), later())).await;
    edge.add(&on_custom(None, later())).await;
    let widget = format!("/menu/w/{}", WidgetId::from_bytes(3_u128.to_be_bytes()));
    for method in ["GET", "HEAD"] {
        let unknown = visit(&edge, method, HOST, "/none");
        assert_eq!(unknown.status, 404);
        for (host, path) in [
            (HOST, "/sale"),
            (HOST, "/sale/?x"),
            (HOST, "/menu"),
            (HOST, widget.as_str()),
            (CUSTOM, "/sale"),
            (CUSTOM, "/"),
        ] {
            for _ in 0..2 {
                assert_eq!(visit(&edge, method, host, path), unknown, "{method} {host}{path}");
            }
        }
    }
    assert_eq!(edge.clicks().await, []);
}

/// Contract D127: where the domain says so, such a miss is a redirect too.
#[tokio::test(flavor = "multi_thread")]
async fn d127_d128_a_link_before_its_start_leads_to_the_urls_of_its_domain() {
    let [root_url, not_found_url] =
        ["https://example.org/root", NOTHING].map(|url| Some(samples::target(url)));
    let urls = DomainUrls { root_url, not_found_url, expired_url: None };
    let edge = with_domain(urls, options(0)).await;
    for slug in [Some("sale"), None] {
        edge.add(&on_custom(slug, life(Some(1), None))).await;
    }
    assert_eq!(location(&visit(&edge, "GET", CUSTOM, "/sale")), (302, Some(NOTHING)));
    assert_eq!(location(&visit(&edge, "GET", CUSTOM, "/")), (302, Some("https://example.org/root")));
    edge.memory.clock.set(after(1));
    for path in ["/sale", "/"] {
        assert_eq!(location(&visit(&edge, "GET", CUSTOM, path)), (302, Some(TARGET)));
    }
}

/// During an outage no node says that nothing is there, and so not of a link either that has not begun (D58).
#[tokio::test(flavor = "multi_thread")]
async fn d58_d128_a_link_before_its_start_is_503_as_an_unknown_one_during_an_outage() {
    let edge = Edge::start().await;
    edge.add(&redirect("sale", life(Some(1), Some(2)))).await;
    assert_eq!(edge.get("/sale").status, 404);
    edge.memory.store.faults().set_unavailable(true);
    // Nothing here reads the change log, so after a second the memory is too old to say that nothing is there.
    while edge.get("/sale").status == 404 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(edge.get("/sale"), edge.get("/none"));
    assert_eq!(edge.get("/sale").status, 503);
    edge.memory.clock.set(after(1));
    assert_eq!(location(&edge.get("/sale")), (302, Some(TARGET)));
    edge.memory.clock.set(after(2));
    assert_eq!(edge.get("/sale").status, 410);
}

/// Contract D54: such a visit is a miss. A visit after the end is none.
#[tokio::test(flavor = "multi_thread")]
async fn d54_d128_visits_before_the_start_are_misses_and_later_ones_are_not() {
    let edge = Edge::start_with(InMemory::default(), options(2), |_| {}).await;
    edge.stay_in_sync();
    edge.add(&redirect("later", life(Some(1_000), None))).await;
    edge.add(&redirect("over", life(None, Some(-1)))).await;
    edge.add(&redirect("gone", life_with_fallback(None, Some(-1)))).await;
    for _ in 0..5 {
        assert_eq!(edge.get("/over").status, 410);
        assert_eq!(location(&edge.get("/gone")), (302, Some(FALLBACK)));
    }
    assert_eq!([edge.get("/later").status, edge.get("/later").status], [404, 404]);
    let throttled = edge.get("/none");
    assert_eq!(throttled.status, 429);
    assert_eq!(edge.get("/later"), throttled, "although it is in memory");
    assert_eq!((edge.get("/over").status, edge.get("/gone").status), (410, 302), "they are in memory");
    edge.memory.clock.set(after(1_000));
    assert_eq!(edge.get("/later").status, 302, "it is in memory");
}

/// The first that says where to go: the link, its domain, or nobody.
#[tokio::test(flavor = "multi_thread")]
async fn d128_visitors_after_the_end_go_where_the_link_or_its_domain_says() {
    let edge = with_domain(expired_url(), options(0)).await;
    let over = || life(None, Some(0));
    for slug in ["sale", "own"] {
        let of = |slug: &str| if slug == "own" { life_with_fallback(None, Some(0)) } else { over() };
        edge.add(&redirect(slug, of(slug))).await;
        edge.add(&on_custom(Some(slug), of(slug))).await;
    }
    edge.add(&on_custom(None, over())).await;
    let page = Landing { placement: samples::on_custom(CUSTOM, Some("menu")), ..samples::landing("menu") };
    edge.add(&Landing { life: over(), ..page }).await;
    for method in ["GET", "HEAD"] {
        for (host, path, expected) in [
            (HOST, "/sale", None),
            (HOST, "/own", Some(FALLBACK)),
            (CUSTOM, "/sale", Some(EXPIRED)),
            (CUSTOM, "/own", Some(FALLBACK)),
            (CUSTOM, "/", Some(EXPIRED)),
            (CUSTOM, "/menu", Some(EXPIRED)),
        ] {
            let answer = visit(&edge, method, host, path);
            let status = if expected.is_some() { 302 } else { 410 };
            assert_eq!(location(&answer), (status, expected), "{method} {host}{path}");
            assert_eq!(answer.header("cache-control"), Some("private, no-store"));
        }
    }
    // A host that the operator lists by now gets no visitors.
    edge.memory.target_blocklist.replace(HostBlocklist::parse("example.org").unwrap());
    assert_eq!(location(&visit(&edge, "GET", CUSTOM, "/sale")), (410, None));
    edge.memory.target_blocklist.replace(HostBlocklist::parse("other.example").unwrap());
    assert_eq!(location(&visit(&edge, "GET", CUSTOM, "/sale")), (302, Some(EXPIRED)));
    assert_eq!(edge.clicks().await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn d24_d128_a_fallback_that_is_listed_by_now_counts_as_none() {
    let edge = with_domain(expired_url(), options(0)).await;
    let fallback_url = Some(samples::target("https://evil.example/"));
    edge.add(&on_custom(Some("sale"), Life { fallback_url, ..life(None, Some(0)) })).await;
    assert_eq!(location(&visit(&edge, "GET", CUSTOM, "/sale")), (302, Some("https://evil.example/")));
    edge.memory.target_blocklist.replace(HostBlocklist::parse("evil.example").unwrap());
    assert_eq!(location(&visit(&edge, "GET", CUSTOM, "/sale")), (302, Some(EXPIRED)));
}

/// The page of an ended link is like the other pages, and no setting for unknown addresses replaces it.
#[tokio::test(flavor = "multi_thread")]
async fn d128_the_page_of_an_expired_link_is_like_that_of_a_missing_one() {
    let not_found = Some(samples::target(NOTHING));
    let system_urls = SystemUrls { not_found, ..SystemUrls::default() };
    let edge = Edge::start_with(InMemory::default(), EdgeOptions { system_urls, ..options(0) }, |_| {}).await;
    edge.add(&redirect("sale", life(None, Some(0)))).await;
    let missing = visit(&edge, "GET", "unknown.example", "/sale");
    let head = |answer: &Answer| {
        let mut headers = answer.headers.clone();
        let length = headers.remove("content-length").unwrap();
        (headers, length == [answer.body.len().to_string()])
    };
    let expired = edge.get("/sale");
    assert_eq!((missing.status, expired.status), (404, 410));
    assert_eq!(head(&expired), head(&missing));
    assert!(head(&expired).1 && expired.body.contains("<h1>This link has expired</h1>"), "{expired:?}");
    let without_body = edge.request("HEAD", "/sale");
    assert_eq!((without_body.status, &without_body.headers), (410, &expired.headers));
    assert_eq!(without_body.body, "");
    let german = edge.request_with("GET", "/sale", &format!("Host: {HOST}\r\nAccept-Language: de\r\n"));
    assert!(german.body.contains("<h1>Dieser Link ist abgelaufen</h1>"), "{german:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn d57_d128_no_pixel_fires_and_no_click_counts_before_the_start_and_after_the_end() {
    let edge = Edge::start().await;
    edge.stay_in_sync();
    let pixel = Pixel { code: samples::pixel_code(PixelType::Meta), ..samples::pixel("pixel") };
    let mut work = edge.memory.store.begin().await.unwrap();
    work.insert_pixel(edge.account, &pixel, 1).await.unwrap();
    edge.commit(work).await;
    let link = redirect("sale", life(Some(10), Some(20)))
        .with(|content| content.pixel_ids = samples::pixel_ids(vec![pixel.id]));
    edge.add(&link).await;
    for (now, status) in [(9, 404), (10, 200), (20, 410)] {
        edge.memory.clock.set(after(now));
        assert_eq!(edge.get("/sale").status, status);
    }
    let clicks: Vec<_> = edge.clicks().await.iter().map(|click| (click.kind, click.at)).collect();
    assert_eq!(clicks, [(ClickKind::Sent, after(10))]);
}

/// Contract D58: a change of the dates, of the fallback and of the domain's URL.
#[tokio::test(flavor = "multi_thread")]
async fn d58_d128_changed_dates_apply_at_once() {
    let edge = with_domain(expired_url(), options(0)).await;
    let mut link = on_custom(Some("sale"), Life::default());
    edge.add(&link).await;
    for (life, expected) in [
        (Life::default(), (302, Some(TARGET))),
        (life(Some(1), None), (404, None)),
        (life(Some(0), None), (302, Some(TARGET))),
        (life(None, Some(0)), (302, Some(EXPIRED))),
        (life_with_fallback(None, Some(0)), (302, Some(FALLBACK))),
        (life_with_fallback(None, Some(1)), (302, Some(TARGET))),
        (life(Some(-2), Some(-1)), (302, Some(EXPIRED))),
        (Life::default(), (302, Some(TARGET))),
    ] {
        let next = Redirect { life, ..link.clone() };
        edge.update(&link, &next).await;
        link = next;
        for _ in 0..2 {
            assert_eq!(location(&visit(&edge, "GET", CUSTOM, "/sale")), expected, "{:?}", link.life);
        }
    }
}

/// A picture of an address leads to it whatever the time. The page's widgets close with the page.
#[tokio::test(flavor = "multi_thread")]
async fn d59_d128_codes_ignore_dates_and_widgets_have_those_of_their_page() {
    let edge = Edge::start().await;
    edge.stay_in_sync();
    let page = Landing { life: life_with_fallback(Some(10), Some(20)), ..samples::landing("menu") };
    edge.add(&page).await;
    edge.write_page(&page, &samples::page_content()).await;
    let widget = |number: u128| format!("/menu/w/{}", WidgetId::from_bytes(number.to_be_bytes()));
    let unknown = edge.get("/none");
    for now in [9, 10, 20] {
        edge.memory.clock.set(after(now));
        for path in ["/menu/qr.svg", "/menu/qr.png"] {
            assert_eq!(edge.get(path).status, 200, "{path} at {now}");
        }
        let answer = edge.get(&widget(3));
        match now {
            9 => assert_eq!(answer, unknown),
            10 => assert_eq!(location(&answer), (302, Some("https://example.com/menu?of=today#top"))),
            _ => assert_eq!(answer, edge.get("/menu")),
        }
    }
    assert_eq!(location(&edge.get("/menu")), (302, Some(FALLBACK)));
    edge.add(&redirect("sale", life(None, Some(0)))).await;
    assert_eq!(edge.get(&widget(3).replace("menu", "sale")), unknown, "a redirect has no widgets");
    let clicks: Vec<_> = edge.clicks().await.iter().map(|click| (click.kind, click.at)).collect();
    assert_eq!(clicks, [(ClickKind::Widget(WidgetId::from_bytes(3_u128.to_be_bytes())), after(10))]);
}
