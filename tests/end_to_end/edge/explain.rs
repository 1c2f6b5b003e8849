//! Tests of links and explanations of addresses say what visits get, and leave no trace (D136).

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use signpost_test_servers::country_database::{Located, country_database};

use crate::harness::domains::path_of;
use crate::harness::{
    Account, Answer, BROWSER, DomainScene, Program, Visit, Visitor, exchange, parse_response, redirect_body,
};

const HOST: (&str, &str) = ("Host", "localhost:8081");

const IPHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                      Version/18.6 Mobile/15E148 Safari/604.1";

const GOOGLEBOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

const EXPLAIN: &str = "/v1/explain";

/// A visitor, as a visit sends it and as a test describes it.
#[derive(Debug, Clone, Copy)]
struct Somebody {
    agent: &'static str,
    language: &'static str,
    referrer: &'static str,
    query: &'static str,
    address: &'static str,
}

/// A person abroad with a browser.
const PERSON: Somebody =
    Somebody { agent: BROWSER, language: "", referrer: "", query: "", address: "203.0.113.9" };

const VISITORS: [Somebody; 14] = [
    PERSON,
    Somebody { address: "192.0.2.7", ..PERSON },
    Somebody { address: "192.0.2.7", language: "en;q=0.5, de-AT", ..PERSON },
    Somebody { agent: IPHONE, ..PERSON },
    Somebody { agent: IPHONE, address: "2001:db8::7", language: "fr", ..PERSON },
    Somebody { agent: "WhatsApp/2.23.20.0", ..PERSON },
    Somebody { agent: GOOGLEBOT, address: "192.0.2.7", ..PERSON },
    Somebody { agent: "curl/8.14.1", ..PERSON },
    Somebody { agent: "", ..PERSON },
    Somebody { referrer: "https://www.news.example/article?id=7", ..PERSON },
    Somebody { referrer: "about:blank", ..PERSON },
    Somebody { query: "plan=beta&ref=a%20b", ..PERSON },
    Somebody { query: "utm_source=x&lang=en&src=qr", language: "*", ..PERSON },
    Somebody { query: "q=[]%zz&plan", address: "198.51.100.9", ..PERSON },
];

impl Somebody {
    fn visit(&self, visitor: &Visitor, slug: &str) -> Visit {
        let Self { agent, language, referrer, query, address } = *self;
        let mut headers = vec![HOST, ("User-Agent", agent), ("X-Forwarded-For", address)];
        headers.extend(
            [("Accept-Language", language), ("Referer", referrer)]
                .into_iter()
                .filter(|(_, value)| !value.is_empty()),
        );
        let path = if query.is_empty() { format!("/{slug}") } else { format!("/{slug}?{query}") };
        visitor.request("GET", &path, &headers)
    }

    /// The body of a test.
    fn described(&self) -> Value {
        let Self { agent, language, referrer, query, address } = *self;
        let mut body = json!({"user_agent": agent, "address": address});
        for (name, value) in [("language", language), ("referrer", referrer), ("query", query)] {
            if !value.is_empty() {
                body[name] = json!(value);
            }
        }
        body
    }
}

fn to(name: &str) -> String {
    format!("https://example.com/{name}")
}

fn rule(name: &str, conditions: Value) -> Value {
    json!({"name": name, "conditions": conditions, "target_url": to(name)})
}

/// Redirects of every kind, by their slugs.
fn redirects(pixel: &Value) -> Vec<(&'static str, Value)> {
    let rules = json!([
        rule("german", json!([{"type": "country", "in": ["DE"]}, {"type": "language", "in": ["de"]}])),
        rule("ios", json!([{"type": "os", "in": ["iOS"]}])),
        rule("beta", json!([{"type": "query", "name": "plan", "is": "equals", "value": "beta"}])),
        rule("news", json!([{"type": "referrer", "in": ["news.example"]}])),
        rule("office", json!([{"type": "network", "in": ["198.51.100.0/24"]}])),
        rule("abroad", json!([{"type": "country", "in": ["DE"], "not": true}])),
    ]);
    let variant = |name: &str| json!({"name": name, "target_url": to(name), "weight": 1});
    let split = json!([{"name": "try", "conditions": [], "split": [variant("old"), variant("new"), variant("newer")]}]);
    let card = json!({"title": "Autumn", "description": "All of it", "image_url": to("autumn.jpg")});
    let utm = json!({"source": "mail", "campaign": "Spring & more"});
    vec![
        ("plain", json!({})),
        ("permanent", json!({"redirect_status": 301})),
        (
            "forwarding",
            json!({"target_url": to("shop?lang=de#top"), "redirect_status": 307, "forward_query": true, "utm": utm}),
        ),
        ("ruled", json!({"rules": rules, "utm": utm, "forward_query": true})),
        ("split", json!({"rules": split})),
        ("closed", json!({"geo_blocklists": {"countries": ["DE"]}})),
        ("guarded", json!({"antibot_enabled": true, "geo_blocklists": {"countries": ["DE"]}})),
        ("later", json!({"starts_at": "2999-01-01T00:00:00Z"})),
        ("over", json!({"expires_at": "2020-01-01T00:00:00Z"})),
        ("fallback", json!({"expires_at": "2020-01-01T00:00:00Z", "fallback_url": to("over")})),
        ("off", json!({"is_active": false})),
        ("secret", json!({"password": "plover", "rules": rules})),
        ("limited", json!({"max_clicks": 1_000})),
        ("used-up", json!({"max_clicks": 1, "fallback_url": to("over")})),
        ("pixels", json!({"pixel_ids": [pixel], "target_url": to("pixels")})),
        ("ruled-pixels", json!({"pixel_ids": [pixel], "rules": split})),
        ("card", json!({"preview": card})),
        (
            "card-secret",
            json!({"preview": card, "password": "plover", "max_clicks": 1_000, "antibot_enabled": true}),
        ),
        ("chain", json!({"target_url": "http://localhost:8081/forwarding", "forward_query": true})),
        ("to-rules", json!({"target_url": "http://localhost:8081/ruled"})),
        ("to-page", json!({"target_url": "http://localhost:8081/page"})),
    ]
}

/// Asserts that what was told about a visit is what the visit got.
#[track_caller]
fn assert_true(told: &Answer, visit: &Visit, what: &str) {
    let (told, context) = (&told.body, format!("{what}: {visit:?} but {told:?}", told = told.body));
    assert_eq!(told["object"], "explanation", "{context}");
    assert_eq!(told["status"], visit.status, "{context}");
    let outcome = told["outcome"].as_str().unwrap();
    let location = told["location"].as_str();
    let is_form = visit.body.contains("name=\"password\"");
    let is_page = visit.body.contains("The page of this test");
    match (visit.status, visit.location()) {
        (_, Some(to)) => {
            assert_eq!(location, Some(to), "{context}");
            assert!(["redirect", "expired", "not_found"].contains(&outcome), "{context}");
        }
        (200, None) if outcome == "redirect" => {
            // The page that fires pixels has the location in its markup.
            let shown = location.unwrap().replace('&', "&amp;");
            assert!(visit.body.contains(&shown) && visit.body.contains("123456789012345"), "{context}");
        }
        (200, None) => {
            assert_eq!(
                outcome,
                if is_form {
                    "password"
                } else if is_page {
                    "page"
                } else {
                    "preview"
                },
                "{context}"
            );
            assert_eq!(location, None, "{context}");
        }
        (status, None) => {
            let expected = match status {
                403 => "blocked",
                404 => "not_found",
                410 => "expired",
                503 => "unavailable",
                other => panic!("{other}: {context}"),
            };
            assert_eq!((outcome, location), (expected, None), "{context}");
        }
    }
    let results: Vec<&str> =
        told["steps"].as_array().unwrap().iter().map(|step| step["result"].as_str().unwrap()).collect();
    let stop = results.iter().position(|result| *result == "stop");
    let is_sent_on = ["redirect", "page"].contains(&outcome);
    assert_eq!(stop.is_none(), is_sent_on, "{context}");
    let passed = stop.unwrap_or(results.len());
    assert!(results[..passed].iter().all(|result| *result == "pass"), "{context}");
    assert!(results.iter().skip(passed + 1).all(|result| *result == "skip"), "{context}");
}

/// An explanation without the reason of the end, which tells how many clicks are left: a node takes clicks of the limit in advance, and
/// returns them when it wants.
fn without_clicks_left(told: &Answer) -> Value {
    let mut told = told.body.clone();
    for step in told["steps"].as_array_mut().unwrap().iter_mut().filter(|step| step["check"] == "end") {
        step["reason"].take();
    }
    told
}

/// Every kind of link for every kind of visitor.
#[test]
fn d136_a_test_says_what_the_visit_gets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("countries.mmdb");
    fs::write(&file, country_database(&[("192.0.2.0/24", Located::in_country("DE"))])).unwrap();
    let program = Program::builder().setting("geoip-database", file.to_str().unwrap()).start();
    let account = program.account("unlimited");
    let pixel = json!({"pixel_type": "meta", "pixel_id": "123456789012345"});
    let pixel = account.post("/v1/pixels", &pixel).expect_status(201).body["id"].clone();
    let page = json!({"title": "The page of this test", "slug": "page"});
    account.post("/v1/landings", &page).expect_status(201);
    let visitor = program.visitor();
    let (mut outcomes, mut rules) = (vec![], vec![]);
    for (slug, fields) in redirects(&pixel) {
        let mut body = redirect_body(fields);
        body["slug"] = json!(slug);
        let link = account.create_redirect(&body);
        let test = format!("{}/test", path_of(&link));
        if slug == "used-up" {
            assert_eq!(PERSON.visit(&visitor, slug).location(), Some("https://example.com"));
        }
        for somebody in VISITORS {
            let what = format!("{slug} {somebody:?}");
            let told = account.post(&test, &somebody.described()).expect_status(200);
            let by_address = explained(&account, slug, &somebody);
            assert_eq!(without_clicks_left(&by_address), without_clicks_left(&told), "{what}");
            assert_true(&told, &somebody.visit(&visitor, slug), &what);
            outcomes.push(told.body["outcome"].as_str().unwrap().to_owned());
            let applied = &told.body["rule"];
            rules.push(format!("{} {}", applied["name"], applied["variant"]));
        }
    }
    for somebody in VISITORS {
        let what = format!("the page {somebody:?}");
        assert_true(&explained(&account, "page", &somebody), &somebody.visit(&visitor, "page"), &what);
    }
    for outcome in ["redirect", "password", "preview", "blocked", "expired", "not_found", "unavailable"] {
        assert!(outcomes.iter().any(|found| found == outcome), "{outcome}");
    }
    for rule in [
        "\"german\" null",
        "\"ios\" null",
        "\"beta\" null",
        "\"news\" null",
        "\"office\" null",
        "\"try\" \"new\"",
        "null null",
    ] {
        assert!(rules.iter().any(|found| found == rule), "{rule}: {rules:?}");
    }
}

/// What is told about the address of a link on the system domain.
fn explained(account: &Account, slug: &str, somebody: &Somebody) -> Answer {
    let mut body = somebody.described();
    let query = body.as_object_mut().unwrap().remove("query");
    let query = query.map_or_else(String::new, |query| format!("?{}", query.as_str().unwrap()));
    body["url"] = json!(format!("http://localhost:8081/{slug}{query}"));
    account.post(EXPLAIN, &body).expect_status(200)
}

/// A rule and a date hold for the instant that is asked for, and not for the present.
#[test]
fn d136_a_test_tells_the_future_and_the_past() {
    let program = Program::start();
    let account = program.first_account();
    let rules = json!([rule(
        "eve",
        json!([{"type": "date", "from": "2998-12-24T00:00:00Z", "until": "2998-12-25T00:00:00Z"}])
    )]);
    let body = json!({
        "slug": "advent", "target_url": to("advent"), "rules": rules,
        "starts_at": "2998-12-01T00:00:00Z", "expires_at": "2998-12-26T00:00:00Z", "fallback_url": to("over"),
    });
    let link = account.create_redirect(&redirect_body(body));
    let test = format!("{}/test", path_of(&link));
    for (at, outcome, location) in [
        (None, "not_found", None),
        (Some("2998-11-30T23:59:59.999Z"), "not_found", None),
        (Some("2998-12-01T01:00:00+01:00"), "redirect", Some(to("advent"))),
        (Some("2998-12-24T12:00:00Z"), "redirect", Some(to("eve"))),
        (Some("2998-12-26T00:00:00Z"), "expired", Some(to("over"))),
    ] {
        let told = account.post(&test, &json!({ "at": at })).expect_status(200).body;
        assert_eq!(
            (&told["outcome"], &told["location"]),
            (&json!(outcome), &json!(location)),
            "{at:?}: {told}"
        );
    }
    assert_eq!(program.visitor().open("/advent").status, 404);
}

/// Fifty tests of every kind count nothing and use no click.
#[test]
fn d136_tests_leave_no_trace() {
    let program = Program::builder().setting("metrics-listen", "127.0.0.1:0").start();
    let account = program.account("agency");
    let body = json!({"slug": "limited", "max_clicks": 3, "antibot_enabled": false});
    let link = account.create_redirect(&redirect_body(body));
    let one = path_of(&link);
    let before = account.get(&one).expect_status(200).body;
    let metrics = || Visitor::new(program.metrics.as_ref().unwrap()).request("GET", "/metrics", &[]).body;
    let visits = || {
        let metrics = metrics();
        let lines = metrics.lines().filter(|line| line.starts_with("signpost_visits"));
        lines.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let counted = visits();
    for number in 0..25 {
        let somebody = VISITORS[number % VISITORS.len()];
        account.post(&format!("{one}/test"), &somebody.described()).expect_status(200);
        explained(&account, "limited", &somebody);
    }
    assert_eq!(account.get(&one).expect_status(200).body, before);
    assert_eq!(before["clicks_left"], 3);
    assert_eq!(visits(), counted);

    let visitor = program.visitor();
    for _ in 0..3 {
        visitor.open_until("/limited", 302);
    }
    // The store may be slow to say that no click is left.
    let fourth = std::iter::repeat_with(|| visitor.open("/limited").status).find(|status| *status != 503);
    assert_eq!(fourth, Some(410), "exactly the limit");
    let told = account.post(&format!("{one}/test"), &json!({})).expect_status(200).body;
    assert_eq!((&told["outcome"], &told["status"]), (&json!("expired"), &json!(410)));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let hour = Duration::from_hours(1);
    let (start, end) = (now.checked_sub(hour).unwrap().as_millis(), (now + hour).as_millis());
    let path = format!("{one}/analytics?start_date={start}&end_date={end}");
    let totals = || account.get(&path).expect_status(200).body["totals"].take();
    let began = Instant::now();
    while totals()["clicks"] != 3 {
        assert!(began.elapsed() < Duration::from_mins(1), "the clicks are not stored: {}", totals());
        std::thread::sleep(Duration::from_millis(50));
    }
    let totals = totals();
    assert_eq!((&totals["bots"], &totals["blocked"]), (&json!(0), &json!(0)), "{totals}");
    let log = program.log();
    for somebody in VISITORS {
        assert!(!log.contains(somebody.address), "R31: {log}");
    }
}

/// Who asks learns only about own links: everything else is answered byte for byte alike.
#[test]
fn d136_foreign_unknown_and_malformed_addresses_answer_alike() {
    let scene = DomainScene::start();
    let program = scene.first();
    let (one, other) = (program.account("agency"), program.account("agency"));
    scene.activate(&other, "go.shop.test");
    let password = json!({"slug": "theirs", "password": "plover", "antibot_enabled": true});
    other.create_redirect(&redirect_body(password));
    other.create_redirect(&redirect_body(json!({"slug": "off", "is_active": false})));
    other.create_redirect(&redirect_body(json!({"slug": "theirs", "domain": "go.shop.test"})));
    other.create_redirect(&redirect_body(json!({"slug": null, "domain": "go.shop.test"})));
    other.post("/v1/landings", &json!({"title": "x", "slug": "page"})).expect_status(201);
    let system = one.new_redirect()["url"].as_str().unwrap().rsplit_once('/').unwrap().0.to_owned();
    let explain = |url: &str| {
        let body = json!({"url": url, "country": "DE", "user_agent": GOOGLEBOT}).to_string();
        let request = format!(
            "POST {EXPLAIN} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: \
             {}\r\nConnection: close\r\n\r\n{body}",
            program.api,
            one.key,
            body.len()
        );
        let (status, head, body) = parse_response(&exchange(&program.api, request.as_bytes()));
        assert_eq!(status, 200, "{url}: {body}");
        let varies = ["x-request-id", "date", "ratelimit-"];
        let head = head.to_ascii_lowercase();
        let same = head.lines().filter(|line| !varies.iter().any(|name| line.starts_with(name)));
        // Headers come in any order.
        (same.map(str::to_owned).collect::<BTreeSet<_>>(), body)
    };
    let unknown = explain(&format!("{system}/nothing"));
    assert!(unknown.1.contains("\"outcome\":\"not_found\""), "{}", unknown.1);
    for path in ["theirs", "off", "page", "theirs?x=y", "", "a/b/c", "%zz", "theirs/qr.svg", "robots.txt"] {
        assert_eq!(explain(&format!("{system}/{path}")), unknown, "{path}");
    }
    for url in [
        "https://go.shop.test/theirs",
        "https://go.shop.test/",
        "https://go.shop.test/nothing",
        "https://nobodys.shop.test/theirs",
        "http://",
        "http://[::1/x",
        "https://a b/",
        "https://go.shop.test:99999/theirs",
        "https://\u{1f980}\u{0}/",
    ] {
        assert_eq!(explain(url), unknown, "{url}");
    }
    let own = one.new_redirect();
    assert_ne!(explain(own["url"].as_str().unwrap()).1, unknown.1);
    let test = format!("/v1/redirects/{}/test", own["id"].as_str().unwrap());
    other.post(&test, &json!({})).expect_error(404, "redirect_not_found");
}
