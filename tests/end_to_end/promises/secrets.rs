//! R28: keys stay secret (D13), and a mistyped one costs no look-up.

use std::os::unix::process::ExitStatusExt as _;

use serde_json::json;

use crate::harness::{Account, Program, Visitor};

fn holds(bytes: &[u8], secret: &str) -> bool {
    bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
}

/// The random part of a key in its usual spellings, which must not appear anywhere.
fn spellings(key: &str) -> [String; 3] {
    let random = &key["sp_live_".len()..key.len() - 6];
    let hexadecimal: Vec<String> = random.bytes().map(|byte| format!("{byte:02x}")).collect();
    [random.to_owned(), random.chars().rev().collect(), hexadecimal.concat()]
}

#[track_caller]
fn nowhere_in(place: &str, bytes: &[u8], key: &str) {
    for secret in spellings(key) {
        assert!(!holds(bytes, &secret), "a key stands in {place}");
    }
}

/// Requests with the key where it belongs and in every place where people put it by mistake; gives all the answers.
fn mislay(account: &Account, visitor: &Visitor) -> String {
    let key = account.key.clone();
    let mut answers = Vec::new();
    let mut note =
        |answer: crate::harness::Answer| answers.push(format!("{:?} {}", answer.headers, answer.body));
    note(account.get("/v1/account").expect_status(200));
    note(account.post("/v1/groups", &json!({"name": "a group"})).expect_status(201));
    for path in [
        format!("/v1/redirects/{key}"),
        format!("/v1/{key}"),
        format!("/v1/redirects?q={key}&limit=x"),
        format!("/v1/redirects?cursor={key}"),
        format!("/v1/account?key={key}"),
        format!("/{key}"),
        format!("/health/{key}?{key}"),
    ] {
        let answer = account.get(&path);
        // D8: a violation names its parameter, so a key in a parameter's name goes back to its sender.
        note(answer);
    }
    for body in [
        json!({"name": [key], "target_url": "https://example.com"}),
        json!({"name": "x", "target_url": key}),
        json!({"name": "x", "target_url": format!("https://{key}@example.com/")}),
        json!({"name": "x", "target_url": "https://example.com", "slug": format!("{key} ")}),
        json!({"name": "x", "target_url": "https://example.com", "group_id": key}),
        json!({"name": "x", "target_url": "https://example.com", "domain": key}),
        json!(key),
    ] {
        let answer = account.post("/v1/redirects", &body);
        assert!(answer.status >= 400, "{answer:?}");
        note(answer);
    }
    let bearer = format!("Bearer {key}");
    for headers in [
        vec![("Authorization", key.as_str())],
        vec![("Authorization", bearer.as_str()), ("Authorization", bearer.as_str())],
        vec![("X-Api-Key", key.as_str())],
        vec![("Cookie", key.as_str())],
        vec![("User-Agent", key.as_str()), ("Referer", key.as_str())],
        vec![("X-Forwarded-For", key.as_str())],
        vec![("X-Request-Id", key.as_str())],
    ] {
        note(account.send_with("GET", "/v1/account", &headers, None).expect_error(401, "invalid_api_key"));
    }
    note(account.send_with(
        "POST",
        "/v1/groups",
        &[("Authorization", &bearer), ("Content-Type", &key)],
        Some(b"{}"),
    ));
    note(account.send_with(&key.replace('_', ""), "/v1/account", &[("Authorization", &bearer)], None));
    for path in [format!("/{key}"), format!("/?{key}"), "/nothing".to_owned()] {
        let visit = visitor.request("GET", &path, &[("Authorization", &bearer), ("Host", "localhost:8081")]);
        answers.push(format!("{:?} {}", visit.headers, visit.body));
    }
    answers.join("\n")
}

/// The log at its most talkative, in both forms; the database while it is open, with its journal, and after it was
/// closed; the metrics; every answer; and what the program prints of a key that it did not just issue.
#[test]
fn d13_r28_the_plain_key_is_nowhere_but_where_it_was_shown_once() {
    for format in ["text", "json"] {
        let flags = ["--log-format", format, "--metrics-listen", "127.0.0.1:0", "--throttle-per-minute", "0"];
        let variables = [("RUST_LOG".to_owned(), "trace".to_owned())];
        let folder = tempfile::tempdir().unwrap();
        let mut program = Program::start_in_with(folder, &flags.map(str::to_owned), &variables);
        let account = program.first_account();
        let id = account.get("/v1/account").body["id"].as_str().unwrap().to_owned();
        let issued = program.run(&["key", "issue", "--json", "--account", &id, "--name", "second"]);
        let second: serde_json::Value = serde_json::from_slice(&issued.stdout).unwrap();
        let second = program.with_key(second["key"].as_str().unwrap());
        assert!(holds(&issued.stdout, &spellings(&second.key)[0]), "what is looked for can be found");
        let listed = program.run(&["key", "list", "--json", "--account", &id]);
        assert!(holds(&listed.stdout, &second.key[second.key.len() - 4..]), "the last four are shown");

        let visitor = program.visitor();
        let answers = [mislay(&account, &visitor), mislay(&second, &visitor)].join("\n");
        let metrics = Visitor::new(program.metrics.as_ref().unwrap()).request("GET", "/metrics", &[]).body;
        assert!(metrics.contains("signpost_api_requests_total"));
        let open = program.kept();
        let journal = |(name, bytes): &(String, Vec<u8>)| name.ends_with("-wal") && !bytes.is_empty();
        assert!(program.database().is_some() || open.iter().any(journal), "a journal is open");
        let log = program.stop_and_read_log();
        assert!(log.contains("TRACE") && log.contains("DEBUG"), "it is talkative");
        let closed = program.kept();
        assert!(closed.iter().any(|(_, bytes)| holds(bytes, "a group")), "what is kept can be found");

        for key in [&account.key, &second.key] {
            nowhere_in("an answer", answers.as_bytes(), key);
            nowhere_in("the metrics", metrics.as_bytes(), key);
            nowhere_in("the log", log.as_bytes(), key);
            nowhere_in("the log of a command", &issued.stderr, key);
            nowhere_in("the list of keys", &[listed.stdout.clone(), listed.stderr.clone()].concat(), key);
            for (name, bytes) in open.iter().chain(&closed) {
                nowhere_in(name, bytes, key);
            }
        }
        assert_eq!(program.rest_of_stdout(), "", "shown once");
    }
}

#[test]
fn r28_a_crash_dumps_no_core_even_where_the_system_allows_it() {
    let mut program = Program::builder().with_core_dumps().start();
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", program.pid())).unwrap();
    let limit = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(limit.split_whitespace().collect::<Vec<_>>()[4..6], ["0", "0"], "{limit}");
    program.signal("ABRT");
    let status = program.wait_for_status();
    assert!(!status.core_dumped() && status.signal().is_some(), "{status}");
}
