//! `GET` and `DELETE /v1/redirects/{id}`: D2, D5, D27, D32.

use serde_json::json;

use crate::harness::Program;

#[test]
fn d32_a_redirect_is_retrieved_as_it_was_created() {
    let program = Program::start();
    let account = program.first_account();
    let link = account.new_redirect();
    let path = format!("/v1/redirects/{}", link["id"].as_str().unwrap());
    assert_eq!(account.get(&path).expect_status(200).body, link);
}

#[test]
fn d5_a_deletion_answers_id_object_deleted_and_message() {
    let program = Program::start();
    let account = program.first_account();
    let link = account.new_redirect();
    let path = format!("/v1/redirects/{}", link["id"].as_str().unwrap());
    let deleted = account.delete(&path).expect_status(200).body;
    let expected =
        json!({"id": link["id"], "object": "redirect", "deleted": true, "message": deleted["message"]});
    assert_eq!(deleted, expected);
    assert!(!deleted["message"].as_str().unwrap().is_empty());
    account.get(&path).expect_error(404, "redirect_not_found");
    account.patch(&path, &json!({"name": "x"})).expect_error(404, "redirect_not_found");
    account.delete(&path).expect_error(404, "redirect_not_found");
}

#[test]
fn d58_a_deleted_link_stops_at_once_and_its_address_is_free() {
    let program = Program::start();
    let account = program.first_account();
    let body = json!({"name": "x", "target_url": "https://example.com", "slug": "gone"});
    let visitor = program.visitor();
    for _ in 0..3 {
        let link = account.create_redirect(&body);
        assert_eq!(visitor.open("/gone").status, 302);
        account.delete(&format!("/v1/redirects/{}", link["id"].as_str().unwrap())).expect_status(200);
        assert_eq!(visitor.open("/gone").status, 404);
    }
    assert_eq!(account.get("/v1/account").body["usage"]["links"], 0);
}

#[test]
fn one_of_many_concurrent_deletions_succeeds() {
    let program = Program::start();
    let account = program.first_account();
    let group = account.create_group("g")["id"].as_str().unwrap().to_owned();
    let link = account
        .create_redirect(&json!({"name": "x", "target_url": "https://example.com", "group_id": group}));
    let path = format!("/v1/redirects/{}", link["id"].as_str().unwrap());
    let mut statuses = crate::harness::concurrently(10, |_| account.delete(&path).status);
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![200], vec![404; 9]].concat());
    assert_eq!(account.get(&format!("/v1/groups/{group}")).body["redirects_count"], 0);
}
