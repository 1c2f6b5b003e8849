//! `PATCH /v1/redirects/{id}`, field by field: contract, D22, D25–D27.

use serde_json::{Value, json};

use crate::harness::{Account, Program};

struct Link {
    account: Account,
    path: String,
    body: Value,
}

fn link(program: &Program) -> Link {
    let account = program.account("agency");
    let body = account.create_redirect(&json!({
        "name": "Before", "target_url": "https://example.com/before", "note": "a note", "antibot_enabled": true,
        "geo_blocklists": {"countries": ["DE"]}
    }));
    let path = format!("/v1/redirects/{}", body["id"].as_str().unwrap());
    Link { account, path, body }
}

impl Link {
    /// Patches and returns the answer; it must differ from the link before in `fields` and `updated_at` only.
    fn changes(&self, patch: &Value, fields: &[&str]) -> Value {
        let after = self.account.patch(&self.path, patch).expect_status(200).body;
        assert_eq!(self.account.get(&self.path).expect_status(200).body, after, "it reads back");
        for (field, value) in self.body.as_object().unwrap() {
            let may_differ = fields.contains(&field.as_str()) || field == "updated_at";
            assert!(may_differ || after[field] == *value, "{field} of {after}");
        }
        assert_eq!(after.as_object().unwrap().len(), self.body.as_object().unwrap().len());
        after
    }
}

#[test]
fn patch_each_field_changes_that_field_only() {
    let program = Program::start();
    let group = |link: &Link| link.account.create_group("g")["id"].clone();
    for (field, value) in [
        ("name", json!("After")),
        ("target_url", json!("https://example.org/after")),
        ("note", json!("another")),
        ("is_active", json!(false)),
        ("antibot_enabled", json!(false)),
        ("geo_blocklists", json!({"countries": ["FR", "AT"]})),
    ] {
        let after = link(&program).changes(&json!({ field: value }), &[field]);
        assert_eq!(after[field], value);
    }
    let moved = link(&program);
    let after = moved.changes(&json!({"slug": "another-slug"}), &["slug", "url"]);
    assert_eq!(
        (&after["slug"], &after["url"]),
        (&json!("another-slug"), &json!("http://localhost:8081/another-slug"))
    );
    let grouped = link(&program);
    let id = group(&grouped);
    assert_eq!(grouped.changes(&json!({"group_id": id}), &["group_id"])["group_id"], id);
}

#[test]
fn patch_null_clears_what_can_be_null() {
    let program = Program::start();
    let link = link(&program);
    let group = link.account.create_group("g")["id"].clone();
    assert_eq!(link.changes(&json!({"note": null}), &["note"])["note"], Value::Null);
    let lifted = link.account.patch(&link.path, &json!({"geo_blocklists": null})).expect_status(200).body;
    assert_eq!(lifted["geo_blocklists"], json!({"countries": []}));
    link.account.patch(&link.path, &json!({"group_id": group})).expect_status(200);
    let ungrouped = link.account.patch(&link.path, &json!({"group_id": null})).expect_status(200).body;
    assert_eq!(ungrouped["group_id"], Value::Null);
    // D22: null moves the link to the system domain, where it is already.
    let at_home = link.account.patch(&link.path, &json!({"domain": null})).expect_status(200).body;
    assert_eq!((&at_home["domain"], &at_home["slug"]), (&json!("localhost"), &link.body["slug"]));
}

#[test]
fn patch_null_is_refused_where_a_field_cannot_be_null() {
    let program = Program::start();
    let link = link(&program);
    let all = json!({"name": null, "target_url": null, "is_active": null, "antibot_enabled": null});
    link.account.patch(&link.path, &all).expect_violations(&[
        ("name", "not_nullable"),
        ("target_url", "not_nullable"),
        ("is_active", "not_nullable"),
        ("antibot_enabled", "not_nullable"),
    ]);
    assert_eq!(link.account.get(&link.path).body, link.body);
}

#[test]
fn patch_wrong_types_and_bounds_are_violations_and_change_nothing() {
    let program = Program::start();
    let link = link(&program);
    for (patch, field, code) in [
        (json!({"name": "x".repeat(101)}), "name", "too_long"),
        (json!({"name": " "}), "name", "too_short"),
        (json!({"target_url": "ftp://example.com"}), "target_url", "invalid_format"),
        (
            json!({"target_url": format!("https://example.com/{}", "x".repeat(2_048))}),
            "target_url",
            "too_long",
        ),
        (json!({"slug": ""}), "slug", "too_short"),
        (json!({"slug": true}), "slug", "invalid_type"),
        (json!({"note": "x".repeat(257)}), "note", "too_long"),
        (json!({"domain": 1}), "domain", "invalid_type"),
        (json!({"group_id": 1}), "group_id", "invalid_type"),
        (json!({"is_active": "true"}), "is_active", "invalid_type"),
        (json!({"antibot_enabled": 0}), "antibot_enabled", "invalid_type"),
        (json!({"geo_blocklists": ["DE"]}), "geo_blocklists", "invalid_type"),
        (json!({"geo_blocklists": {"countries": ["??"]}}), "geo_blocklists.countries[0]", "invalid_value"),
    ] {
        link.account.patch(&link.path, &patch).expect_violations(&[(field, code)]);
        assert_eq!(link.account.get(&link.path).body, link.body);
    }
}

#[test]
fn d33_updated_at_moves_only_when_something_changed() {
    let program = Program::start();
    let link = link(&program);
    let same = json!({
        "name": " Before ", "target_url": "https://example.com/before", "note": "a note", "antibot_enabled": true,
        "is_active": true, "slug": link.body["slug"], "domain": "LOCALHOST", "group_id": null,
        "geo_blocklists": {"countries": ["de", "DE"]}
    });
    for patch in [json!({}), same] {
        assert_eq!(link.account.patch(&link.path, &patch).expect_status(200).body, link.body);
    }
    let after = link.account.patch(&link.path, &json!({"is_active": false})).expect_status(200).body;
    assert!(after["updated_at"].as_str() >= link.body["updated_at"].as_str());
    assert_eq!(after["created_at"], link.body["created_at"]);
}

#[test]
fn states_a_link_is_switched_off_and_on_again() {
    let program = Program::start();
    let link = link(&program);
    let path = format!("/{}", link.body["slug"].as_str().unwrap());
    let visitor = program.visitor();
    for _ in 0..3 {
        assert_eq!(visitor.open(&path).status, 302);
        link.account.patch(&link.path, &json!({"is_active": false})).expect_status(200);
        assert_eq!(visitor.open(&path).status, 404);
        link.account.patch(&link.path, &json!({"is_active": true})).expect_status(200);
    }
    assert_eq!(visitor.open(&path).status, 302);
}

#[test]
fn d27_the_answer_carries_pixels_and_geo_blocklists_and_lists_do_not() {
    let program = Program::start();
    let link = link(&program);
    let patched = link.account.patch(&link.path, &json!({"name": "x"})).expect_status(200).body;
    assert_eq!((&patched["pixels"], &patched["geo_blocklists"]), (&json!([]), &json!({"countries": ["DE"]})));
    let listed = link.account.walk("/v1/redirects", "");
    assert!(listed[0].get("pixels").is_none() && listed[0].get("geo_blocklists").is_none());
    assert_eq!(listed[0]["antibot_enabled"], true);
}
