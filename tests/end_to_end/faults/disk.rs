//! The disk is full (R40): changes fail with a clear error, everything else works, and nothing is damaged when
//! there is room again.

use std::cell::RefCell;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signpost_sqlite::DatabaseFile;

use crate::balancer::Balancer;
use crate::harness::{Account, Program, rate_limits, redirect_body, within_one_day};
use crate::ledger::Ledger;
use crate::load::{self, Fault};
use crate::outcome::{Sample, report};
use crate::scene::STORE_TIMEOUT;
use crate::size::length;
use crate::waiting::{await_event, await_promised};

/// How soon everything works again once there is room (R40).
const RECOVERED_WITHIN: Duration = Duration::from_secs(10);

/// How soon readiness shows a full disk.
const SHOWN_WITHIN: Duration = Duration::from_secs(10);

/// How often every kind of request is sent while the disk is full.
const ROUNDS: usize = 3;

/// The file of the embedded store cannot grow for a while.
#[test]
fn r40_a_full_disk_stops_only_changes_and_damages_nothing() {
    let program = Program::builder().with_disk_that_fills().setting("metrics-listen", "127.0.0.1:0").start();
    let account = program.first_account();
    let link = account.create_redirect(&redirect_body(json!({"note": "kept"})));
    let (path, open) = (
        format!("/v1/redirects/{}", link["id"].as_str().unwrap()),
        format!("/{}", link["slug"].as_str().unwrap()),
    );
    let (balancer, ledger) = (Balancer::new(std::slice::from_ref(&program), &account.key), Ledger::default());
    let outcome = load::run(&balancer, &ledger, 4, STORE_TIMEOUT, |load| {
        load.await_answers(60);
        let begin = Instant::now();
        fill_disk(&program);
        await_promised("R40, readiness shows the full disk", SHOWN_WITHIN, || {
            health(&program, "ready").0 == 503
        });
        load.await_failures(20);
        let (full, mut rounds) = (Instant::now(), 0);
        while rounds < ROUNDS || full.elapsed() < length(Duration::ZERO) {
            rounds += 1;
            assert_eq!(program.visitor().open(&open).status, 302);
            assert_reads_go_on(&account, &path);
            assert_changes_are_refused(&account, &path);
            await_health(&program);
        }
        program.limit_files(None);
        let end = Instant::now();
        await_promised("R40, readiness shows the room", RECOVERED_WITHIN, || {
            health(&program, "ready").0 == 200
        });
        let name = json!({"name": "there is room again"});
        let changes = || account.patch(&path, &name).status == 200;
        await_promised("R40, changes succeed again", RECOVERED_WITHIN, changes);
        Fault { begin, end }
    });
    let reads = |sample: &Sample| matches!(sample.what, "visit" | "list");
    for failure in outcome.failures() {
        assert!(!reads(failure), "a read: {failure:?}");
        assert_eq!(failure.status, Some(503), "{failure:?}");
    }
    outcome.is_answered_in_time().has_failures().is_normal_again();
    account.delete(&path).expect_status(200);
    ledger.audit(&account);
    let program = RefCell::new(program);
    within_one_day(|| assert_counts_are_merged(&mut program.borrow_mut()));
    assert_file_is_whole(&program.borrow());
    report("R40, SQLite", &[outcome]);
}

/// Counts in memory are merged into the file: a restart, which loses the memory, keeps them.
fn assert_counts_are_merged(program: &mut Program) {
    let remaining = |program: &Program| {
        let answer = program.first_account().get("/v1/account").expect_status(200);
        let [_, _, _, left_of_day] = rate_limits(&answer).unwrap();
        left_of_day
    };
    let is_up = || program.metric("signpost_quota_store_up") == "1";
    await_promised("R40, requests are counted in the file again", RECOVERED_WITHIN, is_up);
    // Until two requests in a row are counted in the file, and nothing is merged between them.
    let counted_alone = || program.metric("signpost_quota_fallback_total");
    let mut before = 0;
    await_event("requests are counted in the file one by one", || {
        let (alone, previous) = (counted_alone(), remaining(program));
        before = remaining(program);
        before + 1 == previous && counted_alone() == alone
    });
    program.kill();
    program.start_again();
    // On a busy disk a request may be counted in memory first, and in the file a moment later.
    let mut requests = 0;
    await_event("the file has the counts of the killed program", || {
        requests += 1;
        remaining(program) + requests == before
    });
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

/// Waits until the checks say what the full disk affects. A busy machine may delay the look behind a check for longer
/// than the check waits, which then tells of a failure.
fn await_health(program: &Program) {
    for (what, expected) in
        [("ready", (503, json!("read_only"))), ("links", (200, json!("ok"))), ("live", (200, Value::Null))]
    {
        await_event(&format!("{what} is {expected:?}"), || health(program, what) == expected);
    }
}
