//! The request budget: contract "Request budget" and "Handling a 429"; D16, D17.

use serde_json::json;

use crate::harness::{Answer, Program, concurrently, rate_limits, within_one_minute};

/// A plan of this many requests a minute and a day.
fn plan(name: &str, per_minute: u32, per_day: u32) -> String {
    format!(
        "[plans.{name}]\napi_access = true\nrequests_per_minute = {per_minute}\nrequests_per_day = {per_day}\n\
         links = 1000\ngroups = 100\ndomains = 0\npixels = 0\nanalytics_days = 31\nfeatures = []\n"
    )
}

fn remaining(answer: &Answer) -> (u32, u32) {
    let [_, minute, _, day] = rate_limits(answer).unwrap();
    (minute, day)
}

#[test]
fn request_budget_the_headers_count_down_in_both_windows() {
    let program = Program::builder().plan(&plan("small", 5, 50)).start();
    within_one_minute(|| {
        let account = program.account("small");
        for used in 1..=5 {
            let answer = account.get("/v1/account").expect_status(200);
            assert_eq!(rate_limits(&answer), Some([5, 5 - used, 50, 50 - used]));
        }
        let refused = account.get("/v1/account").expect_error(429, "rate_limit_exceeded");
        assert_eq!(rate_limits(&refused), Some([5, 0, 50, 45]));
        let seconds: u32 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds), "{seconds}");
    });
}

#[test]
fn d16_a_refused_request_counts_in_neither_window() {
    let program = Program::builder().plan(&plan("small", 2, 50)).start();
    within_one_minute(|| {
        let account = program.account("small");
        let statuses: Vec<u16> = (0..20).map(|_| account.get("/v1/account").status).collect();
        assert_eq!(statuses, [[200; 2].as_slice(), &[429; 18]].concat());
        assert_eq!(remaining(&account.get("/v1/account")), (0, 48));
    });
}

#[test]
fn d16_if_both_windows_are_exhausted_the_day_is_named() {
    let program = Program::builder().plan(&plan("small", 3, 3)).start();
    within_one_minute(|| {
        let account = program.account("small");
        for _ in 0..3 {
            account.get("/v1/account").expect_status(200);
        }
        let refused = account.get("/v1/account").expect_error(429, "daily_quota_exceeded");
        let seconds: u32 = refused.header("retry-after").unwrap().parse().unwrap();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        let left = u32::try_from(86_400 - now % 86_400).unwrap();
        assert!(seconds.abs_diff(left) <= 2, "{seconds} seconds, {left} left of the day");
    });
}

#[test]
fn limits_1_a_request_that_then_fails_counts() {
    let program = Program::start();
    let account = program.account("agency");
    let (_, before) = remaining(&account.get("/v1/account"));
    account.post("/v1/groups", &json!({})).expect_error(400, "invalid_request");
    account.get("/v1/groups/nothing").expect_error(404, "group_not_found");
    account.get("/v1/nothing").expect_error(404, "invalid_request");
    account.send("PUT", "/v1/groups", None).expect_error(405, "invalid_request");
    account.send_bytes("POST", "/v1/groups", "text/plain", b"x").expect_error(415, "unsupported_media_type");
    let (_, after) = remaining(&account.get("/v1/account"));
    assert_eq!(after, before - 6);
}

/// D17: 403, 404, 405, 413 and 415 included.
#[test]
fn d17_every_answer_to_an_identified_account_has_the_four_headers() {
    let program = Program::start();
    let account = program.account("agency");
    for answer in [
        account.get("/v1/account").expect_status(200),
        account.post("/v1/groups", &json!({"name": "x"})).expect_status(201),
        account.post("/v1/groups", &json!({})).expect_status(400),
        account.get("/v1/redirects/x").expect_status(404),
        account.get("/v1").expect_status(404),
        account.send("OPTIONS", "/v1/groups", None).expect_status(405),
        account.send("HEAD", "/v1/groups", None).expect_status(200),
        account
            .send_bytes("POST", "/v1/groups", "application/json", &vec![b' '; 1_048_577])
            .expect_status(413),
        account.send_bytes("POST", "/v1/groups", "text/plain", b"{}").expect_status(415),
    ] {
        assert!(rate_limits(&answer).is_some(), "{answer:?}");
    }
}

/// R3: with K concurrent requests and R left, exactly min(K, R) are admitted, over several keys.
#[test]
fn d16_exactly_what_is_left_is_admitted_under_concurrency() {
    let program = Program::builder().plan(&plan("small", 100_000, 100)).start();
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
    let mut program = Program::builder().plan(&plan("small", 100_000, 10)).start();
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

#[test]
fn limits_accounts_do_not_share_a_budget() {
    let program = Program::builder().plan(&plan("small", 100_000, 2)).start();
    let (one, other) = (program.account("small"), program.account("small"));
    one.get("/v1/account").expect_status(200);
    one.get("/v1/account").expect_status(200);
    one.get("/v1/account").expect_error(429, "daily_quota_exceeded");
    assert_eq!(remaining(&other.get("/v1/account")).1, 1);
}

#[test]
fn d7_the_quota_comes_before_route_and_body() {
    let program = Program::builder().plan(&plan("small", 100_000, 1)).start();
    let account = program.account("small");
    account.get("/v1/account").expect_status(200);
    account.get("/v1/nothing").expect_error(429, "daily_quota_exceeded");
    account.send("PUT", "/v1/groups", None).expect_error(429, "daily_quota_exceeded");
    account.post("/v1/groups", &json!({})).expect_error(429, "daily_quota_exceeded");
}
