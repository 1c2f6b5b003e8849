//! Groups: contract "Group" and "PATCH /v1/groups/{id}"; D5, D32, D33.

use serde_json::{Value, json};

use crate::harness::{Account, Program};

fn counts(account: &Account, group: &str) -> (u64, u64) {
    let group = account.get(&format!("/v1/groups/{group}")).expect_status(200).body;
    (group["landings_count"].as_u64().unwrap(), group["redirects_count"].as_u64().unwrap())
}

fn id(resource: &Value) -> String {
    resource["id"].as_str().unwrap().to_owned()
}

#[test]
fn group_has_all_fields_of_the_table() {
    let program = Program::start();
    let account = program.first_account();
    let group = account.create_group(" Spring ");
    let expected = json!({
        "id": group["id"], "object": "group", "name": "Spring", "landings_count": 0, "redirects_count": 0,
        "created_at": group["created_at"], "updated_at": group["created_at"]
    });
    assert_eq!(group, expected);
    assert_eq!(account.get(&format!("/v1/groups/{}", id(&group))).expect_status(200).body, expected);
    assert_eq!(account.walk("/v1/groups", ""), [expected]);
}

#[test]
fn bounds_group_name_has_1_to_100_characters_on_creation_and_update() {
    let program = Program::start();
    let account = program.first_account();
    let path = format!("/v1/groups/{}", id(&account.create_group("x")));
    for good in ["y".to_owned(), "🎉".repeat(100)] {
        account.post("/v1/groups", &json!({"name": good})).expect_status(201);
        assert_eq!(account.patch(&path, &json!({"name": good})).expect_status(200).body["name"], json!(good));
    }
    for (bad, code) in [
        (json!({"name": ""}), "too_short"),
        (json!({"name": "\u{2003}"}), "too_short"),
        (json!({"name": "x".repeat(101)}), "too_long"),
        (json!({"name": "a\rb"}), "invalid_format"),
        (json!({"name": null}), "not_nullable"),
        (json!({"name": {}}), "invalid_type"),
        (json!({}), "required"),
    ] {
        account.post("/v1/groups", &bad).expect_violations(&[("name", code)]);
        account.patch(&path, &bad).expect_violations(&[("name", code)]);
    }
}

#[test]
fn d33_renaming_moves_updated_at_only_when_the_name_changes() {
    let program = Program::start();
    let account = program.first_account();
    let group = account.create_group("Spring");
    let path = format!("/v1/groups/{}", id(&group));
    assert_eq!(account.patch(&path, &json!({"name": " Spring"})).expect_status(200).body, group);
    let renamed = account.patch(&path, &json!({"name": "Summer"})).expect_status(200).body;
    assert_eq!((&renamed["name"], &renamed["created_at"]), (&json!("Summer"), &group["created_at"]));
    assert!(renamed["updated_at"].as_str() >= group["updated_at"].as_str());
    assert_eq!(account.get(&path).body, renamed);
}

#[test]
fn group_counters_follow_the_links() {
    let program = Program::start();
    let account = program.first_account();
    let (one, two) = (id(&account.create_group("one")), id(&account.create_group("two")));
    let body = json!({"name": "x", "target_url": "https://example.com", "group_id": one});
    let link = format!("/v1/redirects/{}", id(&account.create_redirect(&body)));
    account.create_redirect(&body);
    assert_eq!((counts(&account, &one), counts(&account, &two)), ((0, 2), (0, 0)));
    account.patch(&link, &json!({"group_id": two})).expect_status(200);
    assert_eq!((counts(&account, &one), counts(&account, &two)), ((0, 1), (0, 1)));
    account.patch(&link, &json!({"group_id": two, "name": "y"})).expect_status(200);
    account.patch(&link, &json!({"group_id": null})).expect_status(200);
    assert_eq!((counts(&account, &one), counts(&account, &two)), ((0, 1), (0, 0)));
    account.patch(&link, &json!({"group_id": one})).expect_status(200);
    account.delete(&link).expect_status(200);
    assert_eq!((counts(&account, &one), counts(&account, &two)), ((0, 1), (0, 0)));
}

#[test]
fn group_counters_are_right_after_concurrent_changes() {
    let program = Program::start();
    let account = program.first_account();
    let groups: Vec<_> = (0..3).map(|n| id(&account.create_group(&n.to_string()))).collect();
    let links: Vec<_> = (0..8).map(|_| format!("/v1/redirects/{}", id(&account.new_redirect()))).collect();
    crate::harness::concurrently(8, |number| {
        for step in 0..12 {
            let group = (number + step) % 4;
            let group = groups.get(group).map_or(Value::Null, |group| json!(group));
            account.patch(&links[(number * 3 + step) % 8], &json!({"group_id": group})).expect_status(200);
        }
    });
    for group in &groups {
        let listed = account.walk("/v1/redirects", &format!("?group_id={group}")).len();
        assert_eq!(counts(&account, group), (0, u64::try_from(listed).unwrap()));
    }
}

#[test]
fn deleting_a_group_keeps_its_links_ungrouped() {
    let program = Program::start();
    let account = program.first_account();
    let group = account.create_group("g");
    let path = format!("/v1/groups/{}", id(&group));
    let body = json!({"name": "x", "target_url": "https://example.com", "group_id": group["id"]});
    let link = account.create_redirect(&body);
    let deleted = account.delete(&path).expect_status(200).body;
    let expected =
        json!({"id": group["id"], "object": "group", "deleted": true, "message": deleted["message"]});
    assert_eq!(deleted, expected);
    let link = account.get(&format!("/v1/redirects/{}", id(&link))).expect_status(200).body;
    assert_eq!(link["group_id"], Value::Null);
    assert_eq!(program.visitor().open(&format!("/{}", link["slug"].as_str().unwrap())).status, 302);
    account.get(&path).expect_error(404, "group_not_found");
    account.patch(&path, &json!({"name": "x"})).expect_error(404, "group_not_found");
    account.delete(&path).expect_error(404, "group_not_found");
    assert_eq!(account.get("/v1/account").body["usage"]["groups"], 0);
}

#[test]
fn two_groups_may_have_the_same_name() {
    let program = Program::start();
    let account = program.first_account();
    assert_ne!(account.create_group("same")["id"], account.create_group("same")["id"]);
}
