//! `Location` for any target, title or query (D24, D53).

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use signpost_domain::{Landing, Name, Redirect, SystemDomain, TargetUrl};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;
use tokio::runtime::Handle;
use tokio::task::block_in_place;
use url::Url;

use crate::harness::{Answer, Edge, options};

/// System domains as operators configure them: in development, behind a TLS proxy, on a custom port, on the
/// other scheme's port, and as bare addresses; with and without a trailing slash.
const ORIGINS: [&str; 7] = [
    "http://localhost:8081",
    "https://go.example.com/",
    "https://go.example.com:8443/",
    "http://go.example.com:443",
    "http://[2001:db8::1]:8081/",
    "https://[::1]",
    "http://192.0.2.7/",
];

/// Number of targets for each origin.
const TARGETS_PER_ORIGIN: u32 = 600;

/// The `Host` that a browser sends for an address under `origin`.
fn host_of(origin: &str) -> String {
    let url = Url::parse(origin).unwrap();
    let host = url.host_str().unwrap().to_owned();
    url.port().map_or_else(|| host.clone(), |port| format!("{host}:{port}"))
}

fn visit(edge: &Edge, method: &str, path: &str, host: &str) -> Answer {
    edge.request_with(method, path, &format!("Host: {host}\r\n"))
}

/// A path, query and fragment of every allowed character: visible ASCII except the backslash, and non-ASCII
/// characters other than white space and control characters.
fn any_rest() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "(/[!-\\[\\]-~]{0,40})?(\\?[!-\\[\\]-~]{0,30})?(#[!-\\[\\]-~]{0,30})?",
        3 => "/[a-z%./üß例🦀\u{301}\u{200b}\u{202e}\u{feff}\u{ffff}\u{10ffff}'\"<>]{0,40}(\\?[a-z=&é\"<>]{0,20})?(#[a-zß`]{0,20})?",
        1 => "/\\PC{0,40}(\\?\\PC{0,20})?(#\\PC{0,20})?",
    ]
}

fn any_target() -> impl Strategy<Value = TargetUrl> {
    let host = prop_oneof![
        4 => "[a-zA-Z0-9_-]{1,12}(\\.[a-zA-Z]{2,6}){1,3}\\.?",
        3 => "[a-züÄßéжЖ例🦀אنक]{1,8}(\\.[a-zübéж]{1,6}){0,2}\\.?",
        1 => any::<std::net::Ipv4Addr>().prop_map(|address| address.to_string()),
        1 => any::<std::net::Ipv6Addr>().prop_map(|address| format!("[{address}]")),
    ];
    let port = prop_oneof![3 => Just(String::new()), 1 => ":[0-9]{0,4}"];
    ("[hH][tT]{2}[pP][sS]?://", host, port, any_rest())
        .prop_map(|(scheme, host, port, rest)| format!("{scheme}{host}{port}{rest}"))
        .prop_filter_map("no target", |text| TargetUrl::parse(&text).ok())
}

fn any_name() -> impl Strategy<Value = Name> {
    "[ -~üß例\u{202e}\u{200b}<>&'\"]{1,40}".prop_filter_map("no name", |text| Name::parse(&text).ok())
}

/// Checks for one `Location` of visible ASCII that means `target`, and for no additional header.
#[track_caller]
fn leads_to(answer: &Answer, target: &TargetUrl) -> Result<(), TestCaseError> {
    prop_assert_eq!(answer.status, 302);
    let names: Vec<&str> = answer.headers.keys().map(String::as_str).collect();
    prop_assert_eq!(names, ["cache-control", "connection", "content-length", "location"]);
    let locations = answer.headers.get("location").unwrap();
    prop_assert_eq!(locations.len(), 1);
    let location = &locations[0];
    prop_assert!(location.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{}", location);
    prop_assert_eq!(Url::parse(location).unwrap(), Url::parse(target.as_str()).unwrap());
    if target.as_str().is_ascii() {
        prop_assert_eq!(location, target.as_str(), "an ASCII target is sent byte for byte");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn d53_r10_any_target_is_one_clean_location_at_every_origin() {
    for origin in ORIGINS {
        let memory = InMemory::new(SystemDomain::new(origin, Vec::new()).unwrap());
        let edge = Edge::start_with(memory, options(0), |_| {}).await;
        let host = host_of(origin);
        let first = samples::redirect("sale");
        edge.add(&first).await;
        let runtime = Handle::current();
        let config = Config { failure_persistence: None, ..Config::with_cases(TARGETS_PER_ORIGIN) };
        let mut runner = TestRunner::new(config);
        let mut stored = first;
        let outcome = block_in_place(|| {
            let stored = std::cell::RefCell::new(&mut stored);
            runner.run(&(any_target(), any_name()), |(target_url, name)| {
                let mut stored = stored.borrow_mut();
                let next = Redirect { name, ..stored.clone() }
                    .with(|content| content.target_url = target_url.clone());
                runtime.block_on(edge.update(*stored, &next));
                **stored = next;
                leads_to(&visit(&edge, "GET", "/sale", &host), &target_url)
            })
        });
        outcome.unwrap_or_else(|failure| panic!("at {origin}: {failure}"));
        edge.server.stop(false).await.unwrap();
    }
}

/// R10: a page is shown in place, so its title never reaches a header.
#[tokio::test(flavor = "multi_thread")]
async fn r10_title_never_reaches_a_header() {
    let edge = Edge::start().await;
    let plain = samples::landing("menu");
    edge.add(&plain).await;
    let usual = edge.get("/menu").headers;
    for title in [
        "Location: https://evil.example",
        "a%0d%0aLocation: https://evil.example",
        "嘊嘍Location: https://evil.example",
        "\"><meta http-equiv=refresh content=0;url=//evil.example>",
        "\u{202e}elpmaxe",
    ] {
        let after = Landing { name: samples::name(title), ..plain.clone() };
        edge.update(&plain, &after).await;
        let mut headers = edge.get("/menu").headers;
        assert_eq!(headers.keys().collect::<Vec<_>>(), usual.keys().collect::<Vec<_>>(), "{title}");
        headers.insert("content-length".to_owned(), usual["content-length"].clone());
        assert_eq!(headers, usual, "{title}");
        edge.update(&after, &plain).await;
    }
}

/// Contract "Size and format bounds": a target of maximum length, of the characters that grow most. Each
/// becomes twelve.
#[tokio::test(flavor = "multi_thread")]
async fn d53_r10_longest_location_arrives_complete() {
    let edge = Edge::start().await;
    let start = "https://example.com/";
    let crabs = TargetUrl::MAX_CHARS - start.len();
    let target_url = samples::target(&format!("{start}{}", "🦀".repeat(crabs)));
    edge.add(&samples::redirect("sale").with(|content| content.target_url = target_url.clone())).await;
    let answer = edge.get("/sale");
    leads_to(&answer, &target_url).unwrap();
    assert_eq!(answer.header("location").unwrap().len(), start.len() + 12 * crabs);
}

/// Parameters that advertisers, frameworks and attackers append.
const PARAMETERS: [&str; 57] = [
    "utm_source=mail",
    "utm_medium=email",
    "utm_campaign=a&utm_term=b&utm_content=c",
    "gclid=1",
    "fbclid=1",
    "msclkid=1",
    "ref=x",
    "src=qr",
    "src=evil",
    "url=https://evil.example",
    "url=//evil.example",
    "u=https%3A%2F%2Fevil.example",
    "target=https://evil.example",
    "target_url=https://evil.example",
    "to=https://evil.example",
    "goto=javascript:alert(1)",
    "next=/%5Cevil.example",
    "next=%2F%2Fevil.example",
    "redirect=https://evil.example",
    "redirect_uri=https://evil.example",
    "redirectUrl=https://evil.example",
    "return=https://evil.example",
    "returnTo=https://evil.example",
    "continue=https://evil.example",
    "dest=https://evil.example",
    "destination=https://evil.example",
    "location=https://evil.example",
    "Location=https://evil.example",
    "host=evil.example",
    "domain=evil.example",
    "slug=other",
    "id=rdr_00000000000000000000000000000000",
    "is_active=false",
    "callback=alert",
    "_method=DELETE",
    "a=%0d%0aLocation:%20https://evil.example",
    "%0d%0aLocation:%20https://evil.example",
    "a=%00",
    "a=%",
    "a=%zz",
    "a=%ff%fe",
    "a=%E5%98%8A%E5%98%8D",
    "a[]=1&a[]=2",
    "a=1&a=2&a=3",
    "a;b;c",
    "=",
    "&&&",
    "?",
    "/../other",
    "@evil.example",
    "{}|^`'\\",
    // A URI has no place for these. Browsers encode them, other programs send them as they are.
    "\"",
    "<",
    ">",
    "ä",
    "a=\u{202e}",
    "",
];

/// R9: parameters that visitors append are not passed on and change nothing.
#[tokio::test(flavor = "multi_thread")]
async fn d53_r9_query_parameters_do_not_change_the_location() {
    let edge = Edge::start().await;
    for (slug, target) in [
        ("plain", "https://good.example"),
        ("query", "https://good.example/a?utm_source=own&url=https://good.example/b"),
        ("fragment", "https://good.example/a#b?c"),
        ("other", "https://other.example/"),
        ("unicode", "https://bücher.example/ä?ö#ü"),
    ] {
        let target_url = samples::target(target);
        edge.add(&samples::redirect(slug).with(|content| content.target_url = target_url.clone())).await;
        let all = PARAMETERS.join("&");
        for parameters in PARAMETERS.into_iter().chain([all.as_str()]) {
            for path in [format!("/{slug}?{parameters}"), format!("/{slug}/?{parameters}")] {
                for method in ["GET", "HEAD"] {
                    let answer = edge.request(method, &path);
                    assert_eq!(answer.header("location"), Some(target_url.location().as_str()), "{path}");
                }
            }
        }
    }
}
