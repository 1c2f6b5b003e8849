//! The request budget under concurrency, and over restarts (D16).

use std::time::Duration;

use crate::harness::{Answer, Program, concurrently, rate_limits, within_one_day};

/// How many rounds to try until the store counts every request of one.
const ROUNDS: usize = 20;

/// How many requests are sent at once in each round. The fewer they are, the sooner the store answers each.
const AT_ONCE: [usize; 4] = [16, 8, 4, 2];

/// A program with the plan `small`, which has this many requests a day.
fn start(per_day: u32) -> Program {
    Program::builder()
        .plan(&format!("[plans.small]\nextends = \"agency\"\nrequests_per_day = {per_day}\n"))
        .setting("metrics-listen", "127.0.0.1:0")
        .start()
}

/// How many requests of its lifetime the program has decided from its memory.
fn decided_alone(program: &Program) -> String {
    program.metric("signpost_quota_fallback_total")
}

/// The result of the first round that gives one, within one day. `round` gets its number, and returns `None` if the
/// program has decided about a request alone. It does so if the store does not answer in time (D19), as happens on a busy
/// machine, and then the budget need not be exact.
fn in_a_counted_round<T>(round: impl Fn(usize) -> Option<T>) -> T {
    let counted = (0..ROUNDS).find_map(|number| {
        let result = within_one_day(|| round(number));
        if result.is_none() {
            // The program tries the store again every second.
            std::thread::sleep(Duration::from_secs(1));
        }
        result
    });
    counted.expect("the store did not answer in time in any round")
}

fn remaining_today(answer: &Answer) -> u32 {
    let [_, _, _, day] = rate_limits(answer).unwrap();
    day
}

/// R3: with K concurrent requests and R left, exactly min(K, R) are admitted, over several keys.
#[test]
fn d16_exactly_what_is_left_is_admitted_under_concurrency() {
    const REQUESTS: usize = 160;
    let program = start(100);
    let answers = in_a_counted_round(|round| {
        let before = decided_alone(&program);
        let account = program.account("small");
        let keys: Vec<_> = (0..4).map(|_| program.with_key(&program.issue_key(account.id()))).collect();
        let clients = AT_ONCE[round.min(AT_ONCE.len() - 1)];
        let answers = concurrently(clients, |client| {
            let requests = (client..REQUESTS).step_by(clients);
            requests.map(|request| keys[request % 4].get("/v1/account")).collect::<Vec<_>>()
        });
        (decided_alone(&program) == before).then(|| answers.into_iter().flatten().collect::<Vec<_>>())
    });
    assert_eq!(answers.len(), REQUESTS);
    let admitted: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(admitted.len(), 100);
    let mut left: Vec<_> = admitted.iter().map(|answer| remaining_today(answer)).collect();
    left.sort_unstable();
    assert_eq!(left, (0..100).collect::<Vec<_>>(), "each admitted request sees another remainder");
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        assert_eq!((refused.status, refused.code()), (429, "daily_quota_exceeded"));
        assert_eq!(remaining_today(refused), 0);
    }
}

#[test]
fn request_budget_windows_survive_a_restart_and_a_crash() {
    let left = in_a_counted_round(|_| {
        let mut program = start(10);
        let account = program.account("small");
        for _ in 0..4 {
            account.get("/v1/account").expect_status(200);
        }
        if decided_alone(&program) != "0" {
            return None;
        }
        program.signal("TERM");
        assert_eq!(program.wait(), Some(0));
        program.start_again();
        let after_stop = remaining_today(&program.with_key(&account.key).get("/v1/account"));
        if decided_alone(&program) != "0" {
            return None;
        }
        program.kill();
        program.start_again();
        let after_crash = remaining_today(&program.with_key(&account.key).get("/v1/account"));
        (decided_alone(&program) == "0").then_some((after_stop, after_crash))
    });
    assert_eq!(left, (5, 4));
}

/// The first account has the contract's budget. Whoever runs the program for themselves learns how to lift it where they
/// meet it: in the answer, and in the terminal of the program.
#[test]
fn d15_a_429_on_ones_own_machine_names_the_way_out() {
    in_a_counted_round(|_| {
        let mut program = Program::builder().builtin_plans().setting("metrics-listen", "127.0.0.1:0").start();
        let account = program.first_account();
        let own = account.get("/v1/account").expect_status(200).body;
        assert_eq!(own["plan"], "agency");
        let id = own["id"].as_str().unwrap();
        let refused =
            (0..300).map(|_| account.get("/v1/account")).find(|answer| answer.status != 200).unwrap();
        if decided_alone(&program) != "0" {
            return None;
        }
        let command = format!("signpost account set-plan {id} unlimited");
        let message = refused.body["error"]["message"].as_str().unwrap();
        assert_eq!((refused.status, refused.code()), (429, "rate_limit_exceeded"));
        assert!(message.contains(&format!("`{command}`")), "{message}");
        let bearer = format!("Bearer {}", account.key);
        let forwarded = [("Authorization", bearer.as_str()), ("X-Forwarded-For", "203.0.113.9")];
        let of_others = account.send_with("GET", "/v1/account", &forwarded, None);
        let message = of_others.body["error"]["message"].as_str();
        assert!(message.is_none_or(|message| !message.contains("signpost")), "{message:?}");
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        assert!(program.run(&words).status.success());
        let [per_minute, _, per_day, _] =
            rate_limits(&account.get("/v1/account").expect_status(200)).unwrap();
        assert_eq!([per_minute, per_day], [1_000_000; 2]);
        let log = program.stop_and_read_log();
        assert_eq!(log.matches(&command).count(), 1, "once an hour: {log}");
        Some(())
    });
}
