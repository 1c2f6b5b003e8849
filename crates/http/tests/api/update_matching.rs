//! Redirects changed by a filter (D124): how the request is read, and how the outcome is shown. The use case decides it.

use serde_json::{Value, json};
use signpost_domain::{FeatureSet, Plan};

use crate::harness::{Answer, Api, memory_on_plan, request};

const PATH: &str = "/v1/redirects/update-matching";

async fn send(api: &Api, body: Value) -> Answer {
    api.call_with("POST", PATH, body).await
}

/// The answer to a request that succeeds.
async fn change(api: &Api, filter: Value, patch: Value) -> Value {
    let answer = send(api, json!({"filter": filter, "patch": patch})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

/// A redirect with these fields.
async fn redirect(api: &Api, fields: Value) -> Value {
    let mut body = json!({"name": "x", "target_url": "https://example.com/a"});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let answer = api.call_with("POST", "/v1/redirects", body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.body
}

/// The redirects as the list shows them, newest first.
async fn listed(api: &Api) -> Vec<Value> {
    api.call("GET", "/v1/redirects").await.body["data"].as_array().unwrap().clone()
}

#[actix_web::test]
async fn d124_a_dry_run_shows_what_the_run_does() {
    let api = Api::start().await;
    redirect(&api, json!({"slug": "a", "tags": ["sale"]})).await;
    redirect(&api, json!({"slug": "b", "tags": ["sale"], "target_url": "https://example.org/"})).await;
    redirect(&api, json!({"slug": "c"})).await;
    let before = listed(&api).await;
    let mut body = json!({
        "filter": {"tag": ["SALE"]},
        "patch": {
            "replace_target_prefix": {"from": "https://example.com/", "to": "https://example.net/"},
        },
        "dry_run": true,
    });
    let dry = send(&api, body.clone()).await;
    let [_, _, a] = before.as_slice() else { panic!("{before:?}") };
    let mut after = a.clone();
    after["target_url"] = json!("https://example.net/a");
    after["revision"] = json!(2);
    after["updated_at"] = dry.body["examples"][0]["after"]["updated_at"].clone();
    assert_eq!(
        dry.body,
        json!({
            "object": "matching_update_result", "dry_run": true,
            "matched_count": 2, "updated_count": 1, "unchanged_count": 1,
            "failed": [], "failed_more": 0,
            "examples": [{"before": a, "after": after}],
            "next_cursor": null,
        })
    );
    assert_eq!(listed(&api).await, before, "a dry run writes nothing");
    body["dry_run"] = json!(false);
    let run = send(&api, body).await;
    let mut expected = dry.body;
    expected["dry_run"] = json!(false);
    expected.as_object_mut().unwrap().remove("examples");
    assert_eq!(run.body, expected);
    assert_eq!(listed(&api).await, [before[0].clone(), before[1].clone(), after]);
}

#[actix_web::test]
async fn d124_every_filter_of_the_list_chooses_redirects() {
    let api = Api::start().await;
    let group = api.group("Spring").await;
    let chosen = redirect(
        &api,
        json!({
            "slug": "chosen", "name": "Chosen", "group_id": group, "external_id": "1", "tags": ["a", "b"],
            "rules": [{"conditions": [], "target_url": "https://example.com/b"}],
        }),
    )
    .await;
    redirect(&api, json!({"slug": "other", "is_active": false, "tags": ["c"]})).await;
    let created = &chosen["created_at"];
    for (filter, matched) in [
        (json!({"all": true}), 2),
        (json!({"all": true, "slug": "chosen"}), 1),
        (json!({"group_id": group}), 1),
        (json!({"group_id": "none"}), 1),
        (json!({"group_id": "grp_1"}), 0),
        (json!({"domain": "GO.example.com"}), 2),
        (json!({"domain": "links.example.net"}), 0),
        (json!({"slug": "chosen"}), 1),
        (json!({"is_active": true}), 1),
        (json!({"state": ["active"]}), 1),
        (json!({"state": ["inactive", "active", "active"]}), 2),
        (json!({"state": ["lost", "scheduled"]}), 0),
        (json!({"state": ["inactive"], "slug": "chosen"}), 0),
        (json!({"external_id": "1"}), 1),
        (json!({"tag": ["A", "c"]}), 2),
        (json!({"tag_all": ["a", "b"]}), 1),
        (json!({"without_tag": ["a"]}), 1),
        (json!({"target_host": "EXAMPLE.com"}), 2),
        (json!({"target_host": "www.example.com", "is_active": true}), 0),
        (json!({"has_password": true}), 0),
        (json!({"has_password": false}), 2),
        (json!({"has_rules": true}), 1),
        (json!({"has_rules": false}), 1),
        (json!({"created_after": created, "updated_after": created}), 2),
        (json!({"created_before": created, "updated_before": created}), 2),
        (json!({"created_before": "2000-01-01T00:00:00Z"}), 0),
        (json!({"q": "CHOSE"}), 1),
        (json!({"q": "x", "is_active": true}), 1),
    ] {
        let answer = change(&api, filter.clone(), json!({})).await;
        let expected = (&json!(matched), &json!(matched), &json!(0));
        let found = (&answer["matched_count"], &answer["unchanged_count"], &answer["updated_count"]);
        assert_eq!(found, expected, "{filter}");
    }
}

#[actix_web::test]
async fn d124_every_field_of_the_patch_is_read() {
    let api = Api::start().await;
    let (group, pixel) = (api.group("Spring").await, api.pixel().await);
    let id = redirect(&api, json!({"tags": ["a", "b"], "note": "before"})).await["id"].clone();
    let path = format!("/v1/redirects/{}", id.as_str().unwrap());
    let patch = json!({
        "is_active": false, "group_id": group, "add_tags": ["c"], "remove_tags": ["A"],
        "antibot_enabled": true, "geo_blocklists": {"countries": ["DE"]}, "pixel_ids": [pixel], "note": "after",
        "starts_at": "2026-01-31T10:00:00+01:00", "expires_at": "2036-01-31T10:00:00+01:00",
        "fallback_url": "https://example.com/over",
        "redirect_status": 307, "forward_query": true, "utm": {"source": "mail"},
        "replace_target_prefix": {"from": "https://example.com/", "to": "https://example.net/"},
    });
    change(&api, json!({"all": true}), patch).await;
    let after = api.call("GET", &path).await.body;
    for (field, value) in [
        ("is_active", json!(false)),
        ("group_id", json!(group)),
        ("tags", json!(["b", "c"])),
        ("antibot_enabled", json!(true)),
        ("geo_blocklists", json!({"countries": ["DE"]})),
        ("note", json!("after")),
        ("starts_at", json!("2026-01-31T09:00:00.000Z")),
        ("expires_at", json!("2036-01-31T09:00:00.000Z")),
        ("fallback_url", json!("https://example.com/over")),
        ("redirect_status", json!(307)),
        ("forward_query", json!(true)),
        ("utm", json!({"source": "mail", "medium": null, "campaign": null, "term": null, "content": null})),
        ("final_url", json!("https://example.net/a?utm_source=mail")),
        ("target_url", json!("https://example.net/a")),
        ("revision", json!(2)),
    ] {
        assert_eq!(after[field], value, "{field}");
    }
    assert_eq!(after["pixels"][0]["id"], json!(pixel));
    let nulls = json!({
        "group_id": null, "geo_blocklists": null, "pixel_ids": null, "note": null, "starts_at": null, "expires_at": null,
        "fallback_url": null, "utm": null,
    });
    change(&api, json!({"all": true}), nulls).await;
    let after = api.call("GET", &path).await.body;
    assert_eq!(
        (&after["group_id"], &after["note"], &after["pixels"]),
        (&json!(null), &json!(null), &json!([]))
    );
    assert_eq!(after["geo_blocklists"], json!({"countries": []}));
    for cleared in ["starts_at", "expires_at", "fallback_url", "utm"] {
        assert_eq!(after[cleared], json!(null), "{cleared}");
    }
}

#[actix_web::test]
async fn d8_an_invalid_request_lists_all_its_violations() {
    let api = Api::start().await;
    let patch = json!({"is_active": true});
    for (body, expected) in [
        (json!({}), vec![("filter", "required"), ("patch", "required")]),
        (json!({"filter": {}, "patch": patch}), vec![("filter", "required")]),
        (json!({"filter": {"all": false}, "patch": patch}), vec![("filter.all", "invalid_value")]),
        (
            json!({"filter": {"all": 1, "limit": 5, "slug": "a b"}, "patch": {"name": "x", "is_active": null}}),
            vec![
                ("filter.all", "invalid_type"),
                ("filter.limit", "unknown_field"),
                ("filter.slug", "invalid_format"),
                ("patch.is_active", "not_nullable"),
                ("patch.name", "unknown_field"),
            ],
        ),
        (
            json!({"filter": {}, "patch": {"add_tags": ["Sale"], "remove_tags": ["SALE"]}, "cursor": "x"}),
            vec![
                ("cursor", "invalid_format"),
                ("filter", "required"),
                ("patch.remove_tags", "invalid_value"),
            ],
        ),
        (
            json!({
                "filter": {"tag": [], "tag_all": ["a,b"], "created_after": "today", "target_host": "a:1", "state": ["lost", "on"]},
                "patch": {
                    "replace_target_prefix": {"from": "", "with": "x"},
                    "pixel_ids": ["pxl_1"],
                    "geo_blocklists": {"countries": ["??"]},
                },
                "dry_run": "yes",
                "cursor": "A".repeat(513),
            }),
            vec![
                ("cursor", "too_long"),
                ("dry_run", "invalid_type"),
                ("filter.created_after", "invalid_format"),
                ("filter.state[1]", "invalid_value"),
                ("filter.tag", "too_few_items"),
                ("filter.tag_all[0]", "invalid_format"),
                ("filter.target_host", "invalid_value"),
                ("patch.geo_blocklists.countries[0]", "invalid_value"),
                ("patch.pixel_ids[0]", "invalid_value"),
                ("patch.replace_target_prefix.from", "too_short"),
                ("patch.replace_target_prefix.to", "required"),
                ("patch.replace_target_prefix.with", "unknown_field"),
            ],
        ),
        (
            json!({
                "filter": {"all": true},
                "patch": {"pixel_ids": ["pxl_00000000000000000000000000000000"]},
            }),
            vec![("patch.pixel_ids[0]", "invalid_value")],
        ),
    ] {
        assert_eq!(send(&api, body.clone()).await.violations(), expected, "{body}");
    }
}

/// The details are those of a single update.
#[actix_web::test]
async fn d124_a_failed_redirect_is_named_with_its_error() {
    let plan = |plan: Plan| Plan { features: FeatureSet::none(), ..plan };
    let api = Api::on(memory_on_plan(plan), |_| {}).await;
    let id = redirect(&api, json!({"slug": "own"})).await["id"].clone();
    let patch = json!({
        "replace_target_prefix": {"from": "https://example.com/a", "to": "https://go.example.com/own"},
    });
    let answer = change(&api, json!({"all": true}), patch).await;
    let message = &answer["failed"][0]["error"]["message"];
    let detail = &answer["failed"][0]["error"]["details"][0];
    assert_eq!(
        answer["failed"],
        json!([{"id": id, "error": {
            "code": "invalid_request", "message": message, "value": "https://go.example.com/own",
            "details": [{"field": "target_url", "code": "invalid_value", "message": detail["message"]}],
        }}])
    );
    let answer = change(&api, json!({"all": true}), json!({"antibot_enabled": true})).await;
    let error = &answer["failed"][0]["error"];
    assert_eq!(error["code"], "feature_not_available_on_current_plan");
    assert_eq!((&error["value"], error.get("details")), (&Value::Null, None));
    let patch = json!({"group_id": "grp_00000000000000000000000000000000"});
    let answer = send(&api, json!({"filter": {"all": true}, "patch": patch})).await;
    assert_eq!((answer.status, &answer.body["error"]["code"]), (404, &json!("group_not_found")));
}

/// D11: one of a list, of another filter, or of a dry run.
#[actix_web::test]
async fn d124_a_cursor_of_anything_else_is_refused() {
    let api = Api::start().await;
    for slug in ["a", "b"] {
        redirect(&api, json!({ "slug": slug })).await;
    }
    let list = api.call("GET", "/v1/redirects?limit=1").await.body;
    let cursor = &list["pagination"]["next_cursor"];
    assert!(cursor.is_string());
    let body = json!({"filter": {"all": true}, "patch": {}, "cursor": cursor});
    assert_eq!(send(&api, body).await.violations(), [("cursor", "invalid_format")]);
    let body = json!({"filter": {"all": true}, "patch": {}, "cursor": null});
    assert_eq!(send(&api, body).await.body["matched_count"], 2);
}

#[actix_web::test]
async fn d12_the_answer_to_a_call_is_replayed() {
    let api = Api::start().await;
    redirect(&api, json!({"slug": "a"})).await;
    let body = json!({"filter": {"is_active": true}, "patch": {"is_active": false}});
    let call = || request("POST", PATH, &api.key).insert_header(("idempotency-key", "once")).set_json(&body);
    let (first, second) = (api.send(call()).await, api.send(call()).await);
    assert_eq!(first.body["updated_count"], 1);
    assert_eq!((second.status, &second.body), (200, &first.body));
    assert_eq!(
        (first.header("idempotent-replayed"), second.header("idempotent-replayed")),
        (None, Some("true"))
    );
    assert_eq!(send(&api, body).await.body["matched_count"], 0);
}
