//! Pixels: contract "Redirect" (Pixel), D5, D6, D27, D28, D32, D36.

use serde_json::{Value, json};

use crate::harness::{Api, is_id};

const UNKNOWN: &str = "pxl_00000000000000000000000000000000";

/// A valid code and an invalid code of each vendor.
const CODES: [(&str, &str, &str); 10] = [
    ("google_tag", "G-1A2BCD345E", "UA-1234-5"),
    ("google_tag_manager", "GTM-AB12CDE", "G-1A2BCD345E"),
    ("meta", "123456789012345", "12345678901234x"),
    ("tiktok", "C4A1B2C3D4E5F6G7H8I9", "c4a1b2c3d4e5f6g7h8i9"),
    ("linkedin", "1234567", "12-34567"),
    ("x", "o1abc", "O1ABC"),
    ("pinterest", "2612345678901", "26123456789o1"),
    ("snapchat", "1a2b3c4d-1234-5678-9abc-1a2b3c4d5e6f", "1a2b3c4d"),
    ("reddit", "t2_1ab2cd3e", "1ab2cd3e"),
    ("microsoft_ads", "12345678", "1234'678"),
];

#[actix_web::test]
async fn d36_a_pixel_of_every_type_is_created_shown_and_deleted() {
    let api = Api::start().await;
    for (pixel_type, code, _) in CODES {
        let body = json!({"pixel_type": pixel_type, "pixel_id": code, "name": " Shop "});
        let created = api.call_with("POST", "/v1/pixels", body).await;
        let id = created.id(201);
        assert!(is_id(&id, "pxl_"));
        let path = format!("/v1/pixels/{id}");
        assert_eq!(created.header("location"), Some(path.as_str()));
        let expected = json!({
            "id": id, "object": "pixel", "pixel_type": pixel_type, "pixel_id": code, "name": "Shop",
            "created_at": "2026-01-31T09:05:07.042Z",
        });
        assert_eq!(created.body, expected);
        assert_eq!(api.call("GET", &path).await.body, expected);
        let list = api.call("GET", "/v1/pixels").await.body;
        assert_eq!(list["data"], json!([expected]));
        let deleted = api.call("DELETE", &path).await;
        assert_eq!((deleted.status, &deleted.body["object"]), (200, &json!("pixel")));
        assert_eq!((&deleted.body["id"], &deleted.body["deleted"]), (&json!(id), &json!(true)));
        for method in ["GET", "DELETE"] {
            let gone = api.call(method, &path).await;
            assert_eq!(gone.error(), (404, "invalid_request"));
            assert!(gone.body["error"].get("details").is_none());
        }
    }
}

#[actix_web::test]
async fn d36_a_code_is_checked_against_its_own_type() {
    let api = Api::start().await;
    for (pixel_type, _, bad) in CODES {
        let body = json!({"pixel_type": pixel_type, "pixel_id": bad});
        let answer = api.call_with("POST", "/v1/pixels", body).await;
        assert_eq!(answer.violations(), [("pixel_id", "invalid_format")], "{pixel_type} {bad}");
    }
}

#[actix_web::test]
async fn d8_every_violation_of_a_pixel_is_listed() {
    let api = Api::start().await;
    let good = json!("G-1A2BCD345E");
    for (body, expected) in [
        (json!({}), vec![("pixel_id", "required"), ("pixel_type", "required")]),
        (
            json!({"pixel_type": null, "pixel_id": null, "name": null}),
            vec![("pixel_id", "not_nullable"), ("pixel_type", "not_nullable")],
        ),
        (
            json!({"pixel_type": 1, "pixel_id": [], "name": {}}),
            vec![("name", "invalid_type"), ("pixel_id", "invalid_type"), ("pixel_type", "invalid_type")],
        ),
        // Without a known type, there is no format to check.
        (json!({"pixel_type": "Meta", "pixel_id": "<script>"}), vec![("pixel_type", "invalid_value")]),
        (json!({"pixel_type": "google_tag", "pixel_id": good, "name": ""}), vec![("name", "too_short")]),
        (json!({"pixel_type": "google_tag", "pixel_id": good, "id": UNKNOWN}), vec![("id", "unknown_field")]),
    ] {
        let answer = api.call_with("POST", "/v1/pixels", body.clone()).await;
        assert_eq!(answer.violations(), expected, "{body}");
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
    assert_eq!(api.call("GET", &path).await.body, created.body);
    for (pixel_ids, expected) in [
        (json!([one]), json!([shown[0]])),
        (json!(null), json!([])),
        (json!([one, two]), json!(shown)),
        (json!([]), json!([])),
    ] {
        let answer = api.call_with("PATCH", &path, json!({"pixel_ids": pixel_ids})).await;
        assert_eq!((answer.status, &answer.body["pixels"]), (200, &expected), "{pixel_ids}");
        assert_eq!(json!(pixels(&api, &path).await), expected);
    }
    api.call_with("PATCH", &path, json!({"pixel_ids": [one, two]})).await.id(200);
    api.call("DELETE", &format!("/v1/pixels/{one}")).await.id(200);
    assert_eq!(pixels(&api, &path).await, [shown[1].clone()]);
    // Lists omit pixels.
    assert!(api.call("GET", "/v1/redirects").await.body["data"][0].get("pixels").is_none());
}

#[actix_web::test]
async fn d6_d36_each_pixel_id_has_its_own_violation() {
    let api = Api::start().await;
    let own = api.pixel().await;
    let redirect = format!("/v1/redirects/{}", api.redirect("a").await);
    for (pixel_ids, expected) in [
        (json!("x"), vec![("pixel_ids", "invalid_type")]),
        (json!({}), vec![("pixel_ids", "invalid_type")]),
        (json!([own, UNKNOWN]), vec![("pixel_ids[1]", "invalid_value")]),
        (json!(["nonsense", own]), vec![("pixel_ids[0]", "invalid_value")]),
        (json!([UNKNOWN, 5]), vec![("pixel_ids[0]", "invalid_value"), ("pixel_ids[1]", "invalid_type")]),
        (json!([null]), vec![("pixel_ids[0]", "invalid_type")]),
        (
            json!([5, "pxl_x", own, UNKNOWN]),
            vec![
                ("pixel_ids[0]", "invalid_type"),
                ("pixel_ids[1]", "invalid_value"),
                ("pixel_ids[3]", "invalid_value"),
            ],
        ),
        (json!(vec![&own; 11]), vec![("pixel_ids", "too_many_items")]),
    ] {
        let answer = api.call_with("PATCH", &redirect, json!({"pixel_ids": pixel_ids})).await;
        assert_eq!(answer.violations(), expected, "{pixel_ids}");
        let body = json!({"name": "a", "target_url": "https://example.com/", "pixel_ids": pixel_ids});
        let answer = api.call_with("POST", "/v1/redirects", body).await;
        assert_eq!(answer.violations(), expected, "{pixel_ids}");
    }
    let full = json!({"pixel_ids": vec![&own; 10]});
    assert_eq!(api.call_with("PATCH", &redirect, full).await.body["pixels"][0]["id"], json!(own));
}

#[actix_web::test]
async fn d29_a_failed_item_names_its_invalid_pixel() {
    let api = Api::start().await;
    let own = api.pixel().await;
    let item =
        |pixel_ids: Value| json!({"name": "a", "target_url": "https://example.com/", "pixel_ids": pixel_ids});
    let items = [
        item(json!([own])),
        item(json!([own, UNKNOWN])),
        item(json!([1])),
        item(json!(vec![&own; 11])),
        item(json!(["no id"])),
        item(json!([1, UNKNOWN])),
    ];
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
    assert_eq!(told, [(1, Some(UNKNOWN)), (2, None), (3, None), (4, Some("no id")), (5, Some(UNKNOWN))]);
    assert!(failed.iter().all(|item| item["error"]["code"] == "invalid_request"));
}
