//! Another process locks the store for longer than its time limit (D6, D63).

use std::time::{Duration, Instant};

use serde_json::json;
use signpost_app::ports::Store;
use signpost_sqlite::{DatabaseFile, SqliteOptions, SqliteStore};

use crate::harness::{Account, Answer, Program, rate_limits};

/// How long to wait for what a machine that runs many tests delays: much less than the lock lasts.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long the other process locks the store, unless it lets go before.
const LOCKED_FOR: Duration = Duration::from_mins(5);

/// Sends a request until it is answered with this status. With its short time limit for the store, the program may fail
/// when the machine delays the disk.
#[track_caller]
fn until(status: u16, send: impl Fn() -> Answer) -> Answer {
    let since = Instant::now();
    loop {
        let answer = send();
        if answer.status == status {
            return answer;
        }
        assert!(since.elapsed() < PATIENCE, "not {status} but {answer:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn create_group(account: &Account, name: &str) -> Answer {
    account.post("/v1/groups", &json!({"name": name}))
}

#[test]
fn d6_changes_that_wait_too_long_are_a_500_and_reads_still_work() {
    let program = Program::builder().setting("store-timeout", "1s").start();
    let account = program.first_account();
    until(201, || create_group(&account, "before"));

    let runtime = tokio::runtime::Runtime::new().unwrap();
    let file = DatabaseFile::at(program.folder().join("signpost.db")).unwrap();
    let options = SqliteOptions { time_limit: LOCKED_FOR, ..SqliteOptions::default() };
    let store = SqliteStore::open(&file, &options).unwrap();
    let held = runtime.block_on(store.begin()).unwrap();

    let begun = Instant::now();
    let answers = crate::harness::concurrently(4, |number| {
        if number == 0 {
            // Counting a request is a write, which is postponed (D19).
            until(200, || account.get("/v1/groups"))
        } else {
            create_group(&account, "during")
        }
    });
    // A second for counting the request, one for the request itself, and the rest for a busy machine.
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    for answer in answers.into_iter().skip(1) {
        let answer = answer.expect_error(500, "internal_error");
        // D17: the remaining budget is still shown, and is never too low.
        assert_eq!(rate_limits(&answer).map(|[_, minute, _, _]| minute > 0), Some(true), "{answer:?}");
        assert!(
            !answer.body.to_string().to_lowercase().contains("sqlite"),
            "the cause is for the log: {answer:?}"
        );
        program.await_log(answer.header("x-request-id").unwrap());
    }
    // Health reports that changes fail, and links still open.
    let is_read_only = |answer: &Answer| answer.body["checks"]["database"] == "read_only";
    account.await_health("/health/ready", is_read_only).expect_status(503);
    account.await_health("/health/links", |answer| answer.status == 200);
    program.visitor().open_until("/nothing", 404);
    account.send_with("GET", "/health/live", &[], None).expect_status(200);

    drop(held);
    runtime.block_on(async { drop(store) });
    until(201, || create_group(&account, "after"));
    let listed = until(200, || account.get("/v1/groups?limit=100")).body;
    let are_listed = ["before", "during", "after"]
        .map(|name| listed["data"].as_array().unwrap().iter().any(|group| group["name"] == name));
    assert_eq!(are_listed, [true, false, true], "{listed}");
}
