//! Limits under concurrency, and over restarts: the counts of a plan (D15) and the request budget (D16).

use serde_json::json;

use crate::harness::{Answer, Program, concurrently, rate_limits};

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

const FIFTY: &str = r"
[plans.fifty]
api_access = true
requests_per_minute = 100000
requests_per_day = 100000
links = 50
groups = 10
domains = 0
pixels = 0
analytics_days = 31
features = []
";

/// R4: a limit of N never ends at N + 1.
#[test]
fn d15_a_limit_holds_exactly_under_concurrent_creations() {
    let program = Program::builder().plan(FIFTY).start();
    let account = program.account("fifty");
    let body = json!({"name": "x", "target_url": "https://example.com"});
    let statuses = concurrently(16, |_| {
        (0..8)
            .map(|_| account.post("/v1/redirects", &body))
            .map(|answer| (answer.status, answer.code().to_owned()))
            .collect::<Vec<_>>()
    });
    let statuses: Vec<_> = statuses.into_iter().flatten().collect();
    assert_eq!(statuses.iter().filter(|(status, _)| *status == 201).count(), 50);
    assert!(
        statuses.iter().all(|(status, code)| *status == 201 || code == "plan_limit_reached"),
        "{statuses:?}: {}",
        program.log()
    );
    assert_eq!(account.walk("/v1/redirects", "?limit=100").len(), 50);
    assert_eq!(account.get("/v1/account").body["usage"]["links"], 50);

    let created = concurrently(16, |_| account.post("/v1/groups", &json!({"name": "x"})).status);
    assert_eq!(created.iter().filter(|status| **status == 201).count(), 10);
    assert_eq!(account.get("/v1/account").body["usage"]["groups"], 10);
}
