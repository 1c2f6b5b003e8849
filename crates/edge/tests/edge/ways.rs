//! The status of redirects, and the parameters that they add to their targets (D24, D132).

use std::io::{Read as _, Write as _};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use signpost_app::ports::Store;
use signpost_domain::{
    ClickLimit, CountryCode, GeoBlocklist, Life, MaxClicks, Pixel, PixelIds, PixelType, Redirect,
    RedirectStatus, Revision, Schedule, Utm, UtmPart, UtmValue, Way,
};
use signpost_port_contracts::samples;
use tokio::task::block_in_place;
use url::Url;

use crate::harness::{Answer, Edge, HOST, redirect_to};

const END: &str = "https://example.com/end";

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

fn own(path: &str) -> String {
    format!("https://{HOST}{path}")
}

fn on_the_way(slug: &str, target: &str, way: Way) -> Redirect {
    redirect_to(slug, target).with(|content| content.way = way)
}

fn with_status(redirect_status: RedirectStatus) -> Way {
    Way { redirect_status, ..Way::default() }
}

fn forwarding() -> Way {
    Way { forward_query: true, ..Way::default() }
}

fn with_source(source: &str) -> Way {
    let utm = Utm::new(|part| UtmValue::parse(source).ok().filter(|_| part == UtmPart::Source));
    Way { utm, ..Way::default() }
}

fn with_limit(redirect: Redirect, max: u64) -> Redirect {
    let limit = ClickLimit::new(MaxClicks::new(max).unwrap(), 0, Revision::FIRST);
    redirect.with(|content| content.click_limit = Some(limit))
}

fn visit(edge: &Edge, path: &str) -> Answer {
    edge.request_with("GET", path, &format!("Host: {HOST}\r\nUser-Agent: {BROWSER}\r\n"))
}

fn location(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.header("location"))
}

fn cached(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.header("cache-control"))
}

/// Short locations are written directly, and long ones are not.
#[tokio::test(flavor = "multi_thread")]
async fn d132_each_status_is_answered_and_only_permanent_ones_may_be_kept() {
    let edge = Edge::start().await;
    let long = format!("{END}/{}", "x".repeat(1_000));
    for status in RedirectStatus::ALL {
        for (length, target) in [("short", END), ("long", long.as_str())] {
            let slug = format!("{length}-{}", status.code());
            edge.add(&on_the_way(&slug, target, with_status(status))).await;
            let answer = edge.get(&format!("/{slug}"));
            let expected = if status.is_permanent() { "private, max-age=90" } else { "private, no-store" };
            assert_eq!(cached(&answer), (status.code(), Some(expected)), "{slug}");
            assert_eq!(answer.header("location"), Some(target), "{slug}");
            let names: Vec<&str> = answer.headers.keys().map(String::as_str).collect();
            assert_eq!(names, ["cache-control", "connection", "content-length", "location"], "{slug}");
            assert_eq!(edge.request("HEAD", &format!("/{slug}")), answer);
            let old = edge.send(format!("GET /{slug} HTTP/1.0\r\nHost: {HOST}\r\n\r\n").as_bytes());
            assert_eq!(cached(&old), cached(&answer), "{slug} over HTTP/1.0");
        }
    }
}

/// R12: the node that changes a link sends its visitors on in the new way at once.
#[tokio::test(flavor = "multi_thread")]
async fn r12_d132_a_changed_way_applies_to_the_next_visit() {
    let edge = Edge::start().await;
    let mut before = redirect_to("sale", END);
    edge.add(&before).await;
    for (way, path, expected) in [
        (Way::default(), "/sale?a=1", (302, END.to_owned())),
        (with_source("mail & more"), "/sale?a=1", (302, format!("{END}?utm_source=mail%20%26%20more"))),
        (forwarding(), "/sale?a=1", (302, format!("{END}?a=1"))),
        (
            Way {
                redirect_status: RedirectStatus::PermanentRedirect,
                forward_query: true,
                ..with_source("x")
            },
            "/sale?a=1&utm_source=y",
            (308, format!("{END}?utm_source=x&a=1")),
        ),
        (Way::default(), "/sale?a=1", (302, END.to_owned())),
    ] {
        let after = before.clone().with(|content| content.way = way);
        edge.update(&before, &after).await;
        let (status, target) = expected;
        assert_eq!(location(&edge.get(path)), (status, Some(target.as_str())));
        before = after;
    }
}

/// No use case stores these, but rows may be older than the rule, or corrupt.
#[tokio::test(flavor = "multi_thread")]
async fn d132_no_answer_that_a_gate_let_through_may_be_kept() {
    let edge = Edge::start().await;
    let permanent = |slug| on_the_way(slug, END, with_status(RedirectStatus::PermanentRedirect));
    let schedule = Schedule::new(Some(samples::at(-9)), Some(samples::at(99_000))).unwrap();
    let blocklist = GeoBlocklist::new(vec![CountryCode::parse("FR").unwrap()]);
    for gated in [
        Redirect { life: Life { schedule, fallback_url: None }, ..permanent("dates") },
        permanent("blocks").with(|content| content.geo_blocklist = blocklist),
        permanent("antibot").with(|content| content.antibot_enabled = true),
        with_limit(permanent("limit"), 9),
    ] {
        edge.add(&gated).await;
        let path = format!("/{}", gated.placement.slug().unwrap().as_str());
        assert_eq!(cached(&visit(&edge, &path)), (307, Some("private, no-store")), "{path}");
    }
}

/// Visitors who ask not to be tracked are redirected at once, and the answer to a password redirects too.
#[tokio::test(flavor = "multi_thread")]
async fn d132_no_answer_beside_pixels_or_a_password_may_be_kept() {
    let edge = Edge::start().await;
    let permanent = |slug| on_the_way(slug, END, with_status(RedirectStatus::PermanentRedirect));
    let pixel_ids = add_pixel(&edge).await;
    edge.add(&permanent("pixels").with(|content| content.pixel_ids = pixel_ids.clone())).await;
    edge.add_protected(&permanent("password"), "plover").await;
    edge.add_protected(&permanent("both").with(|content| content.pixel_ids = pixel_ids), "plover").await;
    let untracked = format!("User-Agent: {BROWSER}\r\nDNT: 1\r\n");
    let sent = |path: &str, password: &str| edge.post_with(path, &untracked, &format!("password={password}"));
    for (what, answer, status) in [
        ("pixels", visit(&edge, "/pixels"), 200),
        ("no tracking", edge.request_with("GET", "/pixels", &format!("Host: {HOST}\r\n{untracked}")), 307),
        ("form", visit(&edge, "/password"), 200),
        ("wrong password", sent("/password", "wrong"), 403),
        ("password", sent("/password", "plover"), 303),
        ("password and no tracking", sent("/both", "plover"), 303),
    ] {
        assert_eq!(cached(&answer), (status, Some("private, no-store")), "{what}");
    }
}

/// A pixel of the account, as the list of a redirect.
async fn add_pixel(edge: &Edge) -> PixelIds {
    let pixel = Pixel { code: samples::pixel_code(PixelType::Meta), ..samples::pixel("pixel") };
    let mut work = edge.memory.store.begin().await.unwrap();
    work.insert_pixel(edge.account, &pixel, 100).await.unwrap();
    edge.commit(work).await;
    samples::pixel_ids(vec![pixel.id])
}

/// The page that fires the pixels leads to the same location as the redirect without it.
#[tokio::test(flavor = "multi_thread")]
async fn d57_d132_the_page_of_pixels_forwards_parameters_too() {
    let edge = Edge::start().await;
    let pixel_ids = add_pixel(&edge).await;
    let redirect = on_the_way("sale", END, forwarding()).with(|content| content.pixel_ids = pixel_ids);
    edge.add(&redirect).await;
    let path = "/sale?a='\"><script>&b=2";
    let target = format!("{END}?a='%22%3E%3Cscript%3E&b=2");
    let plain = edge.request_with("GET", path, &format!("Host: {HOST}\r\nDNT: 1\r\n"));
    assert_eq!(location(&plain), (302, Some(target.as_str())));
    let page = edge.get(path);
    assert_eq!(page.status, 200);
    assert!(page.body.contains("%22%3E%3Cscript%3E") && !page.body.contains("<script>"), "{}", page.body);
}

/// A visit that uses a click is sent on like any other.
#[tokio::test(flavor = "multi_thread")]
async fn d130_d132_a_link_with_a_limit_forwards_parameters_too() {
    let edge = Edge::start().await;
    edge.add(&with_limit(on_the_way("once", END, forwarding()), 1)).await;
    let target = format!("{END}?a=1");
    assert_eq!(location(&visit(&edge, "/once?a=1&src=qr")), (302, Some(target.as_str())));
    assert_eq!(location(&visit(&edge, "/once?a=1")), (410, None));
}

/// A chain answers what a browser would get that opens its links one after the other.
#[tokio::test(flavor = "multi_thread")]
async fn d24_d132_a_chain_is_permanent_only_if_all_its_links_are() {
    use RedirectStatus::{Found, MovedPermanently, PermanentRedirect, TemporaryRedirect};
    let edge = Edge::start().await;
    for (number, (statuses, expected)) in [
        ([MovedPermanently, PermanentRedirect, MovedPermanently], 301),
        ([PermanentRedirect, MovedPermanently, PermanentRedirect], 308),
        ([MovedPermanently, MovedPermanently, Found], 302),
        ([MovedPermanently, TemporaryRedirect, MovedPermanently], 302),
        ([PermanentRedirect, Found, PermanentRedirect], 307),
        ([Found, PermanentRedirect, PermanentRedirect], 302),
        ([TemporaryRedirect, Found, Found], 307),
    ]
    .into_iter()
    .enumerate()
    {
        let slug = |position: usize| format!("c{number}-{position}");
        for (position, status) in statuses.into_iter().enumerate() {
            let next = if position == 2 { END.to_owned() } else { own(&format!("/{}", slug(position + 1))) };
            edge.add(&on_the_way(&slug(position), &next, with_status(status))).await;
        }
        assert_eq!(location(&edge.get(&format!("/{}", slug(0)))), (expected, Some(END)), "{statuses:?}");
    }
    // A gate of a further link.
    edge.add(&on_the_way("first", &own("/second"), with_status(MovedPermanently))).await;
    let gated = on_the_way("second", END, with_status(PermanentRedirect)).with(|content| {
        content.geo_blocklist = GeoBlocklist::new(vec![CountryCode::parse("FR").unwrap()]);
    });
    edge.add(&gated).await;
    assert_eq!(cached(&edge.get("/first")), (302, Some("private, no-store")));
    // A link with dates is not a part of the chain: its address is the target.
    edge.add(&on_the_way("to-dated", &own("/dated"), with_status(MovedPermanently))).await;
    let schedule = Schedule::new(None, Some(samples::at(99_000))).unwrap();
    edge.add(&Redirect { life: Life { schedule, fallback_url: None }, ..redirect_to("dated", END) }).await;
    assert_eq!(location(&edge.get("/to-dated")), (301, Some(own("/dated").as_str())));
}

#[tokio::test(flavor = "multi_thread")]
async fn d24_d132_each_link_of_a_chain_decides_about_parameters() {
    let edge = Edge::start().await;
    let plain = Way::default;
    for (number, ways, expected) in [
        // Only where all links forward them, the visitor's parameters arrive.
        (0, [forwarding(), forwarding()], "?end=1&own=0&a=1"),
        (1, [forwarding(), plain()], "?end=1"),
        (2, [plain(), forwarding()], "?end=1&own=0"),
        (3, [plain(), plain()], "?end=1"),
        // Those of a campaign are a part of the target, so a further link forwards them, and its own win.
        (4, [with_source("first"), plain()], "?end=1"),
        (5, [with_source("first"), forwarding()], "?end=1&own=0&utm_source=first"),
        (6, [with_source("first"), with_source("second")], "?end=1&utm_source=second"),
        (
            7,
            [with_source("first"), Way { forward_query: true, ..with_source("second") }],
            "?end=1&utm_source=second&own=0",
        ),
    ] {
        let [first, second] = ways;
        let next = own(&format!("/second-{number}?own=0#fragment"));
        edge.add(&on_the_way(&format!("first-{number}"), &next, first)).await;
        edge.add(&on_the_way(&format!("second-{number}"), &format!("{END}?end=1#top"), second)).await;
        let answer = edge.get(&format!("/first-{number}?a=1&own=2&end=3&src=qr"));
        assert_eq!(location(&answer), (302, Some(format!("{END}{expected}#top").as_str())), "{number}");
    }
    // A landing page is shown at its own address, with what a browser would bring there, in the same bytes.
    edge.add(&samples::landing("menu")).await;
    for (slug, way, expected) in [
        ("to-menu", plain(), "/menu?own=%zz&src=qr#top"),
        ("tagged-to-menu", with_source("mail"), "/menu?own=%zz&src=qr&utm_source=mail#top"),
        ("forwarding-to-menu", forwarding(), "/menu?own=%zz&src=qr&a=1#top"),
    ] {
        edge.add(&on_the_way(slug, &own("/menu/?own=%zz&src=qr#top"), way)).await;
        let answer = edge.get(&format!("/{slug}?a=1&own=2"));
        assert_eq!(location(&answer), (302, Some(own(expected).as_str())), "{slug}");
    }
    // So is a link with dates.
    let schedule = Schedule::new(None, Some(samples::at(99_000))).unwrap();
    edge.add(&Redirect { life: Life { schedule, fallback_url: None }, ..redirect_to("dated", END) }).await;
    edge.add(&on_the_way("to-dated", &own("/dated"), forwarding())).await;
    assert_eq!(location(&edge.get("/to-dated?a=1&src=qr")), (302, Some(own("/dated?a=1").as_str())));
}

/// Targets in which a visitor might reach the host: without a path, with a query, a fragment, or what looks like a host in these.
const TARGETS: [&str; 8] = [
    "https://good.example",
    "http://good.example:8080",
    "https://good.example/",
    "https://good.example/?",
    "https://good.example?a=1&next=//evil.example#@evil.example",
    "https://good.example/@evil.example/#",
    "https://good.example//evil.example\u{e4}?q=\u{fc}#\u{df}",
    "https://[2001:db8::1]:8443/%2F%2Fevil.example",
];

/// What visitors send behind the `?`. Only a space would end the request line.
pub(crate) fn any_query() -> impl Strategy<Value = Vec<u8>> {
    let hostile = proptest::sample::select(vec![
        "%0d%0aLocation:%20https://evil.example",
        "//evil.example",
        "\\\\evil.example",
        "@evil.example",
        ":443@evil.example",
        "#https://evil.example",
        "?https://evil.example",
        "a=1",
        "next=x",
        "src=qr",
        "%",
        "%00",
        "%e5%98%8a%e5%98%8dLocation:x",
        "&",
        "=",
        ";",
        "\"",
        "<>",
        "\u{e4}",
        "\u{202e}",
    ]);
    prop_oneof![
        proptest::collection::vec(hostile, 1..8).prop_map(|parts| parts.concat().into_bytes()),
        proptest::collection::vec(0x21..=0xff_u8, 0..60),
    ]
}

/// R9, R10: whatever a visitor sends, the location has the scheme, host, port, path and fragment of the target.
#[tokio::test(flavor = "multi_thread")]
async fn r9_r10_d132_no_query_changes_where_a_forwarding_link_leads() {
    let edge = Edge::start().await;
    for (number, target) in TARGETS.into_iter().enumerate() {
        edge.add(&on_the_way(&format!("t{number}"), target, forwarding())).await;
    }
    let config = Config { failure_persistence: None, ..Config::with_cases(2_000) };
    let outcome = block_in_place(|| {
        TestRunner::new(config).run(&(0..TARGETS.len(), any_query()), |(number, query)| {
            let start = format!("GET /t{number}?").into_bytes();
            let end = format!(" HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n").into_bytes();
            let answer = edge.send(&[start, query, end].concat());
            // The listener refuses some bytes, and nobody is redirected then.
            if answer.status == 400 {
                prop_assert_eq!(answer.header("location"), None);
                return Ok(());
            }
            let names: Vec<&str> = answer.headers.keys().map(String::as_str).collect();
            prop_assert_eq!(names, ["cache-control", "connection", "content-length", "location"]);
            let location = answer.header("location").unwrap();
            prop_assert!(location.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{}", location);
            let (sent, own) = (Url::parse(location).unwrap(), Url::parse(TARGETS[number]).unwrap());
            prop_assert_eq!(
                (sent.scheme(), sent.host_str(), sent.port()),
                (own.scheme(), own.host_str(), own.port())
            );
            prop_assert_eq!((sent.username(), sent.password()), ("", None));
            prop_assert_eq!((sent.path(), sent.fragment()), (own.path(), own.fragment()));
            let values = |url: &Url, name: &str| {
                let of_name =
                    url.query_pairs().filter(|(own, _)| own == name).map(|(_, value)| value.into_owned());
                of_name.collect::<Vec<_>>()
            };
            for (name, _) in own.query_pairs() {
                prop_assert_eq!(values(&sent, &name), values(&own, &name), "{} in {}", name, location);
            }
            Ok(())
        })
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn r10_d132_a_query_that_does_not_fit_is_not_forwarded() {
    let edge = Edge::start().await;
    edge.add(&on_the_way("sale", END, forwarding())).await;
    let room = 4_096 - END.len() - "?a=".len();
    let longest = format!("a={}", "x".repeat(room));
    let location_of = |query: &str| edge.get(&format!("/sale?{query}")).header("location").map(str::to_owned);
    assert_eq!(location_of(&longest), Some(format!("{END}?{longest}")));
    for too_long in [format!("{longest}x"), "\"".repeat(room), "x&".repeat(10_000)] {
        assert_eq!(location_of(&too_long).as_deref(), Some(END));
    }
    // The listener reads no head of this length. It may close before the client has sent all of it.
    let mut stream = edge.connect();
    let request = format!("GET /sale?a={} HTTP/1.1\r\nHost: {HOST}\r\n\r\n", "x".repeat(100_000));
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    assert!(!answer.starts_with("HTTP/1.1 3") && !answer.contains("location:"), "{answer}");
}
