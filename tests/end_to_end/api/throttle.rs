//! Repeated rejected requests from one address: contract "What counts against the quota" 3; D7, D18.

use serde_json::json;

use crate::harness::{Account, Answer, Program, concurrently, rate_limits, within_one_minute};

fn without_key(account: &Account, path: &str) -> Answer {
    account.send_with("GET", path, &[], None)
}

/// Sends bad requests until one is throttled and returns how many were not. A minute that ends on the way begins
/// the count anew, so it is read off within one minute or tried again.
fn refusals_until_throttled(refuse: impl Fn() -> Answer) -> usize {
    for refused in 0..100 {
        let answer = refuse();
        if answer.status == 429 {
            assert_eq!(answer.code(), "rate_limit_exceeded");
            assert_eq!(rate_limits(&answer), None, "no account is known");
            let seconds: u32 = answer.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=60).contains(&seconds));
            return refused;
        }
    }
    panic!("never throttled");
}

#[test]
fn d18_the_31st_rejected_request_of_a_minute_is_throttled() {
    let refused = within_one_minute(|| {
        let program = Program::start();
        let account = program.first_account();
        refusals_until_throttled(|| without_key(&account, "/v1/account"))
    });
    assert_eq!(refused, 30);
}

#[test]
fn d18_every_kind_of_rejection_counts_on_every_path() {
    let refused = within_one_minute(|| {
        let program = Program::builder().setting("throttle-per-minute", "6").start();
        let (free, suspended) = (program.account("free"), program.account("agency"));
        assert!(program.run(&["account", "suspend", suspended.id()]).status.success());
        without_key(&free, "/v1/nothing").expect_status(401);
        free.get("/v1/account").expect_status(403);
        suspended.post("/v1/groups", &json!({})).expect_status(403);
        refusals_until_throttled(|| without_key(&free, "/v1/redirects")) + 3
    });
    assert_eq!(refused, 6);
}

#[test]
fn d18_exactly_the_allowed_number_learn_why_under_concurrency() {
    let refused = within_one_minute(|| {
        let program = Program::start();
        let account = program.first_account();
        let statuses =
            concurrently(8, |_| (0..10).map(|_| without_key(&account, "/v1/x").status).collect::<Vec<_>>());
        let statuses: Vec<u16> = statuses.into_iter().flatten().collect();
        [401, 429].map(|status| statuses.iter().filter(|found| **found == status).count())
    });
    assert_eq!(refused, [30, 50]);
}

#[test]
fn d18_a_key_that_was_accepted_lately_still_goes_through_and_a_new_one_does_not() {
    within_one_minute(|| {
        let program = Program::builder().setting("throttle-per-minute", "3").start();
        let (known, unused) = (program.account("agency"), program.account("agency"));
        known.get("/v1/account").expect_status(200);
        refusals_until_throttled(|| without_key(&known, "/v1/account"));
        known.get("/v1/account").expect_status(200);
        unused.get("/v1/account").expect_error(429, "rate_limit_exceeded");
    });
}

#[test]
fn d18_zero_turns_it_off() {
    let program = Program::builder().setting("throttle-per-minute", "0").start();
    let account = program.first_account();
    for _ in 0..100 {
        without_key(&account, "/v1/account").expect_status(401);
    }
}

#[test]
fn d18_an_untrusted_forwarded_for_is_ignored_and_a_trusted_one_believed() {
    let spread = |program: &Program| {
        let account = program.first_account();
        (0..10)
            .map(|number| {
                let address = format!("198.51.100.{number}");
                account.send_with("GET", "/v1/account", &[("X-Forwarded-For", &address)], None).status
            })
            .filter(|status| *status == 401)
            .count()
    };
    let throttled = || Program::builder().setting("throttle-per-minute", "3");
    let stranger =
        within_one_minute(|| spread(&throttled().setting("trusted-proxies", "192.0.2.0/24").start()));
    assert_eq!(stranger, 3);
    let behind_proxy_on_this_machine = within_one_minute(|| spread(&throttled().start()));
    assert_eq!(behind_proxy_on_this_machine, 10);
}

#[test]
fn d7_other_paths_of_the_listener_ask_for_no_key_and_are_not_throttled() {
    let program = Program::builder().setting("throttle-per-minute", "1").start();
    let account = program.first_account();
    for _ in 0..5 {
        for path in ["/", "/v2/redirects", "/v1x", "/nothing", "/health"] {
            without_key(&account, path).expect_error(404, "invalid_request");
        }
        assert_eq!(without_key(&account, "/health/live").status, 200);
    }
}
