//! Groups: contract "Group", "PATCH /v1/groups/{id}", D5, D32.

use std::time::Duration;

use serde_json::json;

use crate::harness::{Api, is_id};

#[actix_web::test]
async fn a_group_is_created_shown_renamed_and_deleted() {
    let api = Api::start().await;
    let created = api.call_with("POST", "/v1/groups", json!({"name": " Spring "})).await;
    let id = created.id(201);
    assert!(is_id(&id, "grp_"));
    let path = format!("/v1/groups/{id}");
    assert_eq!(created.header("location"), Some(path.as_str()));
    let mut expected = json!({
        "id": id, "object": "group", "name": "Spring", "landings_count": 0, "redirects_count": 0,
        "created_at": "2026-01-31T09:05:07.042Z", "updated_at": "2026-01-31T09:05:07.042Z",
    });
    assert_eq!(created.body, expected);
    assert_eq!(api.call("GET", &path).await.body, expected);

    api.memory.clock.advance(Duration::from_secs(1));
    expected["name"] = json!("Summer");
    expected["updated_at"] = json!("2026-01-31T09:05:08.042Z");
    assert_eq!(api.call_with("PATCH", &path, json!({"name": "Summer"})).await.body, expected);

    let deleted = api.call("DELETE", &path).await;
    assert_eq!((deleted.status, &deleted.body["object"]), (200, &json!("group")));
    assert_eq!((&deleted.body["id"], &deleted.body["deleted"]), (&json!(id), &json!(true)));
    assert_eq!(api.call("GET", &path).await.error(), (404, "group_not_found"));
}

#[actix_web::test]
async fn a_group_accepts_only_a_valid_name() {
    let api = Api::start().await;
    let group = format!("/v1/groups/{}", api.group("Spring").await);
    for (method, path) in [("POST", "/v1/groups"), ("PATCH", &group)] {
        for (body, expected) in [
            (json!({}), vec![("name", "required")]),
            (json!({"name": null}), vec![("name", "not_nullable")]),
            (json!({"name": 1}), vec![("name", "invalid_type")]),
            (json!({"name": "  "}), vec![("name", "too_short")]),
            (json!({"name": "n".repeat(101)}), vec![("name", "too_long")]),
            (json!({"name": "a\u{0}b"}), vec![("name", "invalid_format")]),
            (json!({"name": "a", "id": "x"}), vec![("id", "unknown_field")]),
            (json!({"nmae": "a"}), vec![("name", "required"), ("nmae", "unknown_field")]),
            (json!([]), vec![("body", "invalid_type")]),
        ] {
            assert_eq!(
                api.call_with(method, path, body.clone()).await.violations(),
                expected,
                "{method} {body}"
            );
        }
    }
}
