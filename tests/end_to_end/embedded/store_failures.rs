//! Another process locks the store for longer than its time limit (D6, D63).

use std::time::{Duration, Instant};

use serde_json::json;
use signpost_app::ports::Store;
use signpost_sqlite::{DatabaseFile, SqliteOptions, SqliteStore};

use crate::harness::{Program, rate_limits};

#[test]
fn d6_changes_that_wait_too_long_are_a_500_and_reads_still_work() {
    let program = Program::builder().setting("store-timeout", "1s").start();
    let account = program.first_account();
    account.create_group("before");

    let runtime = tokio::runtime::Runtime::new().unwrap();
    let file = DatabaseFile::at(program.folder().join("signpost.db")).unwrap();
    let options = SqliteOptions { time_limit: Duration::from_mins(1), ..SqliteOptions::default() };
    let store = SqliteStore::open(&file, &options).unwrap();
    let held = runtime.block_on(store.begin()).unwrap();

    let begun = Instant::now();
    let answers = crate::harness::concurrently(4, |number| {
        if number == 0 {
            account.get("/v1/groups")
        } else {
            account.post("/v1/groups", &json!({"name": "during"}))
        }
    });
    // A second for counting the request, one for the request itself, and the rest for a busy machine. The file
    // is locked for a minute.
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    for (number, answer) in answers.into_iter().enumerate() {
        // Counting a request is a write, which is postponed (D19).
        if number == 0 {
            answer.expect_status(200);
            continue;
        }
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
    let ready = || account.send_with("GET", "/health/ready", &[], None);
    while ready().status != 503 {
        assert!(begun.elapsed() < Duration::from_secs(40), "readiness reports the lock");
    }
    assert_eq!(ready().body["checks"]["database"], "read_only");
    account.send_with("GET", "/health/links", &[], None).expect_status(200);
    assert_eq!(program.visitor().open("/nothing").status, 404);
    account.send_with("GET", "/health/live", &[], None).expect_status(200);

    drop(held);
    runtime.block_on(async { drop(store) });
    let begun = Instant::now();
    while account.post("/v1/groups", &json!({"name": "after"})).status != 201 {
        assert!(begun.elapsed() < Duration::from_secs(20), "normal service again");
    }
    let names: Vec<_> = account.walk("/v1/groups", "").iter().map(|group| group["name"].clone()).collect();
    assert!(
        names.contains(&json!("before"))
            && names.contains(&json!("after"))
            && !names.contains(&json!("during"))
    );
}
