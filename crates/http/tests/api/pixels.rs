//! Pixels: contract "Redirect" (Pixel), D5, D6, D27, D28, D32, D36.

use serde_json::{Value, json};

use crate::harness::{Api, is_id};

const UNKNOWN: &str = "pxl_00000000000000000000000000000000";

#[actix_web::test]
async fn a_pixel_is_shown_in_full() {
    let api = Api::start().await;
    let body = json!({"pixel_type": "google_tag", "pixel_id": "G-1A2BCD345E", "name": " Shop "});
    let created = api.call_with("POST", "/v1/pixels", body).await;
    let id = created.id(201);
    assert!(is_id(&id, "pxl_"));
    let expected = json!({
        "id": id, "object": "pixel", "pixel_type": "google_tag", "pixel_id": "G-1A2BCD345E", "name": "Shop",
        "created_at": "2026-01-31T09:05:07.042Z",
    });
    assert_eq!(created.body, expected);
    assert_eq!(api.call("GET", "/v1/pixels").await.body["data"], json!([expected]));
}

#[actix_web::test]
async fn d36_a_code_is_checked_against_its_own_type() {
    let api = Api::start().await;
    for (pixel_type, field, code) in [
        ("google_tag", "pixel_id", "invalid_format"),
        // Without a known type, there is no format to check.
        ("Meta", "pixel_type", "invalid_value"),
    ] {
        let body = json!({"pixel_type": pixel_type, "pixel_id": "GTM-AB12CDE"});
        assert_eq!(api.call_with("POST", "/v1/pixels", body).await.violations(), [(field, code)]);
    }
}

async fn pixels(api: &Api, path: &str) -> Vec<Value> {
    api.call("GET", path).await.body["pixels"].as_array().unwrap().clone()
}

#[actix_web::test]
async fn d27_d36_single_redirects_show_their_pixels_in_order() {
    let api = Api::start().await;
    let (one, two) = (api.pixel().await, api.pixel().await);
    let shown = [
        api.call("GET", &format!("/v1/pixels/{one}")).await.body,
        api.call("GET", &format!("/v1/pixels/{two}")).await.body,
    ];
    let body = json!({"name": "a", "target_url": "https://example.com/", "pixel_ids": [two, one, two]});
    let created = api.call_with("POST", "/v1/redirects", body).await;
    let path = format!("/v1/redirects/{}", created.id(201));
    assert_eq!(created.body["pixels"], json!([shown[1], shown[0]]));
    let updated = api.call_with("PATCH", &path, json!({"pixel_ids": [one, two]})).await;
    assert_eq!(updated.body["pixels"], json!(shown));
    api.call("DELETE", &format!("/v1/pixels/{one}")).await.id(200);
    assert_eq!(pixels(&api, &path).await, [shown[1].clone()]);
}

#[actix_web::test]
async fn d6_d36_each_pixel_id_has_its_own_violation() {
    let api = Api::start().await;
    let own = api.pixel().await;
    let redirect = format!("/v1/redirects/{}", api.redirect("a").await);
    let pixel_ids = json!([5, "pxl_x", own, UNKNOWN]);
    let expected = [
        ("pixel_ids[0]", "invalid_type"),
        ("pixel_ids[1]", "invalid_value"),
        ("pixel_ids[3]", "invalid_value"),
    ];
    for (method, path) in [("POST", "/v1/redirects"), ("PATCH", &redirect)] {
        let body = json!({"name": "a", "target_url": "https://example.com/", "pixel_ids": pixel_ids});
        assert_eq!(api.call_with(method, path, body).await.violations(), expected, "{method}");
    }
}

#[actix_web::test]
async fn d8_an_unknown_key_named_like_a_path_hides_no_violation() {
    let api = Api::start().await;
    let redirect = format!("/v1/redirects/{}", api.redirect("a").await);
    let expected = [("pixel_ids[0]", "invalid_value"), ("pixel_ids[0]", "unknown_field")];
    let body =
        json!({"name": "a", "target_url": "https://example.com/", "pixel_ids": [UNKNOWN], "pixel_ids[0]": 1});
    for (method, path) in [("POST", "/v1/redirects"), ("PATCH", &redirect)] {
        assert_eq!(api.call_with(method, path, body.clone()).await.violations(), expected, "{method}");
    }
    let answer = api.call_with("POST", "/v1/redirects/bulk", json!({"redirects": [body]})).await;
    let details = answer.body["failed"][0]["error"]["details"].as_array().unwrap();
    let codes: Vec<_> = details.iter().map(|each| each["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["unknown_field", "invalid_value"], "{details:?}");
}

#[actix_web::test]
async fn d29_a_failed_item_names_its_invalid_pixel() {
    let api = Api::start().await;
    let own = api.pixel().await;
    let item =
        |pixel_ids: Value| json!({"name": "a", "target_url": "https://example.com/", "pixel_ids": pixel_ids});
    let items = [item(json!([own])), item(json!([own, UNKNOWN])), item(json!([1])), item(json!(["no id"]))];
    let answer = api.call_with("POST", "/v1/redirects/bulk", json!({"redirects": items})).await;
    let created = &answer.body["created"][0]["data"];
    assert!(created.get("pixels").is_none());
    let path = format!("/v1/redirects/{}", created["id"].as_str().unwrap());
    assert_eq!(pixels(&api, &path).await[0]["id"], json!(own));
    let failed = answer.body["failed"].as_array().unwrap();
    let told: Vec<_> = failed
        .iter()
        .map(|item| (item["index"].as_u64().unwrap(), item["error"]["value"].as_str()))
        .collect();
    assert_eq!(told, [(1, Some(UNKNOWN)), (2, None), (3, Some("no id"))]);
    assert!(failed.iter().all(|item| item["error"]["code"] == "invalid_request"));
}
