//! Logs: D4, D61. What hostile requests leave in them, `promises/traces.rs` looks for.

use serde_json::Value;

use crate::harness::{Program, exchange};

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
