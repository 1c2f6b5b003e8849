//! Logs: D4, D61. What hostile requests leave in them, `promises/traces.rs` looks for.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Program, exchange, parse_response, signpost};

#[test]
fn d61_json_logs_are_one_object_a_line_whatever_a_request_holds() {
    let mut program = Program::builder().setting("log-format", "json").start();
    let account = program.first_account();
    account.get("/v1/account");
    for raw in [
        b"GET /v1/%0d%0aX HTTP/1.1\r\nHost: x\r\nUser-Agent: a\x1b[31mb\r\nConnection: close\r\n\r\n"
            .as_slice(),
        b"B\x7fW /v1/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"BREW{} /v1/%e2%80%ae HTTP/1.1\r\nHost: \"x\r\nConnection: close\r\n\r\n",
    ] {
        exchange(&program.api, raw);
        exchange(&program.links, raw);
    }
    let log = program.stop_and_read_log();
    assert!(log.lines().count() > 2);
    for line in log.lines() {
        let parsed: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(parsed["level"].is_string() && parsed["timestamp"].is_string(), "{line}");
    }
}

/// Domains have to point at something (D38): the host of `system-url` if that is a name, or what the settings say.
#[test]
fn the_log_says_so_where_domains_would_have_to_point_at_a_name_that_public_dns_does_not_know() {
    for (system_url, is_told) in [("http://localhost:8081", true), ("http://go.example.com", false)] {
        let log = Program::builder().setting("system-url", system_url).start().stop_and_read_log();
        assert_eq!(
            log.contains("custom domains have to point at `localhost`"),
            is_told,
            "{system_url}: {log}"
        );
    }
}

#[test]
fn without_a_name_or_an_address_to_point_at_the_log_warns_that_no_domain_can_be_verified() {
    let warning = "no custom domain can be verified";
    for (system_url, edge, is_warned) in [
        ("http://127.0.0.1:8081", None, true),
        ("http://127.0.0.1:8081", Some(("edge-hostname", "edge.example.com")), false),
        ("http://127.0.0.1:8081", Some(("edge-addresses", "192.0.2.1")), false),
        ("http://go.example.com", None, false),
    ] {
        let node = Program::builder().setting("system-url", system_url);
        let node = edge.into_iter().fold(node, |node, (setting, value)| node.setting(setting, value));
        let log = node.start().stop_and_read_log();
        assert_eq!(log.contains(warning), is_warned, "{system_url} {edge:?}: {log}");
        if is_warned {
            assert!(log.contains("edge-hostname") && log.contains("edge-addresses"), "{log}");
        }
    }
}

/// R40: a full disk under the log, or a pipe that nobody reads any more, costs log lines and nothing else.
#[test]
fn r40_a_log_that_cannot_be_written_stops_nothing() {
    for full in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["serve", "--json", "--api-listen", "127.0.0.1:0", "--link-listen", "127.0.0.1:0"];
        let log = if full {
            Stdio::from(OpenOptions::new().write(true).open("/dev/full").unwrap())
        } else {
            Stdio::piped()
        };
        let mut command = signpost(folder.path(), &arguments);
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
