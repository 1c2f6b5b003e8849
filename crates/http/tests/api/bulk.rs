//! Bulk operations: how batches are read, and how the outcome of each item is shown (contract "Bulk results",
//! D29 to D32). The use cases decide the outcomes.

use serde_json::{Value, json};
use signpost_domain::{FeatureSet, Plan, PlanLimits};

use crate::harness::{Api, memory_on_plan, request};

const CREATE: &str = "/v1/redirects/bulk";

const UNKNOWN_GROUP: &str = "grp_00000000000000000000000000000000";

/// A valid redirect, with these fields added or replaced.
fn item(fields: Value) -> Value {
    let mut item = json!({"name": "a", "target_url": "https://example.com/"});
    let Value::Object(fields) = fields else { panic!("no object: {fields}") };
    item.as_object_mut().unwrap().extend(fields);
    item
}

async fn post(api: &Api, path: &str, body: Value) -> Value {
    let answer = api.call_with("POST", path, body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

/// Position, code and value of each item that failed.
fn failures(answer: &Value) -> Vec<(u64, &str, Option<&str>)> {
    let failed = answer["failed"].as_array().unwrap().iter();
    failed
        .map(|item| {
            let error = &item["error"];
            assert!(!error["message"].as_str().unwrap().is_empty());
            (item["index"].as_u64().unwrap(), error["code"].as_str().unwrap(), error["value"].as_str())
        })
        .collect()
}

#[actix_web::test]
async fn d29_a_bulk_creation_shows_created_and_failed_items_by_position() {
    let api = Api::start().await;
    let before = api.call("GET", "/v1/account").await.rate_limits().unwrap()[1];
    let items = [item(json!({"slug": "a"})), item(json!({"slug": "ADMIN"})), item(json!({}))];
    let answer = api.call_with("POST", CREATE, json!({ "redirects": items })).await;
    assert_eq!(answer.rate_limits().unwrap()[1], before - 1, "a batch counts as one request");
    let listed = api.call("GET", "/v1/redirects").await.body["data"].take();
    assert_eq!(
        answer.body,
        json!({
            "object": "bulk_create_result", "created_count": 2, "failed_count": 1,
            "created": [{"index": 0, "data": listed[1]}, {"index": 2, "data": listed[0]}],
            "failed": [{"index": 1, "error": {
                "code": "slug_already_taken", "message": answer.body["failed"][0]["error"]["message"], "value": "ADMIN",
                "details": [{
                    "field": "slug", "code": "reserved", "message": "`slug` is reserved on the system domain."
                }]
            }}]
        })
    );
}

/// D29: the message names every violation of an item, and `value` is the first invalid text.
#[actix_web::test]
async fn d29_an_invalid_item_lists_all_its_violations() {
    let api = Api::start().await;
    for (bad, value, named) in [
        (json!({}), None, vec!["`name`", "`target_url`"]),
        (json!({"name": "", "target_url": "ftp://x"}), Some(""), vec!["`name`", "`target_url`"]),
        (json!({"target_url": "ftp://x"}), Some("ftp://x"), vec!["`name`", "`target_url`"]),
        (item(json!({"name": {}, "slug": "a b"})), Some("a b"), vec!["`name`", "`slug`"]),
        (item(json!({"slug": "a b", "note": 5})), Some("a b"), vec!["`slug`", "`note`"]),
        (item(json!({"name": 5})), None, vec!["`name`"]),
        (item(json!({"is_active": "no", "colour": "red"})), Some("no"), vec!["`is_active`", "`colour`"]),
        (item(json!({"geo_blocklists": "DE"})), Some("DE"), vec!["`geo_blocklists`"]),
        (item(json!({"pixel_ids": "pxl_1", "colour": "red"})), Some("pxl_1"), vec!["`pixel_ids`"]),
        (item(json!({"colour": "red"})), Some("red"), vec!["`colour`"]),
        (item(json!({"id": "rdr_1"})), Some("rdr_1"), vec!["`id`"]),
        (
            item(
                json!({"geo_blocklists": {"countries": ["DE", "??"]}, "geo_blocklists.countries[1]": "decoy"}),
            ),
            Some("??"),
            vec!["`geo_blocklists.countries[1]`"],
        ),
        (json!("text"), None, vec!["`redirects[0]`"]),
        (json!(null), None, vec!["`redirects[0]`"]),
        (json!([]), None, vec!["`redirects[0]`"]),
        (json!(1.5), None, vec!["`redirects[0]`"]),
    ] {
        let answer = post(&api, CREATE, json!({"redirects": [bad, item(json!({}))]})).await;
        assert_eq!(answer["created_count"], 1, "{bad}");
        assert_eq!(failures(&answer), [(0, "invalid_request", value)], "{bad}");
        let message = answer["failed"][0]["error"]["message"].as_str().unwrap();
        assert!(named.iter().all(|name| message.contains(name)), "{named:?} in {message}");
    }
}

/// Each item fails with the answer of the single creation.
#[actix_web::test]
async fn d29_r34_items_fail_with_the_code_of_the_single_creation() {
    let small = |plan: Plan| Plan {
        limits: PlanLimits { links: 3, ..plan.limits },
        features: FeatureSet::none(),
        ..plan
    };
    let api = Api::on(memory_on_plan(small), |_| {}).await;
    api.redirect("taken").await;
    let url = |slug: &str| format!("https://go.example.com/{slug}");
    let refused = [
        (json!({"name": "x"}), "invalid_request", None),
        (item(json!({"slug": "loop", "target_url": url("loop")})), "invalid_request", Some(url("loop"))),
        (item(json!({"slug": "admin"})), "slug_already_taken", Some("admin".to_owned())),
        (item(json!({"slug": "taken"})), "slug_already_taken", Some("taken".to_owned())),
        (item(json!({"slug": null})), "slug_required_for_system_domain", None),
        (
            item(json!({"domain": "links.example.org"})),
            "domain_not_found",
            Some("links.example.org".to_owned()),
        ),
        (item(json!({"group_id": UNKNOWN_GROUP})), "group_not_found", Some(UNKNOWN_GROUP.to_owned())),
        (item(json!({"group_id": "nonsense"})), "group_not_found", Some("nonsense".to_owned())),
        (item(json!({"antibot_enabled": true})), "feature_not_available_on_current_plan", None),
        (
            item(json!({"geo_blocklists": {"countries": ["DE"]}})),
            "feature_not_available_on_current_plan",
            None,
        ),
    ];
    let mut items: Vec<Value> = refused.iter().map(|(item, ..)| item.clone()).collect();
    items.extend(["mine", "mine", "second", "third"].map(|slug| item(json!({ "slug": slug }))));
    let mut alone = Vec::new();
    for (item, ..) in &refused {
        alone.push(api.call_with("POST", "/v1/redirects", item.clone()).await);
    }
    let answer = post(&api, CREATE, json!({ "redirects": items })).await;
    let mut expected: Vec<_> =
        (0..).zip(&refused).map(|(at, (_, code, value))| (at, *code, value.as_deref())).collect();
    expected.extend([(11, "duplicate_slug_in_batch", Some("mine")), (13, "plan_limit_reached", None)]);
    assert_eq!(failures(&answer), expected);
    for (failed, alone) in answer["failed"].as_array().unwrap().iter().zip(alone) {
        let (error, alone) = (&failed["error"], &alone.body["error"]);
        assert_eq!((&error["code"], error.get("details")), (&alone["code"], alone.get("details")));
        match alone["details"].as_array() {
            Some(details) if alone["code"] == "invalid_request" => {
                let sentences: Vec<_> =
                    details.iter().map(|detail| detail["message"].as_str().unwrap()).collect();
                assert_eq!(error["message"], sentences.join(" "));
            }
            Some(_) | None => assert_eq!(error["message"], alone["message"]),
        }
    }
    assert_eq!(api.call("GET", "/v1/account").await.body["usage"]["links"], 3);
}

#[actix_web::test]
async fn d31_a_bulk_deletion_has_an_outcome_for_each_id() {
    let api = Api::start().await;
    let (_, stranger) = api.account("eve@example.com", "agency").await;
    for (list, ids_field, object, not_found) in [
        ("/v1/redirects", "redirect_ids", "redirect", "redirect_not_found"),
        ("/v1/landings", "landing_ids", "landing", "landing_not_found"),
    ] {
        let is_redirect = object == "redirect";
        let (redirect, landing) = (api.redirect(object).await, api.landing(&format!("{object}-page")).await);
        let (own, other_kind) = if is_redirect { (redirect, landing) } else { (landing, redirect) };
        let body = if is_redirect { item(json!({})) } else { json!({"title": "a"}) };
        let foreign = api.send(request("POST", list, &stranger).set_json(body)).await.id(201);
        let unknown = format!("{}{}", &own[..4], "0".repeat(32));
        let ids = [
            own.as_str(),
            &foreign,
            &other_kind,
            &own,
            &unknown,
            "",
            "nonsense",
            &own.to_uppercase(),
            &unknown,
        ];
        let answer = post(&api, &format!("{list}/bulk/delete"), json!({ ids_field: ids })).await;
        let message = &answer["deleted"][0]["data"]["message"];
        assert!(!message.as_str().unwrap().is_empty());
        let data = json!({"id": own, "object": object, "deleted": true, "message": message});
        let expected = json!({
            "object": "bulk_delete_result", "deleted_count": 1, "failed_count": 8,
            "deleted": [{"index": 0, "data": data}], "failed": answer["failed"],
        });
        assert_eq!(answer, expected);
        let codes = [
            not_found,
            not_found,
            "duplicate_id_in_batch",
            not_found,
            not_found,
            not_found,
            not_found,
            "duplicate_id_in_batch",
        ];
        let expected: Vec<_> =
            (1..).zip(codes).zip(&ids[1..]).map(|((at, code), id)| (at, code, Some(*id))).collect();
        assert_eq!(failures(&answer), expected);
        assert_eq!(api.call("GET", &format!("{list}/{own}")).await.error(), (404, not_found));
        assert_eq!(api.send(request("GET", &format!("{list}/{foreign}"), &stranger)).await.status, 200);
    }
}

#[actix_web::test]
async fn d31_d32_bulk_moves_have_an_outcome_for_each_link() {
    let api = Api::start().await;
    let (group, other) = (api.group("Spring").await, api.group("Summer").await);
    let (inside, page, elsewhere) =
        (api.redirect("a").await, api.landing("b").await, api.redirect("c").await);
    let path = |group: &str, operation: &str| format!("/v1/groups/{group}/{operation}");
    post(&api, &path(&other, "assign"), json!({"link_ids": [elsewhere]})).await;
    let unknown = "rdr_00000000000000000000000000000000";
    for (operation, result, done, ids, succeeded, failed) in [
        (
            "assign",
            "bulk_assign_result",
            "assigned",
            vec![inside.as_str(), unknown, &page, &inside, "x"],
            vec![(0, &inside), (2, &page)],
            vec![(1, "redirect_not_found"), (3, "duplicate_id_in_batch"), (4, "invalid_request")],
        ),
        (
            "unassign",
            "bulk_unassign_result",
            "unassigned",
            vec![elsewhere.as_str(), &page, unknown, &inside, &page, ""],
            vec![(1, &page), (3, &inside)],
            vec![
                (0, "redirect_not_found"),
                (2, "redirect_not_found"),
                (4, "duplicate_id_in_batch"),
                (5, "invalid_request"),
            ],
        ),
    ] {
        let answer = post(&api, &path(&group, operation), json!({ "link_ids": ids })).await;
        let mut shown = Vec::new();
        for (index, id) in &succeeded {
            let list = if id.starts_with("rdr_") { "redirects" } else { "landings" };
            let listed = api.call("GET", &format!("/v1/{list}")).await.body;
            let data =
                listed["data"].as_array().unwrap().iter().find(|link| link["id"] == **id).unwrap().clone();
            let expected = if operation == "assign" { json!(group) } else { json!(null) };
            assert_eq!(data["group_id"], expected);
            shown.push(json!({"index": index, "data": data}));
        }
        let expected = json!({
            "object": result, "failed_count": failed.len(), format!("{done}_count"): succeeded.len(), done: shown,
            "failed": answer["failed"],
        });
        assert_eq!(answer, expected, "{operation}");
        let expected: Vec<_> =
            failed.iter().map(|(at, code)| (*at, *code, Some(ids[usize::try_from(*at).unwrap()]))).collect();
        assert_eq!(failures(&answer), expected, "{operation}");
    }
    assert_eq!(api.call("GET", &format!("/v1/redirects/{elsewhere}")).await.body["group_id"], json!(other));
}

/// Contract "Size and format bounds", D31: a batch has 1 to 100 items, and every id is a string.
#[actix_web::test]
async fn bounds_of_batches_are_violations_of_the_whole_request() {
    let api = Api::start().await;
    let group = api.group("Spring").await;
    for (path, field, takes_ids) in [
        (CREATE.to_owned(), "redirects", false),
        ("/v1/redirects/bulk/delete".to_owned(), "redirect_ids", true),
        ("/v1/landings/bulk/delete".to_owned(), "landing_ids", true),
        (format!("/v1/groups/{group}/assign"), "link_ids", true),
        (format!("/v1/groups/{group}/unassign"), "link_ids", true),
        // The body is validated before the group is looked up.
        (format!("/v1/groups/{UNKNOWN_GROUP}/assign"), "link_ids", true),
    ] {
        let second = format!("{field}[1]");
        let mut table = vec![
            (json!({}), vec![(field, "required")]),
            (json!({field: null}), vec![(field, "not_nullable")]),
            (json!({field: {}}), vec![(field, "invalid_type")]),
            (json!({field: []}), vec![(field, "too_few_items")]),
            (json!({field: vec!["x"; 101]}), vec![(field, "too_many_items")]),
            (json!({field: 5, "zz": 1}), vec![(field, "invalid_type"), ("zz", "unknown_field")]),
            (json!([]), vec![("body", "invalid_type")]),
        ];
        if takes_ids {
            table.push((json!({field: ["x", 5]}), vec![(second.as_str(), "invalid_type")]));
            table.push((
                json!({field: ["x", null], "zz": true}),
                vec![(second.as_str(), "invalid_type"), ("zz", "unknown_field")],
            ));
        }
        for (body, violations) in table {
            let answer = api.call_with("POST", &path, body.clone()).await;
            assert_eq!(answer.violations(), violations, "{path} {body}");
        }
    }
    let hundred = vec![item(json!({})); 100];
    let created = post(&api, CREATE, json!({ "redirects": hundred })).await;
    assert_eq!((&created["created_count"], &created["failed"]), (&json!(100), &json!([])));
    let ids: Vec<_> = created["created"].as_array().unwrap().iter().map(|item| &item["data"]["id"]).collect();
    for (path, field, count) in [
        (format!("/v1/groups/{group}/assign"), "link_ids", "assigned_count"),
        (format!("/v1/groups/{group}/unassign"), "link_ids", "unassigned_count"),
        ("/v1/redirects/bulk/delete".to_owned(), "redirect_ids", "deleted_count"),
    ] {
        let answer = post(&api, &path, json!({ field: ids })).await;
        assert_eq!((&answer[count], &answer["failed"]), (&json!(100), &json!([])), "{path}");
    }
}
