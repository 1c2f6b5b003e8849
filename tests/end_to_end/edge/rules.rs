//! Redirects that send some visitors elsewhere, and splits of visitors (D133, D134).

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use signpost_test_servers::country_database::{Located, country_database};

use crate::harness::domains::path_of;
use crate::harness::{Account, BROWSER, Program, Visit, Visitor, redirect_body};

const HOST: (&str, &str) = ("Host", "localhost:8081");

const IPHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                      Version/18.6 Mobile/15E148 Safari/604.1";

const ANDROID: &str = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";

/// Where a rule of these tests leads.
fn to(name: &str) -> String {
    format!("https://example.com/{name}")
}

fn rule(name: &str, conditions: Value) -> Value {
    json!({"name": name, "conditions": conditions, "target_url": to(name)})
}

/// Opens a path as a browser with these headers instead of or beside its own.
fn open(visitor: &Visitor, path: &str, headers: &[(&str, &str)]) -> Visit {
    let agent = headers.iter().any(|(name, _)| *name == "User-Agent");
    let own = if agent { vec![HOST] } else { vec![HOST, ("User-Agent", BROWSER)] };
    visitor.request("GET", path, &[own.as_slice(), headers].concat())
}

/// From the request over the store to the answer of the next visit, for every type of condition.
#[test]
fn d133_the_first_rule_that_holds_decides_where_a_visitor_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("countries.mmdb");
    fs::write(&file, country_database(&[("192.0.2.0/24", Located::in_country("DE"))])).unwrap();
    let program = Program::builder().setting("geoip-database", file.to_str().unwrap()).start();
    let account = program.first_account();
    let rules = json!([
        rule("off", json!([{"type": "date", "until": "2020-01-01T00:00:00Z"}])),
        rule(
            "never",
            json!([
                {"type": "hours", "timezone": "UTC", "days": [1, 2, 3, 4, 5, 6, 7], "from": "00:00", "until": "00:00", "not": true},
            ])
        ),
        rule("german", json!([{"type": "country", "in": ["DE"]}, {"type": "language", "in": ["de"]}])),
        rule("ios", json!([{"type": "os", "in": ["ios"]}])),
        rule("phone", json!([{"type": "device", "in": ["mobile"]}])),
        rule("beta", json!([{"type": "query", "name": "plan", "is": "equals", "value": "beta & more"}])),
        rule("news", json!([{"type": "referrer", "in": ["news.example"]}])),
        rule("office", json!([{"type": "network", "in": ["198.51.100.0/24", "2001:db8::/32"]}])),
        rule("abroad", json!([{"type": "country", "in": ["DE"], "not": true}])),
        rule("other", json!([{"type": "browser", "in": ["Firefox"], "not": true}])),
    ]);
    let body = json!({"slug": "ruled", "target_url": to("own"), "rules": rules, "utm": {"source": "mail"}});
    let link = account.create_redirect(&redirect_body(body));
    assert_eq!(link["rules"].as_array().unwrap().len(), 10);
    let visitor = program.visitor();
    let german = ("X-Forwarded-For", "192.0.2.7");
    for (path, headers, expected) in [
        ("/ruled", &[][..], "own"),
        ("/ruled", &[german], "own"),
        ("/ruled", &[german, ("Accept-Language", "en;q=0.5, de-AT")], "german"),
        // The language is not enough for the rule with two conditions.
        ("/ruled", &[("Accept-Language", "de")], "own"),
        ("/ruled", &[("User-Agent", IPHONE)], "ios"),
        ("/ruled", &[("User-Agent", ANDROID)], "phone"),
        ("/ruled?x=1&plan=beta+%26%20more", &[], "beta"),
        ("/ruled?plan=beta", &[], "own"),
        ("/ruled", &[("Referer", "https://www.News.example/article")], "news"),
        ("/ruled", &[("Referer", "https://notnews.example/")], "own"),
        ("/ruled", &[("X-Forwarded-For", "198.51.100.9")], "office"),
        ("/ruled", &[("X-Forwarded-For", "2001:db8::7")], "office"),
        // Without a country, neither the rule for one nor that for all others holds.
        ("/ruled", &[("X-Forwarded-For", "203.0.113.9")], "own"),
    ] {
        let visit = open(&visitor, path, headers);
        let location = format!("{}?utm_source=mail", to(expected));
        assert_eq!((visit.status, visit.location()), (302, Some(location.as_str())), "{path} {headers:?}");
        assert_eq!(visit.header("cache-control"), Some("private, no-store"));
        let mut own = vec![HOST, ("User-Agent", BROWSER)];
        own.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
        let head = visitor.request("HEAD", path, &[own.as_slice(), headers].concat());
        assert_eq!((head.status, head.location()), (302, Some(location.as_str())), "HEAD {path} {headers:?}");
    }

    let one = path_of(&link);
    account.patch(&one, &json!({"rules": [rule("all", json!([]))], "utm": null})).expect_status(200);
    assert_eq!(open(&visitor, "/ruled", &[]).location(), Some(to("all").as_str()));
    let refused = account.patch(&one, &json!({"redirect_status": 301}));
    assert_eq!(refused.violations(), [("redirect_status".to_owned(), "invalid_value".to_owned())]);
    account.patch(&one, &json!({"rules": null, "redirect_status": 301})).expect_status(200);
    let plain = open(&visitor, "/ruled", &[("User-Agent", IPHONE)]);
    assert_eq!((plain.status, plain.location()), (301, Some(to("own").as_str())));
}

/// A link that leads to one with rules sends its visitors to that link's address, where the rules decide.
#[test]
fn d133_gates_come_first_and_chains_end_before_rules() {
    let program = Program::start();
    let account = program.first_account();
    let rules = json!([rule("all", json!([]))]);
    let guarded = json!({"slug": "guarded", "antibot_enabled": true, "forward_query": true, "rules": rules});
    let link = account.create_redirect(&redirect_body(guarded));
    account.create_redirect(&redirect_body(json!({"slug": "first", "target_url": link["url"]})));
    let visitor = program.visitor();
    assert_eq!(open(&visitor, "/first", &[]).location(), link["url"].as_str());
    assert_eq!(open(&visitor, "/guarded?ref=x", &[]).location(), Some("https://example.com/all?ref=x"));
    assert_eq!(open(&visitor, "/guarded", &[("User-Agent", "curl/8.14.1")]).status, 403);
}

/// The variant that each of many visitors gets.
fn variants(visitor: &Visitor, visitors: usize) -> BTreeMap<String, String> {
    (0..visitors)
        .map(|number| {
            let address = format!("198.51.{}.{}", 100 + number / 250, number % 250);
            let visit = open(visitor, "/split", &[("X-Forwarded-For", &address)]);
            (address, visit.location().unwrap().to_owned())
        })
        .collect()
}

const SPLIT: &str = r#"[{"name": "try", "conditions": [], "split": [
    {"name": "old", "target_url": "https://example.com/old", "weight": 3},
    {"name": "new", "target_url": "https://example.com/new", "weight": 1}
]}]"#;

fn split(account: &Account) -> Value {
    let rules: Value = serde_json::from_str(SPLIT).unwrap();
    account.create_redirect(&redirect_body(json!({"slug": "split", "rules": rules})))
}

#[test]
fn d134_a_visitor_keeps_a_variant_over_restarts_and_changes_of_other_fields() {
    const VISITORS: usize = 400;
    let mut program = Program::start();
    let account = program.first_account();
    let link = split(&account);
    let first = variants(&program.visitor(), VISITORS);
    let new = first.values().filter(|location| location.ends_with("/new")).count();
    // A quarter of 400, within five standard deviations.
    assert!((57..=143).contains(&new), "{new} of {VISITORS}");
    assert!(first.values().all(|location| [to("old"), to("new")].contains(location)), "{first:?}");
    let one = path_of(&link);
    account.patch(&one, &json!({"name": "Another", "rules": link["rules"]})).expect_status(200);
    assert_eq!(variants(&program.visitor(), VISITORS), first);
    program.signal("TERM");
    program.wait();
    program.start_again();
    assert_eq!(variants(&program.visitor(), VISITORS), first);
    // Devices with one IPv6 network, and other agents at one address.
    let of = |address: &str, agent: &str| {
        let headers = [("X-Forwarded-For", address), ("User-Agent", agent)];
        open(&program.visitor(), "/split", &headers).location().unwrap().to_owned()
    };
    for network in 0..8 {
        let [here, there] = ["::1", "::ffff:1"].map(|rest| format!("2001:db8:0:{network}{rest}"));
        assert_eq!(of(&here, BROWSER), of(&there, BROWSER), "{network}");
    }
}

#[test]
fn d133_d134_files_move_rules_and_the_variants_of_visitors() {
    let here = Program::start();
    let account = here.account("agency");
    let link = split(&account);
    let before = variants(&here.visitor(), 60);
    for file in ["all.jsonl", "all.csv"] {
        let exported = here.run(&["export", "--account", account.id(), "--output", file]);
        assert!(exported.status.success(), "{exported:?}");
        let there = Program::start();
        let other = there.account("agency");
        fs::copy(here.folder().join(file), there.folder().join(file)).unwrap();
        for _ in 0..2 {
            let imported = there.run(&["import", "--account", other.id(), file]);
            assert!(imported.status.success(), "{imported:?}");
        }
        let moved = other.get(&path_of(&link)).expect_status(200).body;
        assert_eq!(moved["rules"], link["rules"], "{file}");
        assert_eq!(variants(&there.visitor(), 60), before, "{file}");
    }
}

#[test]
fn d134_clicks_are_counted_by_rule_and_variant() {
    let program = Program::start();
    let account = program.account("agency");
    let mut rules: Value = serde_json::from_str(SPLIT).unwrap();
    rules[0]["conditions"] = json!([{"type": "query", "name": "try", "is": "present"}]);
    rules.as_array_mut().unwrap().insert(0, rule("ios", json!([{"type": "os", "in": ["iOS"]}])));
    let link = account.create_redirect(&redirect_body(json!({"slug": "counted", "rules": rules})));
    let visitor = program.visitor();
    open(&visitor, "/counted", &[]);
    open(&visitor, "/counted", &[("User-Agent", IPHONE)]);
    open(&visitor, "/counted", &[("User-Agent", IPHONE)]);
    let visit = open(&visitor, "/counted?try", &[]);
    let variant = format!("try.{}", visit.location().unwrap().rsplit('/').next().unwrap());

    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let hour = Duration::from_hours(1);
    let (start, end) = (now.checked_sub(hour).unwrap().as_millis(), (now + hour).as_millis());
    let report = |more: &str| {
        let path = format!("{}/analytics?start_date={start}&end_date={end}{more}", path_of(&link));
        account.get(&path).expect_status(200).body
    };
    let began = Instant::now();
    while report("")["totals"]["clicks"] != 4 {
        assert!(began.elapsed() < Duration::from_mins(1), "the clicks are not stored");
        std::thread::sleep(Duration::from_millis(50));
    }
    let counted = report("&dimensions=rule")["dimensions"]["rule"].take();
    let clicks: Vec<_> = counted
        .as_array()
        .unwrap()
        .iter()
        .map(|value| (value["value"].as_str().unwrap(), value["clicks"].as_u64().unwrap()))
        .collect();
    assert_eq!(clicks, [("ios", 2), ("", 1), (&variant, 1)]);
    assert_eq!(report("&rule=ios")["totals"]["clicks"], 2);
    assert_eq!(report("&rule=")["totals"]["clicks"], 1);
    let path = format!("{}/analytics/clicks?start_date={start}&end_date={end}&rule=-ios", path_of(&link));
    let lines = account.get(&path).expect_status(200).body;
    let lines = lines.as_str().unwrap();
    assert!(lines.contains(&format!("\"rule\":\"{variant}\"}}")), "{lines}");
    assert!(!lines.contains("\"rule\":\"ios\""), "{lines}");
}
