//! Contract "Authentication"; D4, D13, D14, D17.

use serde_json::json;

use crate::harness::{Account, Answer, Program, rate_limits};

fn with_headers(account: &Account, headers: &[(&str, &str)]) -> Answer {
    account.send_with("GET", "/v1/account", headers, None)
}

#[test]
fn authentication_1_a_bearer_key_lets_in() {
    let program = Program::start();
    program.first_account().get("/v1/account").expect_status(200);
}

#[test]
fn authentication_2_the_key_has_a_prefix_and_32_characters() {
    let program = Program::start();
    let key = program.account("agency").key;
    let rest = key.strip_prefix("sp_live_").unwrap();
    assert_eq!(rest.len(), 32);
    assert!(rest.bytes().all(|byte| byte.is_ascii_alphanumeric()));
}

#[test]
fn authentication_3_a_key_in_the_query_is_never_looked_at() {
    let mut program = Program::start();
    let account = program.first_account();
    for name in ["key", "api_key", "access_token", "token"] {
        let path = format!("/v1/account?{name}={}", account.key);
        account.send_with("GET", &path, &[], None).expect_error(401, "invalid_api_key");
        // D14: with a valid header it is an unknown query parameter.
        account.get(&path).expect_violations(&[(name, "unknown_field")]);
    }
    assert!(!program.stop_and_read_log().contains(&account.key));
}

#[test]
fn authentication_5_missing_malformed_unknown_and_revoked_keys_are_401() {
    let program = Program::builder().setting("throttle-per-minute", "0").start();
    let account = program.account("agency");
    let good = account.key.clone();
    let mut edited = good.clone();
    let last = if good.ends_with('0') { "1" } else { "0" };
    edited.replace_range(good.len() - 1.., last);
    // A well-formed key of another installation.
    let stranger = Program::start().first_account().key;
    for value in [
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        good.clone(),
        format!("Basic {good}"),
        format!("Token {good}"),
        format!("Bearer {good} {good}"),
        format!("Bearer {good}x"),
        format!("Bearer {}", &good[1..]),
        format!("Bearer {edited}"),
        format!("Bearer {stranger}"),
        format!("Bearer sp_test_{}", &good[8..]),
        "Bearer sp_live_".to_owned(),
    ] {
        let answer = with_headers(&account, &[("Authorization", &value)]);
        answer.expect_error(401, "invalid_api_key");
    }
    with_headers(&account, &[]).expect_error(401, "invalid_api_key");
    account.get("/v1/account").expect_status(200);
    let keys = program.command(&["key", "list", "--json", "--account", account.id()]);
    let key_id = keys[0]["id"].as_str().unwrap();
    assert!(program.run(&["key", "revoke", key_id]).status.success());
    account.get("/v1/account").expect_error(401, "invalid_api_key");
}

#[test]
fn d14_the_scheme_is_matched_without_regard_to_case() {
    let program = Program::start();
    let account = program.first_account();
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        let value = format!("{scheme} {}", account.key);
        with_headers(&account, &[("Authorization", &value)]).expect_status(200);
    }
}

#[test]
fn d14_two_authorization_headers_are_refused() {
    let program = Program::start();
    let account = program.first_account();
    let value = format!("Bearer {}", account.key);
    let twice = [("Authorization", value.as_str()), ("Authorization", value.as_str())];
    with_headers(&account, &twice).expect_error(401, "invalid_api_key");
}

#[test]
fn authentication_7_a_suspended_account_is_refused_and_its_links_stop_until_it_is_resumed() {
    let program = Program::start();
    let account = program.account("agency");
    let slug = account.new_redirect()["slug"].as_str().unwrap().to_owned();
    assert!(program.run(&["account", "suspend", account.id()]).status.success());
    let refused = account.get("/v1/account").expect_error(403, "account_suspended");
    // D17: the account is known, so the headers are there, and nothing was consumed.
    let before = rate_limits(&refused).unwrap();
    let again = account.get("/v1/account").expect_error(403, "account_suspended");
    assert_eq!(rate_limits(&again).unwrap(), before);
    program.visitor().open_until(&format!("/{slug}"), 404);
    assert!(program.run(&["account", "resume", account.id()]).status.success());
    account.get("/v1/account").expect_status(200);
    program.visitor().open_until(&format!("/{slug}"), 302);
}

#[test]
fn authentication_8_all_keys_of_an_account_share_one_budget() {
    let program = Program::start();
    let account = program.account("agency");
    let second = program.with_key(&program.issue_key(account.id()));
    let [_, _, _, first_left] = rate_limits(&account.get("/v1/account")).unwrap();
    let [_, _, _, second_left] = rate_limits(&second.get("/v1/account")).unwrap();
    assert_eq!(second_left, first_left - 1);
}

#[test]
fn authentication_9_rejected_requests_do_not_consume_the_quota() {
    let program = Program::start();
    let account = program.account("agency");
    let [_, _, _, before] = rate_limits(&account.get("/v1/account")).unwrap();
    for _ in 0..5 {
        with_headers(&account, &[]).expect_error(401, "invalid_api_key");
    }
    assert!(program.run(&["account", "suspend", account.id()]).status.success());
    account.get("/v1/account").expect_error(403, "account_suspended");
    assert!(program.run(&["account", "resume", account.id()]).status.success());
    assert!(program.run(&["account", "set-plan", account.id(), "pro"]).status.success());
    account.get("/v1/account").expect_error(403, "api_access_not_available_on_current_plan");
    assert!(program.run(&["account", "set-plan", account.id(), "agency"]).status.success());
    let [_, _, _, after] = rate_limits(&account.get("/v1/account")).unwrap();
    assert_eq!(after, before - 1);
}

#[test]
fn d4_every_request_has_an_id_of_its_own_that_stands_in_the_log() {
    let program = Program::start();
    let account = program.first_account();
    let first = account.get("/v1/account");
    let second = account.get("/v1/nothing").expect_error(404, "invalid_request");
    let ids = [first.header("x-request-id").unwrap(), second.header("x-request-id").unwrap()];
    assert_ne!(ids[0], ids[1]);
    for id in ids {
        program.await_log(id);
    }
}

#[test]
fn authentication_4_no_key_ever_reaches_a_log() {
    let mut program = Program::builder().setting("log-format", "json").start();
    let account = program.first_account();
    account.get("/v1/account");
    account.get(&format!("/v1/redirects/{}", account.key));
    account.get(&format!("/v1/redirects?q={}", account.key));
    account.get(&format!("/{}", account.key));
    account.post("/v1/redirects", &json!({"name": account.key, "target_url": account.key, "x": account.key}));
    let mut wrong = account.clone();
    wrong.key = format!("{}x", account.key);
    wrong.get("/v1/account").expect_error(401, "invalid_api_key");
    let log = program.stop_and_read_log();
    assert!(log.contains("request"), "there is a log: {log}");
    assert!(!log.contains(&account.key[8..]), "{log}");
}
