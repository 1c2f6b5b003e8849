//! `PATCH /v1/redirects/{id}`, the rules across fields: D20–D24, and the order of refusals.

use serde_json::{Value, json};

use crate::harness::{Account, Program};

fn named(account: &Account, slug: &str) -> (String, Value) {
    let body =
        account.create_redirect(&json!({"name": "x", "target_url": "https://example.com", "slug": slug}));
    (format!("/v1/redirects/{}", body["id"].as_str().unwrap()), body)
}

#[test]
fn d20_a_patch_to_a_taken_address_is_refused_and_changes_nothing() {
    let program = Program::start();
    let (one, other) = (program.account("agency"), program.account("agency"));
    let (path, before) = named(&one, "mine");
    named(&other, "theirs");
    one.patch(&path, &json!({"slug": "theirs", "name": "changed"})).expect_error(409, "slug_already_taken");
    assert_eq!(one.get(&path).body, before);
    one.patch(&path, &json!({"slug": "admin"})).expect_error(409, "slug_already_taken");
}

#[test]
fn d20_a_patch_frees_the_old_address_and_takes_the_new_one_at_once() {
    let program = Program::start();
    let account = program.first_account();
    let (path, _) = named(&account, "old");
    account.patch(&path, &json!({"slug": "new"})).expect_status(200);
    let visitor = program.visitor();
    assert_eq!((visitor.open("/old").status, visitor.open("/new").status), (404, 302));
    named(&account, "old");
    account.patch(&path, &json!({"slug": "old"})).expect_error(409, "slug_already_taken");
}

#[test]
fn d22_null_as_slug_is_refused_on_the_system_domain_however_the_patch_gets_there() {
    let program = Program::start();
    let account = program.first_account();
    let (path, before) = named(&account, "mine");
    for patch in [
        json!({"slug": null}),
        json!({"slug": null, "domain": null}),
        json!({"slug": null, "domain": "localhost"}),
    ] {
        account.patch(&path, &patch).expect_error(400, "slug_required_for_system_domain");
    }
    assert_eq!(account.get(&path).body, before);
}

#[test]
fn d23_a_domain_that_is_not_the_callers_is_not_found() {
    let program = Program::start();
    let account = program.first_account();
    let (path, before) = named(&account, "mine");
    for domain in ["shop.example.org", "not a host", ""] {
        account.patch(&path, &json!({"domain": domain})).expect_error(404, "domain_not_found");
    }
    assert_eq!(account.get(&path).body, before);
}

#[test]
fn d6_a_group_that_is_not_the_callers_is_not_found() {
    let program = Program::start();
    let (one, other) = (program.account("agency"), program.account("agency"));
    let (path, before) = named(&one, "mine");
    let foreign = other.create_group("theirs")["id"].clone();
    for group in [foreign, json!(format!("grp_{}", "f".repeat(32))), json!("nothing")] {
        one.patch(&path, &json!({"group_id": group})).expect_error(404, "group_not_found");
    }
    assert_eq!(one.get(&path).body, before);
}

#[test]
fn d24_a_link_may_not_point_at_its_own_address() {
    let program = Program::builder().setting("system-aliases", "old.example.com").start();
    let account = program.first_account();
    let (path, before) = named(&account, "mine");
    for target in [
        "http://localhost:8081/mine",
        "HTTP://LOCALHOST:8081/mine",
        "http://localhost:8081/mine/",
        "http://localhost:8081/mine?x=1#y",
        "http://localhost:8081/%6dine",
        "http://localhost:8081/a/../mine",
        "http://old.example.com:8081/mine",
    ] {
        account
            .patch(&path, &json!({"target_url": target}))
            .expect_violations(&[("target_url", "invalid_value")]);
        account
            .post(
                "/v1/redirects",
                &json!({"name": "x", "slug": "fresh", "target_url": target.replace("mine", "fresh")
                .replace("%6dine", "fresh")}),
            )
            .expect_violations(&[("target_url", "invalid_value")]);
    }
    assert_eq!(account.get(&path).body, before);
    // Another link's address is no loop yet; moving there is.
    account.patch(&path, &json!({"target_url": "http://localhost:8081/other"})).expect_status(200);
    account.patch(&path, &json!({"slug": "other"})).expect_violations(&[("slug", "invalid_value")]);
    // Case matters in slugs, and ports in origins.
    account.patch(&path, &json!({"target_url": "http://localhost:8081/MINE"})).expect_status(200);
    account.patch(&path, &json!({"target_url": "http://localhost:9999/mine"})).expect_status(200);
}

#[test]
fn violations_come_before_existence_and_existence_before_conflict() {
    let program = Program::start();
    let account = program.first_account();
    let (path, _) = named(&account, "mine");
    named(&account, "taken");
    let unknown = format!("/v1/redirects/rdr_{}", "0".repeat(32));
    account.patch(&unknown, &json!({"name": ""})).expect_violations(&[("name", "too_short")]);
    account.patch("/v1/redirects/x", &json!({"name": ""})).expect_violations(&[("name", "too_short")]);
    account.patch(&unknown, &json!({"slug": "taken"})).expect_error(404, "redirect_not_found");
    account
        .patch(&path, &json!({"slug": "taken", "domain": "shop.example.org"}))
        .expect_error(404, "domain_not_found");
}

#[test]
fn d33_concurrent_patches_of_different_fields_lose_nothing() {
    let program = Program::start();
    let account = program.first_account();
    for round in 0..10 {
        let (path, _) = named(&account, &format!("link-{round}"));
        let patches = [
            json!({"name": "changed"}),
            json!({"note": "changed"}),
            json!({"is_active": false}),
            json!({"antibot_enabled": true}),
            json!({"target_url": "https://example.org/changed"}),
        ];
        crate::harness::concurrently(patches.len(), |number| {
            account.patch(&path, &patches[number]).expect_status(200);
        });
        let after = account.get(&path).body;
        for patch in &patches {
            for (field, value) in patch.as_object().unwrap() {
                assert_eq!(after[field], *value);
            }
        }
    }
}
