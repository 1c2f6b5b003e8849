//! Links changed in bulk (D123): how items are read, and how their outcomes are shown. The use case decides the outcomes.

use serde_json::{Value, json};
use signpost_domain::{FeatureSet, Plan};

use crate::harness::{Api, memory_on_plan};

const REDIRECTS: &str = "/v1/redirects/bulk";

const PAGES: &str = "/v1/landings/bulk";

const UNKNOWN: &str = "rdr_00000000000000000000000000000000";

const UNKNOWN_GROUP: &str = "grp_00000000000000000000000000000000";

/// Changes redirects, and gives the answer.
async fn change(api: &Api, items: Value) -> Value {
    let mut body = json!({});
    body["redirects"] = items;
    let answer = api.call_with("PATCH", REDIRECTS, body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

/// The item with these fields added or replaced.
fn with(mut item: Value, fields: &Value) -> Value {
    item.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    item
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

/// Field and code of each violation of the only item that failed.
fn violations(answer: &Value) -> Vec<(&str, &str)> {
    let [failed] = answer["failed"].as_array().unwrap().as_slice() else { panic!("{answer}") };
    assert_eq!(failed["error"]["code"], "invalid_request", "{answer}");
    let details = failed["error"]["details"].as_array().unwrap().iter();
    details.map(|detail| (detail["field"].as_str().unwrap(), detail["code"].as_str().unwrap())).collect()
}

#[actix_web::test]
async fn d123_a_bulk_update_shows_updated_and_failed_items_by_position() {
    let api = Api::start().await;
    let (first, second) = (api.redirect("first").await, api.redirect("second").await);
    let before = api.call("GET", "/v1/account").await.rate_limits().unwrap()[1];
    let items = json!([
        {"id": first, "note": "one"},
        {"id": UNKNOWN, "note": "two"},
        {"id": second, "slug": "third", "tags": ["sale"]},
        {"id": first, "note": "four"},
        {"id": "nonsense"},
    ]);
    let answer = api.call_with("PATCH", REDIRECTS, json!({ "redirects": items })).await;
    assert_eq!(answer.rate_limits().unwrap()[1], before - 1, "a batch counts as one request");
    let listed = api.call("GET", "/v1/redirects").await.body["data"].take();
    let failed = |place: usize, index: u64, code: &str, value: &str| {
        let message = &answer.body["failed"][place]["error"]["message"];
        json!({"index": index, "error": {"code": code, "message": message, "value": value}})
    };
    assert_eq!(
        answer.body,
        json!({
            "object": "bulk_update_result", "updated_count": 2, "failed_count": 3,
            "updated": [{"index": 0, "data": listed[1]}, {"index": 2, "data": listed[0]}],
            "failed": [
                failed(0, 1, "redirect_not_found", UNKNOWN),
                failed(1, 3, "duplicate_id_in_batch", &first),
                failed(2, 4, "redirect_not_found", "nonsense"),
            ],
        })
    );
    assert_eq!((&listed[1]["note"], &listed[1]["revision"]), (&json!("one"), &json!(2)));
    assert_eq!((&listed[0]["slug"], &listed[0]["tags"]), (&json!("third"), &json!(["sale"])));
}

/// An item without a link, or with invalid fields, fails alone with all its violations.
#[actix_web::test]
async fn d123_an_invalid_change_lists_all_its_violations() {
    let api = Api::start().await;
    let (own, other) = (api.redirect("own").await, api.redirect("other").await);
    let of_own = |fields: Value| with(json!({"id": own}), &fields);
    let mut note = 0;
    for (bad, expected) in [
        (json!({}), vec![("id", "required")]),
        (json!({"note": 5}), vec![("id", "required"), ("note", "invalid_type")]),
        (json!({"external_id": null}), vec![("id", "required")]),
        (json!({"external_id": ""}), vec![("external_id", "too_short")]),
        (json!({"external_id": 5, "if_revision": 1}), vec![("external_id", "invalid_type")]),
        (json!({"id": null}), vec![("id", "not_nullable")]),
        (json!({"id": null, "external_id": "order-1"}), vec![("id", "not_nullable")]),
        (json!({"id": 5, "name": ""}), vec![("id", "invalid_type"), ("name", "too_short")]),
        (of_own(json!({"if_revision": null})), vec![("if_revision", "not_nullable")]),
        (of_own(json!({"if_revision": "1"})), vec![("if_revision", "invalid_type")]),
        (of_own(json!({"if_revision": 1.5})), vec![("if_revision", "invalid_type")]),
        (of_own(json!({"if_revision": u64::MAX})), vec![("if_revision", "invalid_type")]),
        (of_own(json!({"if_revision": 0})), vec![("if_revision", "out_of_range")]),
        (of_own(json!({"if_revision": -1})), vec![("if_revision", "out_of_range")]),
        (of_own(json!({"if_revision": i64::MAX})), vec![("if_revision", "invalid_value")]),
        (
            of_own(json!({"name": null, "colour": 1})),
            vec![("name", "not_nullable"), ("colour", "unknown_field")],
        ),
        (of_own(json!({"analytics_enabled": true})), vec![("analytics_enabled", "unknown_field")]),
        (of_own(json!({"revision": 1})), vec![("revision", "unknown_field")]),
        (json!(7), vec![("redirects[0]", "invalid_type")]),
        (json!([own]), vec![("redirects[0]", "invalid_type")]),
    ] {
        note += 1;
        let answer = change(&api, json!([bad, {"id": other, "note": format!("{note}")}])).await;
        assert_eq!(answer["updated"][0]["index"], 1, "{bad}");
        assert_eq!(answer["updated"][0]["data"]["note"], json!(format!("{note}")), "{bad}");
        assert_eq!(violations(&answer), expected, "{bad}");
    }
    assert_eq!(api.call("GET", &format!("/v1/redirects/{own}")).await.body["revision"], 1);
}

#[actix_web::test]
async fn d8_r26_20_violations_of_a_change_are_listed_and_the_others_counted() {
    let api = Api::start().await;
    let unknown = (0..30).map(|number| (format!("field_{number}"), json!(0)));
    let answer = change(&api, json!([unknown.collect::<serde_json::Map<_, _>>()])).await;
    let found = violations(&answer);
    assert_eq!((found.len(), found[0], found[20]), (21, ("id", "required"), ("redirects[0]", "truncated")));
}

#[actix_web::test]
async fn d123_a_link_is_named_by_id_or_by_external_id() {
    let api = Api::start().await;
    let (first, second, page) =
        (api.redirect("first").await, api.redirect("second").await, api.landing("page").await);
    api.call_with("PATCH", &format!("/v1/landings/{page}"), json!({"external_id": "page"})).await;

    // Beside an id, it is a change.
    let given = change(&api, json!([{"id": first, "external_id": "order-1"}])).await;
    assert_eq!(given["updated"][0]["data"]["external_id"], "order-1");
    // Without one, it names the link.
    let named = change(
        &api,
        json!([
            {"external_id": "order-1", "name": "Named"},
            {"id": first, "name": "Twice"},
            {"external_id": "order-2", "name": "Unknown"},
            {"external_id": "page", "name": "Of the other kind"},
            {"id": second, "external_id": "order-1"},
        ]),
    )
    .await;
    let shown = &named["updated"][0]["data"];
    assert_eq!(
        (&shown["id"], &shown["name"], &shown["external_id"]),
        (&json!(first), &json!("Named"), &json!("order-1"))
    );
    assert_eq!(
        failures(&named),
        [
            (1, "duplicate_id_in_batch", Some(first.as_str())),
            (2, "redirect_not_found", Some("order-2")),
            (3, "redirect_not_found", Some("page")),
            (4, "invalid_request", Some("order-1")),
        ]
    );
    let taken = &named["failed"][3]["error"]["details"][0];
    assert_eq!(
        (&taken["field"], &taken["code"], &taken["existing_id"]),
        (&json!("external_id"), &json!("already_taken"), &json!(first))
    );
    let cleared = change(&api, json!([{"id": first, "external_id": null}])).await;
    assert_eq!(cleared["updated"][0]["data"]["external_id"], Value::Null);
    assert_eq!(
        failures(&change(&api, json!([{"external_id": "order-1"}])).await),
        [(0, "redirect_not_found", Some("order-1"))]
    );
}

#[actix_web::test]
async fn d123_a_change_for_another_revision_fails_alone() {
    let api = Api::start().await;
    let (first, second) = (api.redirect("first").await, api.redirect("second").await);
    let both = |name: &str| {
        json!([
            {"id": first, "name": name, "if_revision": 1},
            {"id": second, "name": name, "if_revision": 2},
        ])
    };
    let answer = change(&api, both("A")).await;
    assert_eq!(answer["updated"][0]["data"]["revision"], 2);
    assert_eq!(violations(&answer), [("if_revision", "invalid_value")]);
    assert_eq!(failures(&answer), [(1, "invalid_request", None)]);
    let answer = change(&api, both("B")).await;
    assert_eq!(answer["updated_count"], 0);
    let listed = api.call("GET", "/v1/redirects").await.body["data"].take();
    assert_eq!([&listed[1]["name"], &listed[0]["name"]], [&json!("A"), &json!("second")]);
}

/// Each item fails with the answer of the single update.
#[actix_web::test]
async fn d123_items_fail_with_the_code_of_the_single_update() {
    let small = |plan: Plan| Plan { features: FeatureSet::none(), ..plan };
    let api = Api::on(memory_on_plan(small), |_| {}).await;
    api.redirect("taken").await;
    let loops = "https://go.example.com/s1";
    let refused = [
        (json!({"target_url": "ftp://x"}), "invalid_request", Some("ftp://x")),
        (json!({"target_url": loops}), "invalid_request", Some(loops)),
        (json!({"slug": "admin"}), "slug_already_taken", Some("admin")),
        (json!({"slug": "taken"}), "slug_already_taken", Some("taken")),
        (json!({"slug": null}), "slug_required_for_system_domain", None),
        (json!({"domain": "links.example.org"}), "domain_not_found", Some("links.example.org")),
        (json!({"group_id": UNKNOWN_GROUP}), "group_not_found", Some(UNKNOWN_GROUP)),
        (json!({"group_id": "nonsense"}), "group_not_found", Some("nonsense")),
        (json!({"antibot_enabled": true}), "feature_not_available_on_current_plan", None),
        (json!({"geo_blocklists": {"countries": ["DE"]}}), "feature_not_available_on_current_plan", None),
    ];
    let (mut items, mut alone) = (vec![], vec![]);
    for (number, (fields, ..)) in refused.iter().enumerate() {
        let id = api.redirect(&format!("s{number}")).await;
        alone.push(api.call_with("PATCH", &format!("/v1/redirects/{id}"), fields.clone()).await);
        items.push(with(json!({ "id": id }), fields));
    }
    let answer = change(&api, json!(items)).await;
    let expected: Vec<_> = (0..).zip(&refused).map(|(at, (_, code, value))| (at, *code, *value)).collect();
    assert_eq!(failures(&answer), expected);
    for (failed, alone) in answer["failed"].as_array().unwrap().iter().zip(alone) {
        let (error, alone) = (&failed["error"], &alone.body["error"]);
        assert_eq!((&error["code"], error.get("details")), (&alone["code"], alone.get("details")));
    }
}

#[actix_web::test]
async fn d123_pages_are_changed_in_bulk_with_their_content() {
    let api = Api::start().await;
    let (menu, card) = (api.landing("menu").await, api.landing("card").await);
    let redirect = api.redirect("sale").await;
    let heading = |text: &str| json!({"type": "heading", "text": text});
    let items = json!([
        {"id": menu, "title": "Menu", "theme": "dark", "widgets": [heading("Soups"), heading("Cakes")]},
        {"id": card, "target_url": "https://example.com/"},
        {"id": redirect, "title": "x"},
        {"id": card, "widgets": [{"type": "heading"}], "if_revision": 1},
    ]);
    let answer = api.call_with("PATCH", PAGES, json!({ "landings": items })).await;
    assert_eq!((answer.status, &answer.body["updated_count"]), (200, &json!(1)), "{answer:?}");
    let shown = &answer.body["updated"][0]["data"];
    assert_eq!((shown["title"].as_str(), shown.get("widgets")), (Some("Menu"), None));
    let codes: Vec<_> = failures(&answer.body).iter().map(|(index, code, _)| (*index, *code)).collect();
    assert_eq!(codes[..2], [(1, "invalid_request"), (2, "landing_not_found")]);
    let page = api.call("GET", &format!("/v1/landings/{menu}")).await.body;
    assert_eq!((&page["theme"], page["widgets"].as_array().unwrap().len()), (&json!("dark"), 2));
    assert_eq!(page["revision"], 2);

    // The widgets that were read keep their ids.
    let items = json!([{"id": menu, "widgets": [page["widgets"][1], heading("Teas")]}]);
    api.call_with("PATCH", PAGES, json!({ "landings": items })).await;
    let changed = api.call("GET", &format!("/v1/landings/{menu}")).await.body;
    assert_eq!(changed["widgets"][0], page["widgets"][1]);
    assert_eq!(changed["widgets"][1]["text"], "Teas");
}

#[actix_web::test]
async fn d123_a_wrong_envelope_is_refused_as_a_whole() {
    let api = Api::start().await;
    let item = json!({"id": api.redirect("a").await, "note": "changed"});
    for (body, expected) in [
        (json!({}), vec![("redirects", "required")]),
        (json!({"redirects": null}), vec![("redirects", "not_nullable")]),
        (json!({"redirects": item}), vec![("redirects", "invalid_type")]),
        (json!({"redirects": []}), vec![("redirects", "too_few_items")]),
        (json!({"redirects": vec![&item; 101]}), vec![("redirects", "too_many_items")]),
        (json!({"redirects": [item], "note": "x"}), vec![("note", "unknown_field")]),
        (json!({"landings": [item]}), vec![("landings", "unknown_field"), ("redirects", "required")]),
    ] {
        let answer = api.call_with("PATCH", REDIRECTS, body.clone()).await;
        assert_eq!(answer.violations(), expected, "{body}");
    }
    assert_eq!(api.call("GET", "/v1/redirects").await.body["data"][0]["note"], Value::Null);
}

#[actix_web::test]
async fn d123_a_batch_may_have_100_changes() {
    let api = Api::start().await;
    let creations = vec![json!({"name": "a", "target_url": "https://example.com/"}); 100];
    let created = api.call_with("POST", REDIRECTS, json!({ "redirects": creations })).await.body;
    let ids = created["created"].as_array().unwrap().iter().map(|item| &item["data"]["id"]);
    let items: Vec<Value> = ids.map(|id| json!({"id": id, "name": "b", "if_revision": 1})).collect();
    let answer = change(&api, json!(items)).await;
    assert_eq!((&answer["updated_count"], &answer["failed"]), (&json!(100), &json!([])));
    let mut names = answer["updated"].as_array().unwrap().iter().map(|item| &item["data"]["name"]);
    assert!(names.all(|name| name == "b"));
}
