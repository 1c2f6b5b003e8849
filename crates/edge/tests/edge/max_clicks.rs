//! Links with a limit of clicks (D128, D129, D130).

use signpost_app::ports::{ClickKind, LinkReads, Store};
use signpost_domain::{ClickLimit, Life, LinkId, MaxClicks, Pixel, PixelType, Redirect, Revision};
use signpost_port_contracts::samples;

use crate::harness::{Answer, Edge, HOST, redirect_to};

const TARGET: &str = "https://example.com/the/secret/target";
const FALLBACK: &str = "https://example.com/the/fallback";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

fn limit(max: u64) -> ClickLimit {
    ClickLimit::new(MaxClicks::new(max).unwrap(), 0, Revision::FIRST)
}

fn limited(slug: &str, max: u64) -> Redirect {
    redirect_to(slug, TARGET).with(|content| content.click_limit = Some(limit(max)))
}

/// A visit with these additional header lines.
fn visit_with(edge: &Edge, method: &str, path: &str, agent: &str, headers: &str) -> Answer {
    edge.request_with(method, path, &format!("Host: {HOST}\r\nUser-Agent: {agent}\r\n{headers}"))
}

fn visit(edge: &Edge, path: &str) -> Answer {
    visit_with(edge, "GET", path, BROWSER, "")
}

fn location(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.header("location"))
}

async fn left(edge: &Edge, link: &Redirect) -> u64 {
    let id = LinkId::from(link.id);
    let found = edge.memory.store.link(edge.account, id).await.unwrap().unwrap().into_redirect().unwrap();
    found.content.click_limit.unwrap().left()
}

/// D130: exactly so many targets; then what visitors get after the end of a link (D128).
#[tokio::test(flavor = "multi_thread")]
async fn d130_a_limited_link_sends_on_as_many_visits_as_it_may() {
    let edge = Edge::start().await;
    edge.stay_in_sync();
    let life = Life { fallback_url: Some(samples::target(FALLBACK)), ..Life::default() };
    let with_fallback = Redirect { life, ..limited("over", 1) };
    edge.add(&with_fallback).await;
    for max in [1, 3, 70] {
        let link = limited(&format!("s{max}"), max);
        edge.add(&link).await;
        for number in 0..max {
            let answer = visit(&edge, &format!("/s{max}"));
            assert_eq!(location(&answer), (302, Some(TARGET)), "{number} of {max}");
            assert_eq!(answer.header("cache-control"), Some("private, no-store"));
        }
        for _ in 0..2 {
            let answer = visit(&edge, &format!("/s{max}"));
            assert_eq!(location(&answer), (410, None), "{max}");
        }
        assert_eq!(left(&edge, &link).await, 0);
    }
    assert_eq!(location(&visit(&edge, "/over")), (302, Some(TARGET)));
    assert_eq!(location(&visit(&edge, "/over")), (302, Some(FALLBACK)));
    // That no click is left is known without the store.
    let reads = edge.memory.store.link_reads().count();
    edge.memory.store.faults().set_unavailable(true);
    assert_eq!(location(&visit(&edge, "/over")), (302, Some(FALLBACK)));
    assert_eq!(location(&visit(&edge, "/s1")), (410, None));
    assert_eq!(edge.memory.store.link_reads().count(), reads);
    let kinds: Vec<ClickKind> = edge.clicks().await.iter().map(|click| click.kind).collect();
    assert_eq!(kinds, vec![ClickKind::Sent; 1 + 1 + 3 + 70]);
}

/// D130: whoever does not follow the link neither uses it up nor learns where it leads.
#[tokio::test(flavor = "multi_thread")]
async fn d130_bots_previewers_prefetches_and_head_use_no_click() {
    let edge = Edge::start().await;
    let link = limited("once", 1);
    edge.add(&link).await;
    for (agent, headers) in [
        ("curl/8.5.0", ""),
        ("", ""),
        ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", ""),
        ("WhatsApp/2.23.20.0", ""),
        (BROWSER, "Sec-Purpose: prefetch\r\n"),
    ] {
        if agent != BROWSER {
            edge.memory.bots.put(agent.as_bytes());
        }
        let answer = visit_with(&edge, "GET", "/once", agent, headers);
        assert_eq!(location(&answer), (503, None), "{agent} {headers}");
        assert_eq!(answer.header("retry-after"), None);
        assert!(!answer.body.contains("secret"), "{answer:?}");
    }
    for agent in [BROWSER, "curl/8.5.0"] {
        let answer = visit_with(&edge, "HEAD", "/once", agent, "");
        assert_eq!(location(&answer), (200, None), "{agent}");
        assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    }
    assert_eq!(left(&edge, &link).await, 1);
    assert_eq!(location(&visit(&edge, "/once")), (302, Some(TARGET)));
    for method in ["GET", "HEAD"] {
        assert_eq!(location(&visit_with(&edge, method, "/once", BROWSER, "")), (410, None), "{method}");
    }
    assert_eq!(edge.clicks().await.len(), 1);
}

/// D129: a gate comes before the credit, and pixels after it.
#[tokio::test(flavor = "multi_thread")]
async fn d129_gates_use_no_click_and_pixels_use_one() {
    let edge = Edge::start().await;
    let guarded = limited("guarded", 1).with(|content| content.antibot_enabled = true);
    edge.add(&guarded).await;
    assert_eq!(visit_with(&edge, "GET", "/guarded", "curl/8.5.0", "").status, 403);
    assert_eq!(left(&edge, &guarded).await, 1);

    let pixel = Pixel { code: samples::pixel_code(PixelType::Meta), ..samples::pixel("a") };
    let mut work = edge.memory.store.begin().await.unwrap();
    work.insert_pixel(edge.account, &pixel, 9).await.unwrap();
    edge.commit(work).await;
    let tracked =
        limited("tracked", 1).with(|content| content.pixel_ids = samples::pixel_ids(vec![pixel.id]));
    edge.add(&tracked).await;
    let page = visit(&edge, "/tracked");
    assert_eq!(location(&page), (200, None));
    assert!(page.body.contains("secret"), "{page:?}");
    assert_eq!(visit(&edge, "/tracked").status, 410);
}

/// Without credit and store a visit is 503, and visitors come back later.
#[tokio::test(flavor = "multi_thread")]
async fn d130_a_node_without_clicks_and_store_answers_503() {
    let edge = Edge::start().await;
    edge.stay_in_sync();
    let (held, other) = (limited("held", 640), limited("other", 640));
    edge.add(&held).await;
    edge.add(&other).await;
    assert_eq!(visit(&edge, "/held").status, 302);
    assert_eq!(visit_with(&edge, "HEAD", "/other", BROWSER, "").status, 200);
    edge.memory.store.faults().set_unavailable(true);
    for _ in 0..9 {
        assert_eq!(location(&visit(&edge, "/held")), (302, Some(TARGET)));
    }
    for path in ["/held", "/other"] {
        let answer = visit(&edge, path);
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")), "{path}");
    }
    edge.memory.store.faults().set_unavailable(false);
    for path in ["/held", "/other"] {
        assert_eq!(location(&visit(&edge, path)), (302, Some(TARGET)), "{path}");
    }
}

/// D128: the owner raises, lowers and removes the limit.
#[tokio::test(flavor = "multi_thread")]
async fn d128_a_changed_limit_applies_to_the_next_visit() {
    let edge = Edge::start().await;
    let link = limited("sale", 640);
    edge.add(&link).await;
    assert_eq!(visit(&edge, "/sale").status, 302);
    let change = async |limit: Option<ClickLimit>| {
        let mut work = edge.memory.store.begin().await.unwrap();
        let before = work.lock_link(edge.account, link.id.into()).await.unwrap().unwrap();
        let after = before.clone().into_redirect().unwrap().with(|content| content.click_limit = limit);
        work.update_link(edge.account, &before, &after.into()).await.unwrap();
        edge.commit(work).await;
    };
    // The node holds nine clicks of the limit of before.
    change(Some(limit(1))).await;
    assert_eq!(visit(&edge, "/sale").status, 410);
    change(Some(limit(11))).await;
    assert_eq!(visit(&edge, "/sale").status, 302);
    change(None).await;
    for _ in 0..20 {
        assert_eq!(visit(&edge, "/sale").status, 302);
    }
}

/// D129: each visit of a limited link is judged at its own address.
#[tokio::test(flavor = "multi_thread")]
async fn d129_a_limited_link_is_not_inlined_into_chains() {
    let edge = Edge::start().await;
    edge.add(&redirect_to("first", &format!("https://{HOST}/once"))).await;
    let once = limited("once", 1);
    edge.add(&once).await;
    let own = format!("https://{HOST}/once");
    for _ in 0..3 {
        assert_eq!(location(&visit(&edge, "/first")), (302, Some(own.as_str())));
    }
    assert_eq!(left(&edge, &once).await, 1);
    // A chain that returns to itself leads nowhere, and uses nothing.
    let circle = limited("circle", 1)
        .with(|content| content.target_url = samples::target(&format!("https://{HOST}/back")));
    edge.add(&circle).await;
    edge.add(&redirect_to("back", &format!("https://{HOST}/circle"))).await;
    assert_eq!(visit(&edge, "/circle").status, 404);
    assert_eq!(left(&edge, &circle).await, 1);
}

/// D130: what a node did not use is back when it has stopped.
#[tokio::test(flavor = "multi_thread")]
async fn d130_a_node_that_stops_gives_its_clicks_back() {
    let edge = Edge::start().await;
    let link = limited("sale", 640);
    edge.add(&link).await;
    assert_eq!(visit(&edge, "/sale").status, 302);
    assert_eq!(left(&edge, &link).await, 630);
    edge.server.stop(true).await.unwrap();
    let found =
        edge.memory.store.link(edge.account, link.id.into()).await.unwrap().unwrap().into_redirect().unwrap();
    assert_eq!(found.content.click_limit.unwrap().left(), 639);
}
