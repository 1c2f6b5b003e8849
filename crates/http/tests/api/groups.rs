//! Groups: contract "Group", "PATCH /v1/groups/{id}", D32.

use std::time::Duration;

use serde_json::json;

use crate::harness::{Api, is_id};

#[actix_web::test]
async fn a_group_is_shown_in_full_and_renamed() {
    let api = Api::start().await;
    let created = api.call_with("POST", "/v1/groups", json!({"name": " Spring "})).await;
    let id = created.id(201);
    assert!(is_id(&id, "grp_"));
    let path = format!("/v1/groups/{id}");
    let mut expected = json!({
        "id": id, "object": "group", "name": "Spring", "landings_count": 0, "redirects_count": 0,
        "created_at": "2026-01-31T09:05:07.042Z", "updated_at": "2026-01-31T09:05:07.042Z",
        "revision": 1,
    });
    assert_eq!(created.body, expected);

    api.memory.clock.advance(Duration::from_secs(1));
    expected["name"] = json!("Summer");
    expected["updated_at"] = json!("2026-01-31T09:05:08.042Z");
    expected["revision"] = json!(2);
    assert_eq!(api.call_with("PATCH", &path, json!({"name": "Summer"})).await.body, expected);
}
