//! The disk is full (R40): changes fail with a clear error, everything else works, and nothing is damaged when
//! there is room again.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signpost_sqlite::DatabaseFile;

use crate::balancer::Balancer;
use crate::harness::{Account, Program, rate_limits, redirect_body};
use crate::ledger::Ledger;
use crate::load::{self, Fault};
use crate::outcome::{Sample, report};
use crate::scene::ANSWERED_WITHIN;
use crate::size::length;

/// How soon everything works again once there is room (R40).
const RECOVERED_WITHIN: Duration = Duration::from_secs(10);

/// How soon readiness shows a full disk.
const SHOWN_WITHIN: Duration = Duration::from_secs(10);

/// The file of the embedded store cannot grow for a while.
#[test]
fn r40_a_full_disk_stops_only_changes_and_damages_nothing() {
    let mut program = Program::builder()
        .with_disk_that_fills()
        .setting("store-timeout", "2s")
        .setting("metrics-listen", "127.0.0.1:0")
        .start();
    let account = program.first_account();
    let link = account.create_redirect(&redirect_body(json!({"note": "kept"})));
    let (path, open) = (
        format!("/v1/redirects/{}", link["id"].as_str().unwrap()),
        format!("/{}", link["slug"].as_str().unwrap()),
    );
    let (balancer, ledger) = (Balancer::new(std::slice::from_ref(&program), &account.key), Ledger::default());
    let outcome = load::run(&balancer, &ledger, 4, |load| {
        load.await_answers(60);
        let begin = Instant::now();
        fill_disk(&program);
        await_readiness(&program, 503, SHOWN_WITHIN);
        load.await_failures(20);
        let full = Instant::now();
        while full.elapsed() < length(Duration::from_secs(1)) {
            assert_eq!(program.visitor().open(&open).status, 302);
            assert_reads_go_on(&account, &path);
            assert_changes_are_refused(&account, &path);
            assert_health_tells(&program);
        }
        program.limit_files(None);
        let end = Instant::now();
        await_readiness(&program, 200, RECOVERED_WITHIN);
        let name = json!({"name": "there is room again"});
        while account.patch(&path, &name).status != 200 {
            assert!(end.elapsed() < RECOVERED_WITHIN, "changes succeed again");
        }
        Fault { begin, end }
    });
    let reads = |sample: &Sample| matches!(sample.what, "visit" | "list");
    for failure in outcome.failures() {
        assert!(!reads(failure), "a read: {failure:?}");
        assert_eq!(failure.status, Some(503), "{failure:?}");
    }
    outcome.is_answered_within(ANSWERED_WITHIN).has_failures().is_normal_again();
    account.delete(&path).expect_status(200);
    ledger.audit(&account);
    assert_counts_are_merged(&mut program);
    assert_file_is_whole(&program);
    report("R40, SQLite", &[outcome]);
}

/// Counts in memory are merged into the file: a restart, which loses the memory, keeps them.
fn assert_counts_are_merged(program: &mut Program) {
    let remaining = |program: &Program| {
        let answer = program.first_account().get("/v1/account").expect_status(200);
        let [_, _, _, left_of_day] = rate_limits(&answer).unwrap();
        left_of_day
    };
    let began = Instant::now();
    while program.metric("signpost_quota_store_up") != "1" {
        assert!(began.elapsed() < RECOVERED_WITHIN, "requests are counted in the file again");
    }
    let before = remaining(program);
    program.kill();
    program.start_again();
    assert_eq!(remaining(program), before - 1);
}

fn assert_file_is_whole(program: &Program) {
    let file = DatabaseFile::at(program.folder().join("signpost.db")).unwrap();
    let copy = program.folder().join("copy.db");
    // A backup checks the integrity of the copy, references included.
    signpost_sqlite::back_up(&file, &copy, Duration::from_secs(10)).unwrap();
}

/// Leaves room for a few more writes, which go into the write-ahead log.
fn fill_disk(program: &Program) {
    let sizes = fs::read_dir(program.folder()).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
    program.limit_files(Some(sizes.max().unwrap() + 64 * 1024));
}

fn health(program: &Program, what: &str) -> (u16, Value) {
    let answer = program.with_key("").send_with("GET", &format!("/health/{what}"), &[], None);
    (answer.status, answer.body["checks"]["database"].clone())
}

fn await_readiness(program: &Program, status: u16, patience: Duration) {
    let began = Instant::now();
    while health(program, "ready").0 != status {
        assert!(began.elapsed() < patience, "readiness is not {status}");
    }
}

fn assert_reads_go_on(account: &Account, path: &str) {
    for read in ["/v1/account", path, "/v1/redirects?limit=3", "/v1/redirects?q=kept", "/v1/groups"] {
        account.get(read).expect_status(200);
    }
}

fn assert_changes_are_refused(account: &Account, path: &str) {
    let new = redirect_body(json!({}));
    let batch = json!({"redirects": [&new, &new]});
    for answer in [
        account.post("/v1/redirects", &new),
        account.post("/v1/redirects/bulk", &batch),
        account.post_once("while-the-disk-is-full", "/v1/redirects", &new),
        account.patch(path, &json!({"name": "not stored"})),
        account.delete(path),
    ] {
        let answer = answer.expect_error(503, "internal_error");
        assert_eq!(answer.header("retry-after"), Some("10"), "{answer:?}");
        let message = answer.body["error"]["message"].as_str().unwrap();
        assert!(message.contains("can store no changes"), "{message}");
    }
}

fn assert_health_tells(program: &Program) {
    assert_eq!(health(program, "ready"), (503, json!("read_only")));
    assert_eq!(health(program, "links"), (200, json!("ok")));
    assert_eq!(health(program, "live").0, 200);
}
