//! Which visits are clicks, and what is recorded (D48, D50).

use signpost_app::ports::{ClickKind, Clock as _};
use signpost_domain::{LinkId, Redirect, TrustedProxies};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::harness::{Edge, HOST, options, redirect_to};

#[tokio::test(flavor = "multi_thread")]
async fn d48_only_a_get_that_opens_a_link_is_a_click() {
    let edge = Edge::start().await;
    let (sale, menu) = (samples::redirect("sale"), samples::landing("menu"));
    edge.add(&sale).await;
    edge.add(&menu).await;
    edge.add(&Redirect { is_active: false, ..samples::redirect("inactive") }).await;
    for _ in 0..3 {
        assert_eq!(edge.get("/sale").status, 302);
        assert_eq!(edge.get("/menu").status, 200);
        for path in ["/sale", "/menu"] {
            edge.request("HEAD", path);
            edge.request("POST", path);
        }
        for path in ["/inactive", "/none", "/", "/favicon.ico"] {
            edge.get(path);
        }
    }
    let account = edge.account;
    let clicks = edge.clicks().await;
    let count = |kind, link| clicks.iter().filter(|click| click.kind == kind && click.link == link).count();
    assert_eq!(count(ClickKind::Sent, sale.id.into()), 3);
    assert_eq!(count(ClickKind::Shown, menu.id.into()), 3);
    assert_eq!(clicks.len(), 6);
    assert!(clicks.iter().all(|click| click.account == account));
}

#[tokio::test(flavor = "multi_thread")]
async fn d50_link_without_analytics_records_nothing() {
    let edge = Edge::start().await;
    edge.add(&Redirect { analytics_enabled: false, ..samples::redirect("sale") }).await;
    for _ in 0..3 {
        assert_eq!(edge.get("/sale").status, 302);
    }
    assert_eq!(edge.clicks().await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn d48_click_records_time_and_headers_of_the_visit() {
    let networks = vec!["127.0.0.0/8".parse().unwrap()];
    let memory = InMemory { trusted_proxies: TrustedProxies::new(networks), ..InMemory::default() };
    let edge = Edge::start_with(memory, options(0), |_| {}).await;
    edge.add(&samples::redirect("sale")).await;
    let headers = format!(
        "Host: {HOST}\r\nUser-Agent: Mozilla/5.0\r\nReferer: https://news.example/a\r\nAccept-Language: de-AT\r\n\
         Accept-Language: en;q=0.5\r\n\
         Sec-Purpose: prefetch\r\nX-Forwarded-For: 2001:db8::7\r\n"
    );
    edge.request_with("GET", "/sale/?src=qr&a=%20b", &headers);
    let now = edge.memory.clock.now();
    let clicks = edge.clicks().await;
    let [click] = clicks.as_slice() else { panic!("{clicks:?}") };
    assert_eq!((click.at, click.address), (now, "2001:db8::7".parse().unwrap()));
    let texts = [&click.user_agent, &click.referrer, &click.accept_language, &click.query, &click.purpose];
    assert_eq!(
        texts.map(|text| str::from_utf8(text).unwrap()),
        ["Mozilla/5.0", "https://news.example/a", "de-AT, en;q=0.5", "src=qr&a=%20b", "prefetch"]
    );
}

/// Contract D24: a chain counts as a visit of each of its redirects. A landing page at the end is recorded
/// when it is shown.
#[tokio::test(flavor = "multi_thread")]
async fn d24_each_redirect_of_a_chain_records_a_click() {
    let edge = Edge::start().await;
    let first = redirect_to("a", "https://go.example.com/b");
    let second = redirect_to("b", "https://go.example.com/menu");
    let silent = Redirect { analytics_enabled: false, ..redirect_to("silent", "https://go.example.com/a") };
    edge.add(&first).await;
    edge.add(&second).await;
    edge.add(&silent).await;
    edge.add(&samples::landing("menu")).await;
    for path in ["/a", "/silent"] {
        assert_eq!(edge.get(path).header("location"), Some("https://go.example.com/menu"));
    }
    let clicks = edge.clicks().await;
    let count = |redirect: &Redirect| {
        let link: LinkId = redirect.id.into();
        clicks.iter().filter(|click| click.kind == ClickKind::Sent && click.link == link).count()
    };
    // Two workers may have answered, whose clicks come in any order.
    assert_eq!((count(&first), count(&second), clicks.len()), (2, 2, 4));
}
