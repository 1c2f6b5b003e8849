//! Groups: contract "Group", D11.

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
fn a_group_is_created_renamed_and_deleted_and_its_links_stay() {
    let program = Program::start();
    let account = program.first_account();
    let created = account.post("/v1/groups", &json!({"name": " Spring "})).expect_status(201);
    let path = created.header("location").unwrap().to_owned();
    assert_eq!(account.get(&path).expect_status(200).body, created.body);
    let body = json!({"name": "x", "target_url": "https://example.com", "group_id": created.body["id"]});
    let link = account.create_redirect(&body);
    let renamed = account.patch(&path, &json!({"name": "Summer"})).expect_status(200).body;
    assert_eq!((&renamed["name"], &renamed["redirects_count"]), (&json!("Summer"), &json!(1)));
    assert_eq!(account.walk("/v1/groups", ""), [renamed]);
    assert_eq!(account.delete(&path).expect_status(200).body["deleted"], true);
    account.get(&path).expect_error(404, "group_not_found");
    let link = account.get(&format!("/v1/redirects/{}", id(&link))).expect_status(200).body;
    assert_eq!(link["group_id"], Value::Null);
    assert_eq!(program.visitor().open(&format!("/{}", link["slug"].as_str().unwrap())).status, 302);
    assert_eq!(account.get("/v1/account").body["usage"]["groups"], 0);
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
fn d11_a_cursor_outlives_the_item_it_stands_behind_and_a_restart() {
    let mut program = Program::start();
    let account = program.first_account();
    let mut newest_first: Vec<_> =
        (0..4).map(|number| id(&account.create_group(&format!("group {number}")))).collect();
    newest_first.reverse();
    let page = account.get("/v1/groups?limit=2").body;
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    account.delete(&format!("/v1/groups/{}", newest_first[1])).expect_status(200);
    program.kill();
    program.start_again();
    let account = program.with_key(&account.key);
    let rest = account.get(&format!("/v1/groups?cursor={cursor}")).expect_status(200).body;
    let rest: Vec<_> = rest["data"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(rest, newest_first[2..]);
}
