//! The account and its keys: D4, D32, contract "Authentication".

use serde_json::json;

use crate::harness::Program;

#[test]
fn d32_the_account_shows_its_plan_its_limits_and_its_usage() {
    let program = Program::builder().builtin_plans().start();
    let created =
        program.command(&["account", "create", "--json", "--email", "ann@example.com", "--name", "Ann & Co"]);
    let account = program.with_key(&program.issue_key(created["id"].as_str().unwrap()));
    account.create_group("a");
    account.new_redirect();
    account.new_redirect();
    let shown = account.get("/v1/account").expect_status(200).body;
    assert_eq!(shown["id"], created["id"]);
    assert_eq!((&shown["email"], &shown["name"]), (&json!("ann@example.com"), &json!("Ann & Co")));
    assert_eq!(shown["plan"], "agency");
    assert_eq!(
        shown["features"],
        json!([
            "custom_domains",
            "pixels",
            "geo_blocking",
            "antibot",
            "link_access",
            "routing",
            "link_previews"
        ])
    );
    let limits = &shown["limits"];
    assert_eq!((&limits["links"], &limits["requests_per_minute"]), (&json!(1_000_000), &json!(120)));
    let usage = &shown["usage"];
    assert_eq!([&usage["links"], &usage["groups"], &usage["domains"], &usage["pixels"]], [2, 1, 0, 0]);
}

#[test]
fn authentication_5_a_key_lets_in_until_it_is_revoked() {
    let program = Program::start();
    let account = program.account("agency");
    account.get("/v1/account").expect_status(200);
    // A well-formed key of another installation.
    let stranger = Program::start().first_account().key;
    program.with_key(&stranger).get("/v1/account").expect_error(401, "invalid_api_key");
    let keys = program.command(&["key", "list", "--json", "--account", account.id()]);
    assert!(program.run(&["key", "revoke", keys[0]["id"].as_str().unwrap()]).status.success());
    account.get("/v1/account").expect_error(401, "invalid_api_key");
}

#[test]
fn authentication_7_a_suspended_account_is_refused_and_its_links_stop_until_it_is_resumed() {
    let program = Program::start();
    let account = program.account("agency");
    let slug = account.new_redirect()["slug"].as_str().unwrap().to_owned();
    assert!(program.run(&["account", "suspend", account.id()]).status.success());
    account.get("/v1/account").expect_error(403, "account_suspended");
    program.visitor().open_until(&format!("/{slug}"), 404);
    assert!(program.run(&["account", "resume", account.id()]).status.success());
    account.get("/v1/account").expect_status(200);
    program.visitor().open_until(&format!("/{slug}"), 302);
}

#[test]
fn d4_the_log_names_each_request_by_its_id() {
    let program = Program::start();
    let account = program.first_account();
    let answers = [account.get("/v1/account"), account.get("/v1/nothing")];
    let ids = answers.each_ref().map(|answer| answer.header("x-request-id").unwrap());
    assert_ne!(ids[0], ids[1]);
    for id in ids {
        program.await_log(id);
    }
}
