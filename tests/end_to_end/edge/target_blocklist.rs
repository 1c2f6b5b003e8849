//! The operator's blocklist of target hosts (D24, D54; R33 at small scale).

use std::time::Duration;

use serde_json::json;

use crate::harness::{OPENING, Program};

/// How long to wait until a change of the list takes effect (R33): much longer than it should take, for a busy machine.
const HOLDS_WITHIN: Duration = Duration::from_mins(1);

#[test]
fn d24_links_to_listed_hosts_are_neither_created_nor_followed() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("blocked.txt");
    std::fs::write(&list, "# our list\nblocked.example.net\n").unwrap();
    let program = Program::builder()
        .setting("target-blocklist", list.to_str().unwrap())
        .setting("miss-throttle-per-minute", "0")
        .start();
    let account = program.first_account();
    for target in ["https://blocked.example.net/x", "http://sub.BLOCKED.example.net:8080"] {
        account
            .post("/v1/redirects", &json!({"name": "x", "target_url": target}))
            .expect_violations(&[("target_url", "invalid_value")]);
    }
    account
        .create_redirect(&json!({"name": "x", "slug": "later", "target_url": "https://later.example.net"}));
    let visitor = program.visitor();
    assert_eq!(visitor.open("/later").status, 302);

    std::fs::write(&list, "later.example.net\n").unwrap();
    visitor.request_until("/later", &OPENING, 404, HOLDS_WITHIN);
    account.create_redirect(&json!({"name": "x", "target_url": "https://blocked.example.net/x"}));

    // With a broken list, the last good one stays in force.
    std::fs::write(&list, "later.example.net\nnot a host!\n").unwrap();
    program.await_log("blocked.txt: line 2");
    assert_eq!(visitor.open("/later").status, 404);

    std::fs::write(&list, "# empty\n").unwrap();
    visitor.request_until("/later", &OPENING, 302, HOLDS_WITHIN);
}
