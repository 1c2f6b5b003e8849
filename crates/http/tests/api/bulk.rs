//! Bulk operations: how batches are read, and how the outcome of each item is shown (contract "Bulk results",
//! D29 to D32). The use cases decide the outcomes.

use serde_json::{Value, json};
use signpost_domain::{FeatureSet, Plan, PlanLimits};

use crate::harness::{Api, memory_on_plan};

const CREATE: &str = "/v1/redirects/bulk";

const CREATE_PAGES: &str = "/v1/landings/bulk";

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
        (item(json!({"slug": "a b", "note": 5})), Some("a b"), vec!["`slug`", "`note`"]),
        (item(json!({"is_active": "no", "colour": "red"})), Some("no"), vec!["`is_active`", "`colour`"]),
        (
            item(json!({"geo_blocklists": {"countries": ["DE", "??"]}})),
            Some("??"),
            vec!["`geo_blocklists.countries[1]`"],
        ),
        // Names of the caller that look like paths.
        (
            item(
                json!({"geo_blocklists": {"countries": ["DE", "??"]}, "geo_blocklists.countries[1]": "decoy"}),
            ),
            Some("??"),
            vec!["`geo_blocklists.countries[1]`"],
        ),
        (
            item(json!({"geo_blocklists": {"countries": ["DE"], "countries[0]": "typo"}})),
            Some("typo"),
            vec!["`geo_blocklists.countries[0]`"],
        ),
        (item(json!({"colours": 1, "colours[0]": "red"})), Some("red"), vec!["`colours`", "`colours[0]`"]),
        (item(json!({ "k".repeat(101): "v" })), Some("v"), vec!["`kkk"]),
        (item(json!({"geo_blocklists": "DE"})), Some("DE"), vec!["`geo_blocklists`"]),
        (item(json!({"name": {}, "slug": "a b"})), Some("a b"), vec!["`name`", "`slug`"]),
        (json!("text"), None, vec!["`redirects[0]`"]),
        (json!(null), None, vec!["`redirects[0]`"]),
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
    for (list, ids_field, object, own) in [
        ("/v1/redirects", "redirect_ids", "redirect", api.redirect("a").await),
        ("/v1/landings", "landing_ids", "landing", api.landing("b").await),
    ] {
        let ids = json!([own, "nonsense", own]);
        let answer = post(&api, &format!("{list}/bulk/delete"), json!({ ids_field: ids })).await;
        let message = &answer["deleted"][0]["data"]["message"];
        assert!(!message.as_str().unwrap().is_empty());
        let data = json!({"id": own, "object": object, "deleted": true, "message": message});
        let expected = json!({
            "object": "bulk_delete_result", "deleted_count": 1, "failed_count": 2,
            "deleted": [{"index": 0, "data": data}], "failed": answer["failed"],
        });
        assert_eq!(answer, expected);
        let not_found = format!("{object}_not_found");
        let expected =
            [(1, not_found.as_str(), Some("nonsense")), (2, "duplicate_id_in_batch", Some(own.as_str()))];
        assert_eq!(failures(&answer), expected);
        assert_eq!(api.call("GET", &format!("{list}/{own}")).await.error(), (404, not_found.as_str()));
    }
}

#[actix_web::test]
async fn d31_d32_bulk_moves_have_an_outcome_for_each_link() {
    let api = Api::start().await;
    let group = api.group("Spring").await;
    let (redirect, page) = (api.redirect("a").await, api.landing("b").await);
    let unknown = "rdr_00000000000000000000000000000000";
    for (operation, done, group_id) in
        [("assign", "assigned", json!(group)), ("unassign", "unassigned", json!(null))]
    {
        let ids = json!({"link_ids": [redirect, unknown, page, redirect, "x"]});
        let answer = post(&api, &format!("/v1/groups/{group}/{operation}"), ids).await;
        let mut shown = Vec::new();
        for (index, list) in [(0, "/v1/redirects"), (2, "/v1/landings")] {
            let data = api.call("GET", list).await.body["data"][0].clone();
            assert_eq!(data["group_id"], group_id);
            shown.push(json!({"index": index, "data": data}));
        }
        let expected = json!({
            "object": format!("bulk_{operation}_result"), "failed_count": 3, format!("{done}_count"): 2, done: shown,
            "failed": answer["failed"],
        });
        assert_eq!(answer, expected, "{operation}");
        let expected = [
            (1, "redirect_not_found", Some(unknown)),
            (3, "duplicate_id_in_batch", Some(redirect.as_str())),
            (4, "invalid_request", Some("x")),
        ];
        assert_eq!(failures(&answer), expected, "{operation}");
    }
}

/// D31. The body is validated before the group is looked up.
#[actix_web::test]
async fn d31_ids_of_wrong_types_are_violations_of_the_whole_request() {
    let api = Api::start().await;
    for (path, field) in [
        ("/v1/redirects/bulk/delete".to_owned(), "redirect_ids"),
        ("/v1/landings/bulk/delete".to_owned(), "landing_ids"),
        (format!("/v1/groups/{UNKNOWN_GROUP}/assign"), "link_ids"),
        (format!("/v1/groups/{UNKNOWN_GROUP}/unassign"), "link_ids"),
    ] {
        let answer = api.call_with("POST", &path, json!({field: ["x", 5, null], "zz": true})).await;
        let wrong = |place| format!("{field}[{place}]");
        let (second, third) = (wrong(1), wrong(2));
        let items = [second.as_str(), &third].map(|item| (item, "invalid_type"));
        assert_eq!(answer.violations(), [&items[..], &[("zz", "unknown_field")]].concat(), "{path}");
    }
}

#[actix_web::test]
async fn a_batch_may_have_100_items() {
    let api = Api::start().await;
    let created = post(&api, CREATE, json!({"redirects": vec![item(json!({})); 100]})).await;
    assert_eq!((&created["created_count"], &created["failed"]), (&json!(100), &json!([])));
}

/// Contract D123: as redirects, with what is on the pages.
#[actix_web::test]
async fn d123_pages_are_created_in_bulk_with_their_content() {
    let api = Api::start().await;
    let taken = api.landing("taken").await;
    let heading = |text: &str| json!({"type": "heading", "text": text});
    let items = json!([
        {"title": "One", "slug": "one", "theme": "dark", "widgets": [heading("First"), heading("Second")]},
        {"title": "Two", "slug": "taken"},
        {"title": "Three", "slug": "one"},
        {"title": "Four", "target_url": "https://example.com/"},
        7,
        {"title": "Six"},
    ]);
    let answer = post(&api, CREATE_PAGES, json!({ "landings": items })).await;
    assert_eq!(answer["object"], "bulk_create_result");
    assert_eq!((&answer["created_count"], &answer["failed_count"]), (&json!(2), &json!(4)));
    assert_eq!(
        failures(&answer),
        [
            (1, "slug_already_taken", Some("taken")),
            (2, "duplicate_slug_in_batch", Some("one")),
            (3, "invalid_request", Some("https://example.com/")),
            (4, "invalid_request", None),
        ]
    );
    assert_eq!(answer["failed"][0]["error"]["details"][0]["existing_id"], json!(taken));
    let first = &answer["created"][0]["data"];
    assert_eq!((first["title"].as_str(), first.get("widgets")), (Some("One"), None));
    let shown = api.call("GET", &format!("/v1/landings/{}", first["id"].as_str().unwrap())).await.body;
    assert_eq!((&shown["theme"], shown["widgets"].as_array().unwrap().len()), (&json!("dark"), 2));
    let sixth = answer["created"][1]["data"]["id"].as_str().unwrap();
    let shown = api.call("GET", &format!("/v1/landings/{sixth}")).await.body;
    assert_eq!(shown["widgets"], json!([]));
}
