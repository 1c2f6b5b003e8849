//! Links with rules (D129, D133).

use signpost_app::ports::{AgentFacts, Store};
use signpost_domain::routing::{Device, Rules};
use signpost_domain::{
    ClickLimit, CountryCode, GeoBlocklist, HostBlocklist, MaxClicks, Pixel, PixelType, Redirect, Revision,
    Timestamp, TrustedProxies, Way,
};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::harness::{Answer, Edge, HOST, options, redirect_to};

/// Where visitors are sent whom no rule meets, and where a rule sends them.
pub(crate) const DEFAULT: &str = "https://example.com/default";
pub(crate) const RULED: &str = "https://example.org/by/a/rule";

pub(crate) const PHONE: &str = "Phone/1";
pub(crate) const COMPUTER: &str = "Computer/1";

/// A redirect with these rules, as JSON.
pub(crate) fn ruled(slug: &str, rules: &str) -> Redirect {
    redirect_to(slug, DEFAULT).with(|content| content.rules = samples::rules(rules))
}

/// A redirect whose only rule has these conditions.
pub(crate) fn ruled_by(slug: &str, conditions: &str) -> Redirect {
    ruled(slug, &format!(r#"[{{"name":"x","conditions":[{conditions}],"target_url":"{RULED}"}}]"#))
}

/// An edge behind a proxy at 127.0.0.1, which knows a country and two agents.
pub(crate) async fn started() -> Edge {
    let networks = vec!["127.0.0.0/8".parse().unwrap()];
    let memory = InMemory { trusted_proxies: TrustedProxies::new(networks), ..InMemory::default() };
    memory.countries.put("192.0.2.1".parse().unwrap(), CountryCode::parse("DE").unwrap());
    let facts = |device, os: &str, browser: &str| AgentFacts {
        device: Some(device),
        os: os.to_owned(),
        browser: browser.to_owned(),
    };
    memory.agents.put(PHONE.as_bytes(), facts(Device::Mobile, "iOS", "Mobile Safari"));
    memory.agents.put(COMPUTER.as_bytes(), facts(Device::Desktop, "Linux", ""));
    Edge::start_with(memory, options(0), |_| {}).await
}

/// Visits `path` with additional header lines.
pub(crate) fn visit(edge: &Edge, path: &str, lines: &str) -> Answer {
    edge.request_with("GET", path, &format!("Host: {HOST}\r\n{lines}"))
}

pub(crate) fn location(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.header("location"))
}

/// Where a visitor with these lines is sent.
pub(crate) fn sent(edge: &Edge, path: &str, lines: &str) -> String {
    let answer = visit(edge, path, lines);
    assert_eq!(answer.header("cache-control"), Some("private, no-store"), "{path} {lines:?}");
    assert_eq!(answer.status, 302, "{path} {lines:?}");
    answer.header("location").unwrap().to_owned()
}

/// Each kind of condition: the lines of visits that it meets, of visits that it does not meet, and of visits of which nobody knows.
#[tokio::test(flavor = "multi_thread")]
async fn d133_each_condition_meets_its_visitors_and_an_unknown_fact_fails_both_ways() {
    let edge = started().await;
    let from = |address: &str| format!("X-Forwarded-For: {address}\r\n");
    let by = |agent: &str| format!("User-Agent: {agent}\r\n");
    let speaks = |languages: &str| format!("Accept-Language: {languages}\r\n");
    let comes_from = |page: &str| format!("Referer: {page}\r\n");
    let none = String::new;
    edge.memory.countries.put("192.0.2.2".parse().unwrap(), CountryCode::parse("FR").unwrap());
    let many = ["da;q=0.1"; 30].join(", ");
    for (number, (condition, met, others, unknown)) in [
        (
            r#""type":"country","in":["AT","DE"]"#,
            vec![from("192.0.2.1")],
            vec![from("192.0.2.2")],
            vec![from("192.0.2.3"), none()],
        ),
        (
            r#""type":"device","in":["mobile","tv"]"#,
            vec![by(PHONE)],
            vec![by(COMPUTER)],
            vec![by("?"), none()],
        ),
        (r#""type":"os","in":["Windows","ios"]"#, vec![by(PHONE)], vec![by(COMPUTER)], vec![by("?")]),
        (
            r#""type":"browser","in":["Mobile Safari"]"#,
            vec![by(PHONE)],
            vec![],
            vec![by(COMPUTER), by("?"), none()],
        ),
        (
            r#""type":"language","in":["de","fr-CA"]"#,
            vec![
                speaks("de-AT"),
                speaks("en;q=0.5, DE"),
                speaks("fr-ca,de;q=0.9"),
                speaks(&format!("{many}, de")),
                format!("{}{}", speaks("en;q=0.5"), speaks("DE")),
            ],
            vec![speaks("en, de;q=0.9"), speaks("fr"), speaks("den")],
            vec![none(), speaks("*"), speaks("\u{fc}"), speaks(";;q=,")],
        ),
        (
            r#""type":"referrer","in":["example.com"]"#,
            vec![comes_from("https://example.com/a?b"), comes_from("http://WWW.Example.com:8080")],
            vec![
                comes_from("https://anexample.com/"),
                comes_from("https://example.com@evil.example/"),
                none(),
            ],
            vec![comes_from("about:blank"), comes_from("https://\u{fc}")],
        ),
        (
            r#""type":"referrer","in":[""]"#,
            vec![none(), comes_from("")],
            vec![comes_from("https://example.com/")],
            vec![comes_from("about:blank")],
        ),
        (
            r#""type":"network","in":["192.0.2.0/31","2001:db8::/32"]"#,
            vec![from("192.0.2.1"), from("2001:db8::1"), from("::ffff:192.0.2.1")],
            vec![from("192.0.2.2"), from("2001:db9::1")],
            vec![],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        edge.add(&ruled_by(&format!("is-{number}"), &format!("{{{condition}}}"))).await;
        edge.add(&ruled_by(&format!("not-{number}"), &format!(r#"{{{condition},"not":true}}"#))).await;
        for (lines, expected) in
            [(met, [RULED, DEFAULT]), (others, [DEFAULT, RULED]), (unknown, [DEFAULT; 2])]
        {
            for lines in lines {
                let found = ["is", "not"].map(|kind| sent(&edge, &format!("/{kind}-{number}"), &lines));
                assert_eq!(found, expected, "{condition} {lines:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d133_a_query_is_compared_decoded() {
    let edge = started().await;
    for (number, (condition, met, others)) in [
        (
            r#""is":"present""#,
            vec!["?a%20b", "?x=1&a+b=", "?a+b=1&a+b=2"],
            vec!["", "?", "?a", "?A+b", "?x=a+b"],
        ),
        (r#""is":"absent""#, vec!["", "?", "?a=1"], vec!["?a%20b", "?a+b=1"]),
        (
            r#""is":"equals","value":"é 1""#,
            vec!["?a+b=%C3%A9+1", "?a+b=%c3%a9%201", "?a+b=&%61%20b=%C3%A9%201"],
            vec!["", "?a+b", "?a+b=%C3%A9", "?a+b=%C3%A9+1x", "?a+b=%C3%A9%2B1"],
        ),
        (r#""is":"equals","value":"""#, vec!["?a+b", "?a+b="], vec!["", "?a+b=1"]),
    ]
    .into_iter()
    .enumerate()
    {
        edge.add(&ruled_by(
            &format!("q{number}"),
            &format!(r#"{{"type":"query","name":"a b",{condition}}}"#),
        ))
        .await;
        for (queries, expected) in [(met, RULED), (others, DEFAULT)] {
            for query in queries {
                assert_eq!(sent(&edge, &format!("/q{number}{query}"), ""), expected, "{condition} {query}");
            }
        }
    }
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

/// The link stays in memory, while the clock of the node goes on, also further than the link knows its local clock.
#[tokio::test(flavor = "multi_thread")]
async fn d133_dates_and_local_hours_change_on_time() {
    let edge = started().await;
    edge.stay_in_sync();
    edge.memory.clock.set(at("2026-03-28T10:00:00Z"));
    let dates = r#"{"type":"date","from":"2026-03-28T10:00:01Z","until":"2026-03-28T10:00:02Z"}"#;
    edge.add(&ruled_by("dates", dates)).await;
    let hours = |days: &str, from: &str, until: &str| {
        format!(
            r#"{{"type":"hours","timezone":"Europe/Berlin","days":{days},"from":"{from}","until":"{until}"}}"#
        )
    };
    edge.add(&ruled_by("skipped", &hours("[1,2,3,4,5,6,7]", "02:00", "03:00"))).await;
    edge.add(&ruled_by("day", &hours("[1,2,3,4,5]", "09:00", "17:00"))).await;
    edge.add(&ruled_by("night", &hours("[6]", "22:00", "04:00"))).await;
    for (now, path, expected) in [
        ("2026-03-28T10:00:00.999Z", "/dates", DEFAULT),
        ("2026-03-28T10:00:01Z", "/dates", RULED),
        ("2026-03-28T10:00:01.999Z", "/dates", RULED),
        ("2026-03-28T10:00:02Z", "/dates", DEFAULT),
        // A Friday, a Saturday, and a Monday in summer time.
        ("2026-03-27T07:59:59.999Z", "/day", DEFAULT),
        ("2026-03-27T08:00:00Z", "/day", RULED),
        ("2026-03-27T15:59:59.999Z", "/day", RULED),
        ("2026-03-27T16:00:00Z", "/day", DEFAULT),
        ("2026-03-28T10:00:00Z", "/day", DEFAULT),
        ("2026-03-30T07:00:00Z", "/day", RULED),
        ("2026-03-30T15:00:00Z", "/day", DEFAULT),
        // The night from Saturday to Sunday, in which the clock goes from 02:00 to 03:00.
        ("2026-03-28T20:59:00Z", "/night", DEFAULT),
        ("2026-03-28T21:00:00Z", "/night", RULED),
        ("2026-03-29T01:59:59Z", "/night", RULED),
        ("2026-03-29T02:00:00Z", "/night", DEFAULT),
        ("2026-03-29T21:00:00Z", "/night", DEFAULT),
        ("2026-03-29T00:59:59.999Z", "/skipped", DEFAULT),
        ("2026-03-29T01:00:00Z", "/skipped", DEFAULT),
        ("2026-03-30T00:00:00Z", "/skipped", RULED),
        ("2026-03-30T01:00:00Z", "/skipped", DEFAULT),
        // Twice, when the clock is set back.
        ("2026-10-25T00:30:00Z", "/skipped", RULED),
        ("2026-10-25T01:30:00Z", "/skipped", RULED),
        // Years later, and before the link was loaded.
        ("2041-07-01T07:00:00Z", "/day", RULED),
        ("2041-07-01T15:00:00Z", "/day", DEFAULT),
        ("2041-12-02T08:00:00Z", "/day", RULED),
        ("2041-12-02T07:00:00Z", "/day", DEFAULT),
        ("2019-07-01T07:00:00Z", "/day", RULED),
        ("2019-07-01T15:00:00Z", "/day", DEFAULT),
    ] {
        edge.memory.clock.set(at(now));
        assert_eq!(sent(&edge, path, ""), expected, "{path} at {now}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d133_the_first_rule_that_holds_decides() {
    let edge = started().await;
    let rules = r#"[
        {"conditions":[{"type":"query","name":"a","is":"present"},{"type":"query","name":"b","is":"present"}],
         "target_url":"https://example.com/both"},
        {"conditions":[{"type":"query","name":"a","is":"present"}],"target_url":"http://a.example"},
        {"conditions":[{"type":"query","name":"b","is":"present"}],"target_url":"https://b\u00fccher.example/b"},
        {"conditions":[],"target_url":"https://example.com/rest"}]"#;
    let link = ruled("sale", rules);
    edge.add(&link).await;
    for (query, expected) in [
        ("?a&b", "https://example.com/both"),
        ("?b=1&a=2", "https://example.com/both"),
        ("?a", "http://a.example"),
        ("?b", "https://xn--bcher-kva.example/b"),
        ("", "https://example.com/rest"),
    ] {
        let answer = visit(&edge, &format!("/sale{query}"), "");
        assert_eq!(location(&answer), (302, Some(expected)), "{query}");
        let names: Vec<&str> = answer.headers.keys().map(String::as_str).collect();
        assert_eq!(names, ["cache-control", "connection", "content-length", "location"], "no cookie");
        assert_eq!(edge.request("HEAD", &format!("/sale{query}")), answer);
    }
    // R12: without rules the link has only its own target.
    edge.update(&link, &link.clone().with(|content| content.rules = Rules::default())).await;
    assert_eq!(location(&visit(&edge, "/sale?a", "")), (302, Some(DEFAULT)));
}

/// D129: antibot and the country block come before rules, the credit and pixels after them.
#[tokio::test(flavor = "multi_thread")]
async fn d129_rules_come_after_gates_and_before_credit_and_pixels() {
    let edge = started().await;
    let all = format!(r#"[{{"name":"all","conditions":[],"target_url":"{RULED}"}}]"#);
    let pixel = Pixel { code: samples::pixel_code(PixelType::Meta), ..samples::pixel("pixel") };
    let mut work = edge.memory.store.begin().await.unwrap();
    work.insert_pixel(edge.account, &pixel, 1).await.unwrap();
    edge.commit(work).await;
    edge.add(&ruled("people", &all).with(|content| content.antibot_enabled = true)).await;
    let germany = CountryCode::parse("DE").unwrap();
    let blocklist = GeoBlocklist::new(vec![germany]);
    edge.add(&ruled("country", &all).with(|content| content.geo_blocklist = blocklist)).await;
    let limit = ClickLimit::new(MaxClicks::new(1).unwrap(), 0, Revision::FIRST);
    edge.add(&ruled("once", &all).with(|content| content.click_limit = Some(limit))).await;
    edge.add(&ruled("pixels", &all).with(|content| content.pixel_ids = samples::pixel_ids(vec![pixel.id])))
        .await;

    let browser = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n";
    assert_eq!(visit(&edge, "/people", "User-Agent: curl/8.5.0\r\n").status, 403);
    assert_eq!(location(&visit(&edge, "/people", browser)), (302, Some(RULED)));
    assert_eq!(visit(&edge, "/country", "X-Forwarded-For: 192.0.2.1\r\n").status, 403);
    assert_eq!(location(&visit(&edge, "/country", "X-Forwarded-For: 192.0.2.9\r\n")), (302, Some(RULED)));
    let head = edge.request_with("HEAD", "/once", &format!("Host: {HOST}\r\n{browser}"));
    assert_eq!(location(&head), (200, None));
    assert_eq!(location(&visit(&edge, "/once", browser)), (302, Some(RULED)));
    assert_eq!(location(&visit(&edge, "/once", browser)), (410, None));
    let page = visit(&edge, "/pixels", browser);
    assert_eq!(location(&page), (200, None));
    assert!(page.body.contains(RULED) && !page.body.contains(DEFAULT), "{page:?}");
    let labels: Vec<String> =
        edge.clicks().await.into_iter().map(|click| format!("{:?} {}", click.kind, click.rule)).collect();
    let count = |label: &str| labels.iter().filter(|each| *each == label).count();
    assert_eq!((count("Blocked "), count("Sent all"), labels.len()), (2, 4, 6), "{labels:?}");
}

/// D24: a link with rules is not a part of other chains, and follows none itself.
#[tokio::test(flavor = "multi_thread")]
async fn d24_d133_rules_neither_join_nor_follow_chains() {
    let edge = started().await;
    let own = |path: &str| format!("https://{HOST}{path}");
    let unknown = edge.get("/none");
    let to_c = format!(
        r#"[{{"conditions":[{{"type":"query","name":"a","is":"present"}}],"target_url":"{}"}}]"#,
        own("/c")
    );
    edge.add(&redirect_to("a", &own("/b"))).await;
    edge.add(&ruled("b", &to_c).with(|content| content.target_url = samples::target(&own("/d")))).await;
    for slug in ["c", "d"] {
        edge.add(&redirect_to(slug, DEFAULT).with(|content| {
            content.geo_blocklist = GeoBlocklist::new(vec![CountryCode::parse("DE").unwrap()]);
        }))
        .await;
    }
    let german = "X-Forwarded-For: 192.0.2.1\r\n";
    assert_eq!(sent(&edge, "/a", german), own("/b"));
    assert_eq!(sent(&edge, "/b?a", german), own("/c"), "the block is that of the next link");
    assert_eq!(sent(&edge, "/b", german), own("/d"));
    assert_eq!(visit(&edge, "/d", german).status, 403);
    // A default chain that returns to itself is the 404.
    edge.add(&ruled("round", &to_c).with(|content| content.target_url = samples::target(&own("/about"))))
        .await;
    edge.add(&redirect_to("about", &own("/round"))).await;
    assert_eq!(edge.get("/round"), unknown);
    assert_eq!(edge.get("/about"), unknown);
}

/// A host on the operator's list closes the whole link, so that nobody hides a target behind a rule.
#[tokio::test(flavor = "multi_thread")]
async fn d24_d133_a_listed_target_of_any_rule_is_404_for_all() {
    let edge = started().await;
    let unknown = edge.get("/none");
    let rules = r#"[{"conditions":[{"type":"country","in":["FR"]}],
        "split":[{"name":"a","target_url":"https://good.example","weight":1},{"name":"b","target_url":"https://evil.example/x","weight":1}]}]"#;
    edge.add(&ruled("sale", rules)).await;
    assert_eq!(sent(&edge, "/sale", ""), DEFAULT);
    edge.memory.target_blocklist.replace(HostBlocklist::parse("evil.example").unwrap());
    assert_eq!(edge.get("/sale"), unknown);
    edge.memory.target_blocklist.replace(HostBlocklist::default());
    assert_eq!(sent(&edge, "/sale", ""), DEFAULT);
}

/// D132: the targets of rules are sent as the link's own target is.
#[tokio::test(flavor = "multi_thread")]
async fn d132_d133_rules_have_the_ways_of_their_link() {
    use signpost_domain::{RedirectStatus, Utm, UtmPart, UtmValue};
    let edge = started().await;
    let rules = r#"[{"conditions":[{"type":"query","name":"a","is":"present"}],"target_url":"https://example.org/x?own=1#top"}]"#;
    let utm = Utm::new(|part| UtmValue::parse("mail").ok().filter(|_| part == UtmPart::Source));
    // No request can have a permanent status beside rules, but a row may.
    let way = Way { redirect_status: RedirectStatus::PermanentRedirect, forward_query: true, utm };
    edge.add(&ruled("sale", rules).with(|content| content.way = way)).await;
    let answer = visit(&edge, "/sale?a=1&own=2&src=qr", "");
    assert_eq!(location(&answer), (307, Some("https://example.org/x?own=1&utm_source=mail&a=1#top")));
    assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    assert_eq!(
        location(&visit(&edge, "/sale?b=1", "")),
        (307, Some(&*format!("{DEFAULT}?utm_source=mail&b=1")))
    );
}
