//! External ids, and `PUT` by them (D121).

use serde_json::{Value, json};

use crate::harness::{Answer, Api, link_body, request};

const KINDS: [(&str, &str); 2] = [("/v1/redirects", "name"), ("/v1/landings", "title")];

/// The only violation of the answer: its field, its code, and the link that it names.
fn violation(error: &Value) -> (&str, &str, Option<&str>) {
    let [detail] = error["details"].as_array().unwrap().as_slice() else { panic!("{error}") };
    let text = |name: &str| detail[name].as_str();
    (text("field").unwrap(), text("code").unwrap(), text("existing_id"))
}

async fn put(api: &Api, path: &str, headers: &[(&str, &str)], body: Value) -> Answer {
    let request = headers
        .iter()
        .fold(request("PUT", path, &api.key), |request, header| request.insert_header((header.0, header.1)));
    api.send(request.set_json(body)).await
}

#[actix_web::test]
async fn d121_a_taken_external_id_is_a_violation_that_names_the_link() {
    let api = Api::start().await;
    for (collection, other) in [(KINDS[0].0, KINDS[1].0), (KINDS[1].0, KINDS[0].0)] {
        let id = json!(format!("of {collection}"));
        let held = api.call_with("POST", collection, link_body(collection, json!({"external_id": id}))).await;
        let existing = held.id(201);
        let taken = ("external_id", "already_taken", Some(existing.as_str()));
        for collection in [collection, other] {
            let refused =
                api.call_with("POST", collection, link_body(collection, json!({"external_id": id}))).await;
            assert_eq!(refused.error(), (400, "invalid_request"));
            assert_eq!(violation(&refused.body["error"]), taken);
            let second = api.call_with("POST", collection, link_body(collection, json!({}))).await.id(201);
            let path = format!("{collection}/{second}");
            let refused = api.call_with("PATCH", &path, json!({"external_id": id})).await;
            assert_eq!(violation(&refused.body["error"]), taken);
            let field = collection.trim_start_matches("/v1/");
            let items = json!([
                link_body(collection, json!({"external_id": id})),
                link_body(collection, json!({"external_id": "new"})),
                link_body(collection, json!({"external_id": "new"})),
            ]);
            let batch =
                api.call_with("POST", &format!("{collection}/bulk"), json!({ field: items })).await.body;
            let new = batch["created"][0]["data"]["id"].as_str().unwrap();
            assert_eq!(violation(&batch["failed"][0]["error"]), taken);
            assert_eq!(
                violation(&batch["failed"][1]["error"]),
                ("external_id", "already_taken", Some(new)),
                "also between items"
            );
            api.call("DELETE", &format!("{collection}/{new}")).await;
        }
        let path = format!("{collection}/{existing}");
        let cleared = api.call_with("PATCH", &path, json!({"external_id": null})).await;
        assert_eq!((cleared.status, &cleared.body["external_id"]), (200, &Value::Null));
    }
}

#[actix_web::test]
async fn d121_a_refused_item_of_a_batch_keeps_no_external_id() {
    let api = Api::start().await;
    for (collection, _) in KINDS {
        let field = collection.trim_start_matches("/v1/");
        let id = json!(format!("order of {field}"));
        let unknown = "grp_00000000000000000000000000000000";
        let items = json!([
            link_body(collection, json!({"external_id": id, "group_id": unknown})),
            link_body(collection, json!({"external_id": id})),
            link_body(collection, json!({"external_id": id})),
        ]);
        let batch = api.call_with("POST", &format!("{collection}/bulk"), json!({ field: items })).await.body;
        let [created] = batch["created"].as_array().unwrap().as_slice() else { panic!("{batch}") };
        assert_eq!((&created["index"], &created["data"]["external_id"]), (&json!(1), &id));
        let [missing, taken] = batch["failed"].as_array().unwrap().as_slice() else { panic!("{batch}") };
        assert_eq!((&missing["index"], &missing["error"]["code"]), (&json!(0), &json!("group_not_found")));
        let existing = created["data"]["id"].as_str();
        assert_eq!(violation(&taken["error"]), ("external_id", "already_taken", existing));
        assert_eq!((&taken["index"], &taken["error"]["value"]), (&json!(2), &id));
    }
}

#[actix_web::test]
async fn d121_a_list_finds_the_link_with_an_external_id() {
    let api = Api::start().await;
    for (collection, _) in KINDS {
        let id = format!("ü&{collection}");
        let created =
            api.call_with("POST", collection, link_body(collection, json!({"external_id": id}))).await.body;
        let query = format!("?external_id=%C3%BC%26{}", collection.replace('/', "%2F"));
        let found = api.call("GET", &format!("{collection}{query}")).await.body;
        assert_eq!((found["data"].as_array().unwrap().len(), &found["data"][0]["id"]), (1, &created["id"]));
        let none = api.call("GET", &format!("{collection}?external_id=unknown")).await.body;
        assert_eq!(none["data"], json!([]));
    }
}

#[actix_web::test]
async fn d121_a_put_creates_the_link_or_changes_the_given_fields() {
    let api = Api::start().await;
    for (collection, name) in KINDS {
        let path = format!("{collection}/by-external-id/{name}%2Fb%20%C3%BC%25");
        let created =
            put(&api, &path, &[], link_body(collection, json!({"note": "kept", "slug": name}))).await;
        let id = created.id(201);
        let location = format!("{collection}/{id}");
        assert_eq!(created.header("location"), Some(location.as_str()));
        assert_eq!(
            (&created.body["external_id"], &created.body["revision"]),
            (&json!(format!("{name}/b ü%")), &json!(1))
        );

        let same = put(&api, &path, &[], link_body(collection, json!({}))).await;
        assert_eq!((same.status, &same.body), (200, &created.body), "nothing to change");
        assert_eq!(same.header("location"), None);
        let changed =
            put(&api, &path, &[], link_body(collection, json!({name: "Second", "is_active": false}))).await;
        assert_eq!((changed.id(200), &changed.body[name]), (id.clone(), &json!("Second")));
        assert_eq!((&changed.body["note"], &changed.body["revision"]), (&json!("kept"), &json!(2)));
        let same = put(&api, &path, &[], link_body(collection, json!({name: "Second"}))).await;
        assert_eq!(same.body["is_active"], json!(false), "an absent field is untouched");

        let missing = put(&api, &path, &[], json!({"external_id": "x"})).await;
        assert!(missing.violations().contains(&("external_id", "unknown_field")), "{missing:?}");
        assert!(missing.violations().contains(&(name, "required")), "{missing:?}");
        for (id, code) in [
            ("%FF", "invalid_format"),
            ("100%", "invalid_format"),
            ("a%2", "invalid_format"),
            ("a%0Ab", "invalid_format"),
            (&*"a".repeat(256), "too_long"),
        ] {
            let path = format!("{collection}/by-external-id/{id}");
            let refused = put(&api, &path, &[], link_body(collection, json!({}))).await;
            assert_eq!(refused.violations(), [("external_id", code)]);
        }
    }
    // The landing page has it by now.
    let existing = api.call("GET", "/v1/landings").await.body["data"][0]["id"].as_str().unwrap().to_owned();
    api.call_with("PATCH", &format!("/v1/landings/{existing}"), json!({"external_id": "page"})).await;
    let refused =
        put(&api, "/v1/redirects/by-external-id/page", &[], link_body("/v1/redirects", json!({}))).await;
    assert_eq!(violation(&refused.body["error"]), ("external_id", "already_taken", Some(&*existing)));
}

#[actix_web::test]
async fn d120_a_put_takes_both_conditions() {
    let api = Api::start().await;
    let path = "/v1/redirects/by-external-id/1";
    let named = |name: &str| link_body("/v1/redirects", json!({ "name": name }));
    let field = |answer: &Answer| {
        assert_eq!(answer.error(), (412, "invalid_request"));
        violation(&answer.body["error"]).0.to_owned()
    };
    for condition in ["*", "\"r1\""] {
        let refused = put(&api, path, &[("if-match", condition)], named("A")).await;
        assert_eq!(field(&refused), "If-Match", "nothing is there");
        let details = &refused.body["error"]["details"];
        assert_eq!(details[0]["message"], "`If-Match` holds only for an existing resource.");
    }
    assert_eq!(put(&api, path, &[("if-none-match", "*")], named("A")).await.status, 201);
    assert_eq!(field(&put(&api, path, &[("if-none-match", "*")], named("B")).await), "If-None-Match");
    assert_eq!(field(&put(&api, path, &[("if-match", "\"r2\"")], named("B")).await), "If-Match");
    let changed = put(&api, path, &[("if-match", "\"r1\"")], named("B")).await;
    assert_eq!((changed.status, changed.header("etag")), (200, Some("\"r2\"")));
    let refused = put(&api, path, &[("if-match", "*"), ("if-none-match", "*")], named("C")).await;
    assert_eq!(refused.violations(), [("If-None-Match", "invalid_value")]);
    assert_eq!(api.call("GET", "/v1/redirects").await.body["data"][0]["name"], "B");
}
