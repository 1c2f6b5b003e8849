//! The request budget under concurrency, and over restarts (D16).

use crate::harness::{Answer, Program, concurrently, rate_limits};

/// A plan of this many requests a day.
fn plan(per_day: u32) -> String {
    format!("[plans.small]\nextends = \"agency\"\nrequests_per_day = {per_day}\n")
}

fn remaining(answer: &Answer) -> (u32, u32) {
    let [_, minute, _, day] = rate_limits(answer).unwrap();
    (minute, day)
}

/// R3: with K concurrent requests and R left, exactly min(K, R) are admitted, over several keys.
#[test]
fn d16_exactly_what_is_left_is_admitted_under_concurrency() {
    let program = Program::builder().plan(&plan(100)).start();
    let account = program.account("small");
    let keys: Vec<_> = (0..4).map(|_| program.with_key(&program.issue_key(account.id()))).collect();
    let answers =
        concurrently(16, |number| (0..10).map(|_| keys[number % 4].get("/v1/account")).collect::<Vec<_>>());
    let answers: Vec<_> = answers.into_iter().flatten().collect();
    let admitted: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(admitted.len(), 100);
    let mut left: Vec<_> = admitted.iter().map(|answer| remaining(answer).1).collect();
    left.sort_unstable();
    assert_eq!(left, (0..100).collect::<Vec<_>>(), "each admitted request sees another remainder");
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        assert_eq!((refused.status, refused.code()), (429, "daily_quota_exceeded"));
        assert_eq!(remaining(refused).1, 0);
    }
}

#[test]
fn request_budget_windows_survive_a_restart_and_a_crash() {
    let mut program = Program::builder().plan(&plan(10)).start();
    let account = program.account("small");
    for _ in 0..4 {
        account.get("/v1/account").expect_status(200);
    }
    program.signal("TERM");
    assert_eq!(program.wait(), Some(0));
    program.start_again();
    let account = program.with_key(&account.key);
    assert_eq!(remaining(&account.get("/v1/account")).1, 5);
    program.kill();
    program.start_again();
    let account = program.with_key(&account.key);
    assert_eq!(remaining(&account.get("/v1/account")).1, 4);
}
