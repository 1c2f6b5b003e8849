//! Logs (D4, D61). `promises/traces.rs` looks for traces of hostile requests in them.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{ON_FREE_PORTS, Program, exchange, parse_response, signpost, within_one_minute};

#[test]
fn d18_an_untrusted_proxy_and_each_throttled_address_are_logged_once() {
    within_one_minute(|| {
        let mut program = Program::builder()
            .setting("trusted-proxies", "192.0.2.0/24")
            .setting("throttle-per-minute", "2")
            .setting("miss-throttle-per-minute", "2")
            .start();
        let (stranger, visitor) = (program.with_key("none"), program.visitor());
        let forwarded = [("X-Forwarded-For", "203.0.113.77")];
        let rejected: Vec<_> =
            (0..5).map(|_| stranger.send_with("GET", "/v1/account", &forwarded, None).status).collect();
        assert_eq!(rejected, [401, 401, 429, 429, 429]);
        let missed: Vec<_> = (0..5).map(|_| visitor.request("GET", "/nothing", &forwarded).status).collect();
        assert_eq!(missed, [404, 404, 429, 429, 429]);
        let log = program.stop_and_read_log();
        let lines = |part: &str| log.lines().filter(|line| line.contains(part)).collect::<Vec<_>>();
        assert_eq!(lines("`trusted-proxies` does not name").len(), 1, "{log}");
        let [rejections] = *lines("the limit `throttle-per-minute`") else { panic!("{log}") };
        assert!(rejections.contains("address=127.0.0.1"), "{rejections}");
        let [line] = *lines("as `miss-throttle-per-minute` allows") else { panic!("{log}") };
        assert!(!line.contains("127.0.0.1"), "a visitor's address: {line}");
        assert!(!log.contains("203.0.113.77"), "{log}");
    });
}

#[test]
fn d4_a_line_of_the_log_names_account_and_key_but_not_the_secret() {
    let mut program = Program::start();
    let account = program.first_account();
    account.get("/v1/account").expect_status(200);
    let accounts = program.command(&["account", "list", "--json"]);
    let id = accounts[0]["id"].as_str().unwrap();
    let keys = program.command(&["key", "list", "--account", id, "--json"]);
    let key = keys[0]["id"].as_str().unwrap();
    let log = program.stop_and_read_log();
    let line = log.lines().find(|line| line.contains("answered") && line.contains("/v1/account")).unwrap();
    assert!(line.ends_with(&format!("account={id} key={key}")), "{line}");
    assert!(!log.contains(&account.key[8..]), "{log}");
}

#[test]
fn d55_the_start_says_that_country_blocks_have_no_effect() {
    let line = "country blocks and country rules of links have no effect";
    let log = Program::start().stop_and_read_log();
    assert!(log.contains(line) && log.contains("`geoip-database`"), "{log}");
    let log = Program::builder().setting("country-header", "CF-IPCountry").start().stop_and_read_log();
    assert!(!log.contains(line) && log.contains("country-header=\"cf-ipcountry\""), "{log}");
}

#[test]
fn d61_domains_are_offered_only_where_the_edge_can_be_reached() {
    for (system_url, edge, is_offered) in [
        ("http://localhost:8081", None, false),
        ("http://127.0.0.1:8081", None, false),
        ("http://go.internal", None, false),
        ("http://intranet", None, false),
        ("http://go.example.com", None, true),
        ("http://localhost:8081", Some(("edge-hostname", "edge.internal")), true),
        ("http://127.0.0.1:8081", Some(("edge-addresses", "192.0.2.1")), false),
    ] {
        let node = Program::builder().setting("system-url", system_url);
        let node = edge.into_iter().fold(node, |node, (setting, value)| node.setting(setting, value));
        let mut program = node.start();
        let account = program.first_account();
        let answer = account.post("/v1/domains", &json!({ "hostname": "go.shop.com" }));
        if is_offered {
            answer.expect_status(201);
        } else {
            let refused = answer.expect_error(503, "domain_provider_unavailable");
            let message = refused.body["error"]["message"].as_str().unwrap();
            assert!(message.contains("`edge-hostname`"), "{message}");
        }
        let log = program.stop_and_read_log();
        let warned = log.contains("custom domains are off") && log.contains("edge-hostname");
        assert_eq!(warned, !is_offered, "{system_url} {edge:?}: {log}");
    }
}

/// A full disk under the log, or a pipe without a reader, costs log lines only.
#[test]
fn r40_an_unwritable_log_does_not_stop_the_program() {
    for full in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let log = if full {
            Stdio::from(OpenOptions::new().write(true).open("/dev/full").unwrap())
        } else {
            Stdio::piped()
        };
        let mut command = signpost(folder.path(), &ON_FREE_PORTS);
        let mut program = command
            .env("SIGNPOST_DATABASE_URL", "sqlite://signpost.db")
            .env("RUST_LOG", "trace")
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        // The reading end of the pipe.
        drop(program.stderr.take());
        let announced = BufReader::new(program.stdout.take().unwrap()).lines().map_while(Result::ok);
        let listening = announced
            .map(|line| serde_json::from_str::<Value>(&line).unwrap())
            .find(|event| event["event"] == "listening")
            .expect("the program stopped before it listened");
        let api = listening["api"].as_str().unwrap();
        for _ in 0..50 {
            let answer = exchange(api, b"GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            assert_eq!(parse_response(&answer).0, 200);
        }
        assert!(program.try_wait().unwrap().is_none());
        program.kill().unwrap();
        program.wait().unwrap();
    }
}
