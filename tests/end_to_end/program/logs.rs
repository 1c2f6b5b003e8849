//! Logs: D4, D61. R31 in the small.

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

#[test]
fn r31_a_visitors_address_agent_and_query_are_never_logged() {
    let mut program = Program::start();
    let visitor = program.visitor();
    for path in ["/nothing?secretquery=1", "/?secretquery=2"] {
        visitor.request(
            "GET",
            path,
            &[
                ("Host", "localhost"),
                ("User-Agent", "secretagent/1.0"),
                ("Referer", "https://secretreferrer.example"),
            ],
        );
    }
    let log = program.stop_and_read_log();
    for secret in ["secretquery", "secretagent", "secretreferrer"] {
        assert!(!log.contains(secret), "{log}");
    }
}
