//! Links that turn visitors away (D55, D56).

use std::net::IpAddr;

use actix_http::header::HeaderName;
use signpost_app::ports::ClickKind;
use signpost_domain::{CountryCode, GeoBlocklist, Redirect, TrustedProxies};
use signpost_edge::EdgeOptions;
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::harness::{Answer, Edge, HOST, options};

const CHROME: &str =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36";

fn country(code: &str) -> CountryCode {
    CountryCode::parse(code).unwrap()
}

fn blocking(slug: &str, countries: &[&str]) -> Redirect {
    let geo_blocklist = GeoBlocklist::new(countries.iter().map(|code| country(code)).collect());
    samples::redirect(slug).with(|content| content.geo_blocklist = geo_blocklist)
}

fn against_bots(slug: &str) -> Redirect {
    samples::redirect(slug).with(|content| content.antibot_enabled = true)
}

/// Visits `path` with additional header lines.
fn visit(edge: &Edge, method: &str, path: &str, lines: &str) -> Answer {
    edge.request_with(method, path, &format!("Host: {HOST}\r\n{lines}"))
}

/// An edge behind a proxy at 127.0.0.1, which names countries in `header`.
async fn behind_a_proxy(header: Option<&'static str>) -> Edge {
    let networks = vec!["127.0.0.0/8".parse().unwrap()];
    let memory = InMemory { trusted_proxies: TrustedProxies::new(networks), ..InMemory::default() };
    start(memory, header).await
}

async fn start(memory: InMemory, header: Option<&'static str>) -> Edge {
    let country_header = header.map(HeaderName::from_static);
    Edge::start_with(memory, EdgeOptions { country_header, ..options(0) }, |_| {}).await
}

#[tokio::test(flavor = "multi_thread")]
async fn d56_antibot_turns_away_programs_but_not_people_or_previewers() {
    let edge = Edge::start().await;
    edge.add(&against_bots("sale")).await;
    edge.add(&samples::redirect("open")).await;
    let agent = |agent: &str| format!("User-Agent: {agent}\r\n");
    for (lines, status) in [
        (String::new(), 403),
        (agent(""), 403),
        (agent("-"), 403),
        (agent("curl/8.5.0"), 403),
        (agent("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"), 403),
        (agent("HeadlessChrome/150.0"), 403),
        (agent(&CHROME.to_ascii_lowercase()), 302),
        (agent(CHROME), 302),
        (agent("Mozilla/5.0 (Linux; Android 14; CUBOT_P80) Chrome/150.0"), 302),
        (agent("\u{442}\u{435}\u{441}\u{442}"), 302),
        (agent("facebookexternalhit/1.1"), 302),
        (agent(CHROME) + &agent("curl/8.5.0"), 403),
        (agent(CHROME) + &agent(CHROME), 302),
    ] {
        for method in ["GET", "HEAD"] {
            let answer = visit(&edge, method, "/sale", &lines);
            assert_eq!(answer.status, status, "{method} {lines:?}");
            assert_eq!(answer.header("location").is_some(), status == 302);
            assert_eq!(visit(&edge, method, "/open", &lines).status, 302, "{lines:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d55_visitors_from_a_blocked_country_are_turned_away() {
    let edge = behind_a_proxy(None).await;
    for (address, code) in [("192.0.2.1", "DE"), ("192.0.2.2", "FR"), ("2001:db8::1", "DE")] {
        edge.memory.countries.put(address.parse::<IpAddr>().unwrap(), country(code));
    }
    edge.add(&blocking("sale", &["DE", "AT"])).await;
    for (address, status) in [
        ("192.0.2.1", 403),
        ("192.0.2.2", 302),
        ("192.0.2.3", 302),
        ("2001:db8::1", 403),
        ("2001:db8::2", 302),
    ] {
        for method in ["GET", "HEAD"] {
            let answer = visit(&edge, method, "/sale", &format!("X-Forwarded-For: {address}\r\n"));
            assert_eq!(answer.status, status, "{method} {address}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d55_country_header_of_a_trusted_proxy_overrides_the_database() {
    let edge = behind_a_proxy(Some("cf-ipcountry")).await;
    edge.memory.countries.put("192.0.2.1".parse().unwrap(), country("DE"));
    edge.add(&blocking("sale", &["DE"])).await;
    for (lines, status) in [
        ("CF-IPCountry: DE\r\n", 403),
        ("cf-ipcountry: de\r\n", 403),
        ("CF-IPCountry:  DE \r\n", 403),
        ("CF-IPCountry: FR\r\n", 302),
        ("CF-IPCountry: FR\r\nX-Forwarded-For: 192.0.2.1\r\n", 302),
        ("", 302),
        // An invalid code counts as unknown, so the database decides.
        ("CF-IPCountry: XX\r\n", 302),
        ("CF-IPCountry: XX\r\nX-Forwarded-For: 192.0.2.1\r\n", 403),
        ("CF-IPCountry: T1\r\n", 302),
        ("CF-IPCountry: \r\n", 302),
        ("CF-IPCountry: DEU\r\n", 302),
        ("CF-IPCountry: Germany\r\n", 302),
        ("CF-IPCountry: DE,FR\r\n", 302),
        ("CF-IPCountry: \u{fc}\r\n", 302),
        // The visitor may have sent the first value; the proxy appended the last.
        ("CF-IPCountry: FR\r\nCF-IPCountry: DE\r\n", 403),
        ("CF-IPCountry: DE\r\nCF-IPCountry: FR\r\n", 302),
        ("CF-IPCountry: FR, DE\r\n", 403),
        ("X-CF-IPCountry: DE\r\n", 302),
    ] {
        assert_eq!(visit(&edge, "GET", "/sale", lines).status, status, "{lines:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d55_only_a_trusted_proxy_names_country_or_address() {
    let edge = start(InMemory::default(), Some("cf-ipcountry")).await;
    edge.memory.countries.put("127.0.0.1".parse().unwrap(), country("DE"));
    edge.memory.countries.put("192.0.2.2".parse().unwrap(), country("FR"));
    edge.add(&blocking("closed", &["DE"])).await;
    edge.add(&blocking("open", &["FR"])).await;
    for lines in [
        "",
        "CF-IPCountry: FR\r\n",
        "X-Forwarded-For: 192.0.2.2\r\n",
        "X-Forwarded-For: 192.0.2.2\r\nCF-IPCountry: FR\r\n",
        "Forwarded: for=192.0.2.2\r\nX-Real-IP: 192.0.2.2\r\nCF-Connecting-IP: 192.0.2.2\r\n",
    ] {
        assert_eq!(visit(&edge, "GET", "/closed", lines).status, 403, "{lines:?}");
        assert_eq!(visit(&edge, "GET", "/open", lines).status, 302, "{lines:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d55_visitors_of_unknown_country_are_not_blocked() {
    let edge = Edge::start().await;
    let everywhere: Vec<&str> = CountryCode::all().map(CountryCode::as_str).collect();
    edge.add(&blocking("sale", &everywhere)).await;
    assert_eq!(visit(&edge, "GET", "/sale", "CF-IPCountry: DE\r\n").status, 302);
}

#[tokio::test(flavor = "multi_thread")]
async fn d48_turned_away_get_is_recorded_as_blocked_and_head_is_not() {
    let edge = Edge::start().await;
    edge.memory.countries.put("127.0.0.1".parse().unwrap(), country("DE"));
    let (bots, countries) = (against_bots("bots"), blocking("countries", &["DE"]));
    let silent = Redirect { analytics_enabled: false, ..against_bots("silent") };
    for link in [&bots, &countries, &silent] {
        edge.add(link).await;
    }
    for slug in ["/bots", "/countries", "/silent"] {
        assert_eq!(edge.get(slug).status, 403);
        assert_eq!(edge.request("HEAD", slug).status, 403);
    }
    let clicks = edge.clicks().await;
    let mut kinds: Vec<_> = clicks.iter().map(|click| (click.link, click.kind)).collect();
    // Each worker has its own queue, so clicks of several workers have no order.
    kinds.sort_by_key(|(link, _)| *link);
    let blocked = |link: &Redirect| (link.id.into(), ClickKind::Blocked);
    assert_eq!(kinds.len(), 2, "{kinds:?}");
    assert!(kinds.contains(&blocked(&bots)) && kinds.contains(&blocked(&countries)), "{kinds:?}");
}

/// R30: an unavailable link gets the same 404 page whatever its gates.
#[tokio::test(flavor = "multi_thread")]
async fn d54_r30_gate_does_not_reveal_an_inactive_link() {
    let edge = Edge::start().await;
    edge.memory.countries.put("127.0.0.1".parse().unwrap(), country("DE"));
    edge.add(&Redirect { is_active: false, ..against_bots("bots") }).await;
    edge.add(&Redirect { is_active: false, ..blocking("countries", &["DE"]) }).await;
    let unknown = edge.get("/unknown");
    assert_eq!(unknown.status, 404);
    assert_eq!(edge.get("/bots"), unknown);
    assert_eq!(edge.get("/countries"), unknown);
}

/// The click records the country that the proxy names, because the database may not know it.
#[tokio::test(flavor = "multi_thread")]
async fn d55_click_records_the_country_of_the_trusted_proxy() {
    let edge = behind_a_proxy(Some("cf-ipcountry")).await;
    edge.add(&samples::redirect("sale")).await;
    for lines in ["CF-IPCountry: DE\r\n", "CF-IPCountry: XX\r\n", ""] {
        assert_eq!(visit(&edge, "GET", "/sale", lines).status, 302);
    }
    // Each worker passes its own clicks on, in any order.
    let mut countries: Vec<_> = edge.clicks().await.iter().map(|click| click.country).collect();
    countries.sort_by_key(|country| country.map(CountryCode::as_str));
    assert_eq!(countries, [None, None, Some(country("DE"))]);
}
