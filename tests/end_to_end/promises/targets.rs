//! R9, R10: a target is the target, and its `Location` is clean, whatever it is and wherever the program runs (D24, D53).

use serde_json::{Value, json};

use crate::harness::{Account, Program};

#[path = "../../../crates/domain/src/target_url/corpus/accepted.rs"]
mod accepted;
#[path = "../../../crates/domain/src/target_url/corpus/refused.rs"]
mod refused;

/// System domains as operators set them up, with what visitors' browsers send as `Host`.
const SYSTEM_URLS: [(&str, &str, &str); 6] = [
    ("http://localhost:8081", "http://localhost:8081", "localhost:8081"),
    ("https://go.example.com", "https://go.example.com", "go.example.com"),
    ("https://Go.Example.com:8443/", "https://go.example.com:8443", "go.example.com:8443"),
    ("http://go.example.com:443/", "http://go.example.com:443", "go.example.com:443"),
    ("http://[2001:DB8:0::1]:8081/", "http://[2001:db8::1]:8081", "[2001:db8::1]:8081"),
    ("https://192.0.2.7/", "https://192.0.2.7", "192.0.2.7"),
];

/// Every target that is accepted, with its `Location`.
fn accepted_targets() -> Vec<(&'static str, &'static str)> {
    let all = accepted::ODD.iter().chain(accepted::USUAL);
    all.map(|(target, _, location)| (*target, location.unwrap_or(target))).collect()
}

fn refused_targets() -> Vec<&'static str> {
    refused::REFUSED.iter().flat_map(|(_, targets)| targets.iter().copied()).collect()
}

/// Creates a redirect to each target, with names that would do harm in a header.
fn create(account: &Account, targets: &[&str]) -> Vec<Value> {
    let item =
        |target: &&str| json!({"name": "Location: https://evil.example\u{202e}", "target_url": target});
    let batches =
        targets.chunks(100).map(|batch| json!({"redirects": batch.iter().map(item).collect::<Vec<_>>()}));
    batches
        .flat_map(|batch| {
            let answer = account.post("/v1/redirects/bulk", &batch).expect_status(200).body;
            assert_eq!(answer["failed"], json!([]));
            answer["created"].as_array().unwrap().iter().map(|item| item["data"].clone()).collect::<Vec<_>>()
        })
        .collect()
}

/// R9: the whole corpus, in bulk and one by one; nothing of it comes into being or changes anything.
#[test]
fn d24_r9_every_hostile_target_is_refused_in_bulk_and_singly() {
    let program = Program::start();
    let account = program.first_account();
    let hostile = refused_targets();
    assert!(hostile.len() >= 400, "{}", hostile.len());
    for batch in hostile.chunks(100) {
        let items: Vec<_> = batch.iter().map(|target| json!({"name": "x", "target_url": target})).collect();
        let answer = account.post("/v1/redirects/bulk", &json!({"redirects": items})).expect_status(200).body;
        assert_eq!(answer["created_count"], 0, "{answer}");
        let failed = answer["failed"].as_array().unwrap();
        assert_eq!(failed.len(), batch.len());
        for (item, target) in failed.iter().zip(batch) {
            assert_eq!(item["error"]["code"], "invalid_request", "{item}");
            assert_eq!(item["error"]["value"], *target, "D29: the offending value, as it was sent");
        }
    }
    let link = account.new_redirect();
    let path = format!("/v1/redirects/{}", link["id"].as_str().unwrap());
    for target in hostile {
        account
            .patch(&path, &json!({"target_url": target}))
            .expect_violations(&[("target_url", "invalid_format")]);
    }
    assert_eq!(account.get(&path).body["target_url"], link["target_url"]);
    assert_eq!(account.walk("/v1/redirects", "").len(), 1);
}

/// R9, R10: what is accepted is kept exactly as given, shown under the system domain's address, and sent as one
/// clean `Location`, by every kind of system domain.
#[test]
fn d53_r10_every_accepted_target_is_kept_and_sent_at_every_kind_of_system_domain() {
    let targets = accepted_targets();
    for (setting, origin, host) in SYSTEM_URLS {
        let program = Program::builder().setting("system-url", setting).start();
        let account = program.first_account();
        let visitor = program.visitor();
        let links = create(&account, &targets.iter().map(|(target, _)| *target).collect::<Vec<_>>());
        assert_eq!(links.len(), targets.len());
        for (link, (target, location)) in links.iter().zip(&targets) {
            let slug = link["slug"].as_str().unwrap();
            assert_eq!(link["target_url"], *target, "kept byte for byte");
            assert_eq!(link["url"], format!("{origin}/{slug}"), "{setting}");
            let visit = visitor.request("GET", &format!("/{slug}"), &[("Host", host)]);
            let sent: Vec<_> = visit.headers.get_all("location").iter().collect();
            assert_eq!((visit.status, sent.len()), (302, 1), "{setting} {target}");
            assert!(sent[0].as_bytes().iter().all(|byte| (0x21..=0x7e).contains(byte)), "{target}");
            assert_eq!(sent[0], location, "{setting}");
        }
    }
}

/// R10: the API's own `Location` (D5) is a path that the id alone makes.
#[test]
fn d5_r10_the_location_of_a_new_link_is_its_path_whatever_it_is_called() {
    let program = Program::start();
    let account = program.first_account();
    for name in
        ["Location: https://evil.example", "嘊嘍Set-Cookie:a=b", "%0d%0aX: y", "\u{202e}elpmaxe", "\"'<>&"]
    {
        let body = json!({"name": name, "target_url": "https://example.com/", "note": name});
        let answer = account.post("/v1/redirects", &body).expect_status(201);
        assert_eq!(answer.headers.get_all("location").iter().count(), 1);
        let id = answer.body["id"].as_str().unwrap();
        assert_eq!(answer.header("location"), Some(format!("/v1/redirects/{id}").as_str()));
        assert_eq!(answer.body["name"], name);
    }
}

/// R9: what a visitor appends changes nothing, also on the program as it is built.
#[test]
fn d53_r9_no_query_changes_where_a_link_leads() {
    let program = Program::start();
    let account = program.first_account();
    let target = "https://good.example/a?utm_source=own#b";
    let link = account.create_redirect(&json!({"name": "x", "target_url": target}));
    let slug = link["slug"].as_str().unwrap();
    let visitor = program.visitor();
    for evil in accepted::ODD.iter().map(|(target, ..)| *target).filter(|target| target.is_ascii()) {
        // `"`, `<` and `>` do not stand in a request; browsers encode them.
        let evil = evil.replace('#', "%23").replace('"', "%22").replace('<', "%3C").replace('>', "%3E");
        for parameter in ["url", "redirect_uri", "utm_source", "Location", "src"] {
            let visit = visitor.open(&format!("/{slug}?{parameter}={evil}&x"));
            assert_eq!(visit.location(), Some(target), "{parameter}={evil}");
        }
    }
}
