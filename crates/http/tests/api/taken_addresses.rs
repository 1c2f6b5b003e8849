//! Answers about taken addresses (D20), for single requests and items of a batch (D29).

use serde_json::{Value, json};

use crate::harness::{Answer, Api, request};
use crate::idempotency::redirect;

/// The single entry of a refusal's `details`: its code and the id of the link.
fn detail(error: &Value) -> (&str, Option<&str>) {
    let [detail] = error["details"].as_array().unwrap().as_slice() else { panic!("one entry: {error}") };
    assert_eq!(detail["field"], "slug");
    (detail["code"].as_str().unwrap(), detail.get("existing_id").map(|id| id.as_str().unwrap()))
}

fn refused(answer: &Answer) -> (&str, Option<&str>) {
    assert_eq!(answer.error(), (409, "slug_already_taken"));
    detail(&answer.body["error"])
}

async fn create(api: &Api, body: Value) -> Answer {
    api.call_with("POST", "/v1/redirects", body).await
}

#[actix_web::test]
async fn d20_a_409_names_the_callers_own_link() {
    let api = Api::start().await;
    let sale = api.redirect("sale").await;
    let menu = api.landing("menu").await;
    assert_eq!(refused(&create(&api, redirect("sale")).await), ("already_taken", Some(sale.as_str())));
    assert_eq!(refused(&create(&api, redirect("menu")).await), ("already_taken", Some(menu.as_str())));
    assert_eq!(refused(&create(&api, redirect("Docs")).await), ("reserved", None));
    let page = api.call_with("POST", "/v1/landings", json!({"title": "a", "slug": "sale"})).await;
    assert_eq!(refused(&page), ("already_taken", Some(sale.as_str())));
    for path in [format!("/v1/landings/{menu}"), format!("/v1/redirects/{}", api.redirect("other").await)] {
        let patch = api.call_with("PATCH", &path, json!({"slug": "sale"})).await;
        assert_eq!(refused(&patch), ("already_taken", Some(sale.as_str())), "{path}");
        let patch = api.call_with("PATCH", &path, json!({"slug": "admin"})).await;
        assert_eq!(refused(&patch), ("reserved", None), "{path}");
    }
}

#[actix_web::test]
async fn d20_r1_another_accounts_link_is_not_named() {
    let api = Api::start().await;
    let theirs = api.redirect("theirs").await;
    let (_, stranger) = api.account("eve@example.com", "agency").await;
    let answer = api.send(request("POST", "/v1/redirects", &stranger).set_json(redirect("theirs"))).await;
    assert_eq!(refused(&answer), ("already_taken", None));
    let batch = json!({"redirects": [redirect("theirs")]});
    let bulk = api.send(request("POST", "/v1/redirects/bulk", &stranger).set_json(batch)).await;
    assert_eq!(detail(&bulk.body["failed"][0]["error"]), ("already_taken", None));
    for answer in [answer, bulk] {
        assert!(!answer.text.contains(&theirs), "{}", answer.text);
    }
}

#[actix_web::test]
async fn d29_malformed_items_have_details_too() {
    let api = Api::start().await;
    let bulk = api.call_with("POST", "/v1/redirects/bulk", json!({"redirects": [7]})).await;
    let message = "`redirects[0]` must be an object.";
    let detail = json!([{"field": "redirects[0]", "code": "invalid_type", "message": message}]);
    assert_eq!(bulk.body["failed"][0]["error"]["details"], detail);

    let group = api.group("Spring").await;
    let ids = json!({"link_ids": ["spring", "rdr_00000000000000000000000000000000"]});
    let moved = api.call_with("POST", &format!("/v1/groups/{group}/assign"), ids).await;
    let failed = moved.body["failed"].as_array().unwrap();
    assert_eq!(failed[0]["error"]["details"][0]["code"], "invalid_format");
    assert_eq!(failed[0]["error"]["details"][0]["field"], "link_ids[0]");
    assert_eq!(failed[1]["error"].get("details"), None, "a 404 has no details");
}
