//! Links with dates among links that lead to each other, and the settings that their ends read (D24, D127, D128).

use std::time::Duration;

use signpost_domain::{
    DomainFiles, DomainUrls, HostBlocklist, Landing, Life, PageContent, Redirect, Schedule, WidgetContent,
    WidgetId,
};
use signpost_port_contracts::samples;

use crate::harness::{ACTIVE, Answer, Edge, HOST, redirect_to};
use crate::site_settings::configure;

const CUSTOM: &str = "links.example.net";
const END: &str = "https://example.com/the/end";
const EXPIRED: &str = "https://example.org/expired";

fn life(starts_at: Option<i64>, expires_at: Option<i64>) -> Life {
    let schedule = Schedule::new(starts_at.map(samples::at), expires_at.map(samples::at)).unwrap();
    Life { schedule, fallback_url: None }
}

fn own(path: &str) -> String {
    format!("https://{HOST}{path}")
}

fn location(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.header("location"))
}

/// The visitor is sent to the link with dates, and its clicks, gates and dates are its own affair.
#[tokio::test(flavor = "multi_thread")]
async fn d24_d128_visitors_of_a_chain_are_sent_to_its_first_link_with_dates() {
    let edge = Edge::start().await;
    edge.add(&redirect_to("a", &own("/b"))).await;
    edge.add(&redirect_to("b", &own("/c"))).await;
    let dated = Redirect { life: life(Some(10), Some(20)), ..redirect_to("c", &own("/d")) };
    edge.add(&dated).await;
    edge.add(&redirect_to("d", END)).await;
    let address = own("/c");
    for (now, expected) in [(9, (404, None)), (10, (302, Some(END))), (20, (410, None))] {
        edge.memory.clock.set(samples::at(now));
        for path in ["/a", "/b"] {
            assert_eq!(location(&edge.get(path)), (302, Some(address.as_str())), "{path} at {now}");
        }
        assert_eq!(location(&edge.get("/c")), expected, "at {now}");
    }
    // R12: without dates it is a part of the chain again.
    edge.update(&dated, &Redirect { life: Life::default(), ..dated.clone() }).await;
    assert_eq!(location(&edge.get("/a")), (302, Some(END)));
}

#[tokio::test(flavor = "multi_thread")]
async fn d24_d128_a_round_of_links_with_dates_is_404() {
    let edge = Edge::start().await;
    let unknown = edge.get("/none");
    for (slug, next, life) in
        [("a", "/b", life(Some(-1), None)), ("b", "/c", Life::default()), ("c", "/a", life(None, Some(9)))]
    {
        edge.add(&Redirect { life, ..redirect_to(slug, &own(next)) }).await;
    }
    for path in ["/a", "/b", "/c"] {
        assert_eq!(edge.get(path), unknown, "{path}");
    }
}

/// Where a link leads matters until its end only. A fallback at one of our addresses is not followed.
#[tokio::test(flavor = "multi_thread")]
async fn d24_d128_an_ended_link_leads_to_its_fallback_whatever_its_target_is_now() {
    let edge = Edge::start().await;
    let fallback_url = Some(samples::target(&own("/c")));
    let ended = Life { fallback_url, ..life(None, Some(5)) };
    edge.add(&Redirect { life: ended, ..redirect_to("a", &own("/b")) }).await;
    edge.add(&redirect_to("c", END)).await;
    edge.stay_in_sync();
    assert_eq!(edge.get("/a").status, 404, "no link is at its target");
    edge.memory.clock.set(samples::at(5));
    assert_eq!(location(&edge.get("/a")), (302, Some(own("/c").as_str())));
}

/// A widget leads to an address of ours only if visitors get somewhere there (D24).
#[tokio::test(flavor = "multi_thread")]
async fn d24_d128_a_widget_leads_to_a_link_with_dates_once_it_has_begun() {
    let edge = Edge::start().await;
    edge.connect_domain(CUSTOM, ACTIVE).await;
    let page = samples::landing("menu");
    edge.add(&page).await;
    let dated = || life(Some(10), Some(20));
    edge.add(&Redirect { life: dated(), ..redirect_to("sale", END) }).await;
    let on_custom = samples::redirect_at(samples::on_custom(CUSTOM, Some("sale")));
    edge.add(&Redirect { life: dated(), ..on_custom }).await;
    let second = Landing { life: dated(), ..samples::landing("second") };
    edge.add(&second).await;
    let link = |url: &str| WidgetContent::Link {
        title: samples::name("a"),
        url: samples::web_url(url),
        thumbnail_url: None,
    };
    let widget = |page: &str| format!("/{page}/w/{}", WidgetId::from_bytes(1_u128.to_be_bytes()));
    let write = async |page: &Landing, url: &str| {
        let widgets = samples::widgets(vec![link(url)]);
        edge.write_page(page, &PageContent { widgets, ..PageContent::default() }).await;
    };
    write(&second, END).await;
    let unknown = edge.get("/none");
    for url in [own("/sale"), own(&widget("second")), format!("https://{CUSTOM}/sale")] {
        write(&page, &url).await;
        for now in [9, 10, 20] {
            edge.memory.clock.set(samples::at(now));
            let answer = edge.get(&widget("menu"));
            // Whether an address on another hostname is ours is not told before there is a link (ADR 25).
            if now == 9 && !url.contains(CUSTOM) {
                assert_eq!(answer, unknown, "{url}");
            } else {
                assert_eq!(location(&answer), (302, Some(url.as_str())), "{url} at {now}");
            }
        }
    }
}

/// Contract D127, ADR 77: a link that opens never reads them, and one that ends reads them once.
#[tokio::test(flavor = "multi_thread")]
async fn d127_d128_only_links_that_end_read_the_settings_of_their_domain() {
    let edge = Edge::start().await;
    let domain = edge.connect_domain(CUSTOM, ACTIVE).await;
    let expired_url = Some(samples::target(EXPIRED));
    let urls = DomainUrls { expired_url, ..DomainUrls::default() };
    configure(&edge, &domain, urls, &DomainFiles::default()).await;
    edge.stay_in_sync();
    let fallback = Life { fallback_url: Some(samples::target(END)), ..life(None, Some(5)) };
    for (slug, life) in [
        ("plain", Life::default()),
        ("begun", life(Some(0), None)),
        ("fallback", fallback),
        ("ends", life(None, Some(5))),
        ("too", life(None, Some(5))),
    ] {
        let link = samples::redirect_at(samples::on_custom(CUSTOM, Some(slug)));
        edge.add(&Redirect { life, ..link }).await;
    }
    let get = |slug: &str| edge.request_with("GET", &format!("/{slug}"), &format!("Host: {CUSTOM}\r\n"));
    let sites = edge.memory.store.site_reads();
    for slug in ["plain", "begun", "fallback"] {
        assert_eq!(get(slug).status, 302);
    }
    assert_eq!(sites.count(), 0);
    // It is read ahead, so that the URL is there if the store fails before the end.
    assert_eq!(get("ends").status, 302);
    sites.counted(1).await;
    assert_eq!(get("too").status, 302);
    edge.memory.store.faults().set_unavailable(true);
    edge.memory.clock.set(samples::at(5));
    while get("ends").status == 410 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for slug in ["ends", "too"] {
        assert_eq!(location(&get(slug)), (302, Some(EXPIRED)), "{slug}");
    }
    assert_eq!(location(&get("fallback")), (302, Some(END)));
}

/// That the link has ended is certain without the store too.
#[tokio::test(flavor = "multi_thread")]
async fn d58_d128_an_ended_link_is_410_while_nobody_knows_the_settings_of_its_domain() {
    let edge = Edge::start().await;
    edge.connect_domain(CUSTOM, ACTIVE).await;
    edge.stay_in_sync();
    let fallback =
        Life { fallback_url: Some(samples::target("https://evil.example/")), ..life(None, Some(0)) };
    let link = samples::redirect_at(samples::on_custom(CUSTOM, Some("sale")));
    edge.add(&Redirect { life: fallback, ..link }).await;
    let get = || edge.request_with("GET", "/sale", &format!("Host: {CUSTOM}\r\n"));
    assert_eq!(get().status, 302);
    edge.memory.target_blocklist.replace(HostBlocklist::parse("evil.example").unwrap());
    edge.memory.store.faults().set_unavailable(true);
    assert_eq!(get().status, 410);
    assert_eq!(get().header("retry-after"), None);
}
