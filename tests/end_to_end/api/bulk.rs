//! Bulk operations: D29 to D32.

use serde_json::{Value, json};

use crate::harness::{Program, redirect_body};

/// Creates a batch, moves it into a group and out, and deletes half of it. Each step shows at once.
#[test]
fn d30_a_batch_is_created_moved_and_deleted() {
    let program = Program::start();
    let account = program.first_account();
    let visitor = program.visitor();
    let target = |number: usize| format!("https://example.com/{number}");
    let mut items: Vec<_> = (0..30)
        .map(|number| redirect_body(json!({"slug": format!("s{number}"), "target_url": target(number)})))
        .collect();
    items.push(redirect_body(json!({"slug": "s0"})));
    let created = account.post("/v1/redirects/bulk", &json!({"redirects": items})).expect_status(200).body;
    assert_eq!((&created["created_count"], &created["failed_count"]), (&json!(30), &json!(1)));
    assert_eq!(created["failed"][0]["error"]["code"], "duplicate_slug_in_batch");
    for number in 0..30 {
        let visit = visitor.open(&format!("/s{number}"));
        assert_eq!(visit.location(), Some(target(number).as_str()));
    }
    let ids: Vec<Value> =
        created["created"].as_array().unwrap().iter().map(|item| item["data"]["id"].clone()).collect();
    let group = format!("/v1/groups/{}", account.create_group("Spring")["id"].as_str().unwrap());
    let counts = || {
        let usage = account.get("/v1/account").body["usage"]["links"].clone();
        [account.get(&group).body["redirects_count"].clone(), usage]
    };
    for (operation, counted) in [("assign", 30), ("unassign", 0), ("assign", 30)] {
        account.post(&format!("{group}/{operation}"), &json!({"link_ids": ids})).expect_status(200);
        assert_eq!(counts(), [counted, 30], "{operation}");
    }
    let deleted = account.post("/v1/redirects/bulk/delete", &json!({"redirect_ids": ids[..15]}));
    assert_eq!(deleted.expect_status(200).body["deleted_count"], 15);
    assert_eq!(counts(), [15, 15]);
    assert_eq!((visitor.open("/s0").status, visitor.open("/s29").status), (404, 302));
    account.create_redirect(&redirect_body(json!({"slug": "s0"})));
}
