//! Redirects: contract "Redirect"; D5, D28, D33, D58.

use serde_json::{Value, json};

use crate::harness::{Program, concurrently, redirect_body};

fn path_of(link: &Value) -> String {
    format!("/v1/redirects/{}", link["id"].as_str().unwrap())
}

/// A redirect is created with every field, opened, changed, switched off and on, found, and deleted.
#[test]
fn d28_d58_a_redirect_lives_from_creation_to_deletion() {
    let program = Program::builder().setting("system-aliases", "old.example.com").start();
    let account = program.first_account();
    let visitor = program.visitor();
    let group = account.create_group("g")["id"].clone();
    let body = json!({
        "name": "  Große STRAẞE 🎉  ", "target_url": "https://example.com/pfad/ä?q=%20", "slug": "My_Slug-1",
        "domain": "OLD.example.com.", "note": "  kept as it is\n", "group_id": group, "is_active": true,
        "antibot_enabled": false, "geo_blocklists": {"countries": ["de", "AT", "DE"]}, "analytics_enabled": false
    });
    let created = account.post("/v1/redirects", &body).expect_status(201);
    let address = created.header("location").unwrap().to_owned();
    let link = created.body;
    for (field, shown) in [
        ("name", json!("Große STRAẞE 🎉")),
        ("url", json!("http://localhost:8081/My_Slug-1")),
        ("note", body["note"].clone()),
        ("group_id", group.clone()),
        ("domain", json!("localhost")),
        ("geo_blocklists", json!({"countries": ["DE", "AT"]})),
        ("updated_at", link["created_at"].clone()),
    ] {
        assert_eq!(link[field], shown, "{field}");
    }
    assert_eq!(account.get(&address).expect_status(200).body, link);
    assert_eq!(visitor.open("/My_Slug-1").location(), Some("https://example.com/pfad/%C3%A4?q=%20"));
    let query = format!("?q=STRASSE&is_active=true&domain=localhost&group_id={}", group.as_str().unwrap());
    assert_eq!(account.walk("/v1/redirects", &query).len(), 1);

    let patch = json!({
        "name": "After", "target_url": "https://example.org/after", "slug": "after", "note": null, "group_id": null,
        "geo_blocklists": null
    });
    let after = account.patch(&address, &patch).expect_status(200).body;
    assert_eq!(account.get(&address).expect_status(200).body, after);
    assert_eq!((&after["url"], &after["note"]), (&json!("http://localhost:8081/after"), &Value::Null));
    assert!(after["updated_at"].as_str() >= link["updated_at"].as_str());
    assert_eq!((&link["revision"], &after["revision"]), (&json!(1), &json!(2)));
    assert_eq!(account.patch(&address, &json!({"name": " After"})).expect_status(200).body, after);
    assert!(account.walk("/v1/redirects", &query).is_empty());
    for _ in 0..3 {
        assert_eq!((visitor.open("/My_Slug-1").status, visitor.open("/after").status), (404, 302));
        account.patch(&address, &json!({"is_active": false})).expect_status(200);
        assert_eq!(visitor.open("/after").status, 404);
        account.patch(&address, &json!({"is_active": true})).expect_status(200);
    }

    let deleted = account.delete(&address).expect_status(200).body;
    let expected =
        json!({"id": link["id"], "object": "redirect", "deleted": true, "message": deleted["message"]});
    assert_eq!(deleted, expected);
    account.get(&address).expect_error(404, "redirect_not_found");
    assert_eq!(visitor.open("/after").status, 404);
    account.create_redirect(&redirect_body(json!({"slug": "after"})));
    assert_eq!(visitor.open("/after").status, 302);
    assert_eq!(account.get("/v1/account").body["usage"]["links"], 1);
}

#[test]
fn one_of_many_concurrent_deletions_succeeds() {
    let program = Program::start();
    let account = program.first_account();
    let group = account.create_group("g")["id"].clone();
    let address = path_of(&account.create_redirect(&redirect_body(json!({"group_id": group}))));
    let mut statuses = concurrently(10, |_| account.delete(&address).status);
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![200], vec![404; 9]].concat());
    let group = account.get(&format!("/v1/groups/{}", group.as_str().unwrap())).body;
    assert_eq!(group["redirects_count"], 0);
}

#[test]
fn d33_concurrent_patches_of_different_fields_lose_nothing() {
    let program = Program::start();
    let account = program.first_account();
    for _ in 0..10 {
        let address = path_of(&account.new_redirect());
        let patches = [
            json!({"name": "changed"}),
            json!({"note": "changed"}),
            json!({"is_active": false}),
            json!({"antibot_enabled": true}),
            json!({"target_url": "https://example.org/changed"}),
        ];
        concurrently(patches.len(), |number| {
            account.patch(&address, &patches[number]).expect_status(200);
        });
        let after = account.get(&address).body;
        for (field, value) in patches.iter().flat_map(|patch| patch.as_object().unwrap()) {
            assert_eq!(after[field], *value);
        }
    }
}
