//! Pixels: D36, D57.

use serde_json::{Value, json};

use crate::harness::{Program, redirect_body};

#[test]
fn d36_a_pixel_lives_with_its_redirects_until_it_is_deleted() {
    let program = Program::start();
    let account = program.first_account();
    let create = |name: &str| -> Value {
        let body = json!({"pixel_type": "google_tag", "pixel_id": "G-1A2BCD345E", "name": name});
        account.post("/v1/pixels", &body).expect_status(201).body
    };
    let (one, two) = (create(" Shop "), create("two"));
    assert_eq!(one["name"], "Shop");
    let path = |pixel: &Value| format!("/v1/pixels/{}", pixel["id"].as_str().unwrap());
    assert_eq!(account.get(&path(&one)).expect_status(200).body, one);
    assert_eq!(account.walk("/v1/pixels", ""), [two.clone(), one.clone()]);
    let body = json!({"slug": "sale", "pixel_ids": [two["id"], one["id"]]});
    let link = account.create_redirect(&redirect_body(body));
    assert_eq!(link["pixels"], json!([two, one]));
    let visitor = program.visitor();
    assert!(visitor.open("/sale").body.contains("G-1A2BCD345E"));
    let link = format!("/v1/redirects/{}", link["id"].as_str().unwrap());
    account.delete(&path(&two)).expect_status(200);
    account.get(&path(&two)).expect_error(404, "invalid_request");
    assert_eq!(account.get(&link).body["pixels"], json!([one]));
    let removed = account.patch(&link, &json!({"pixel_ids": null})).expect_status(200).body;
    assert_eq!(removed["pixels"], json!([]));
    assert_eq!(visitor.open("/sale").status, 302);
    assert_eq!(account.get("/v1/account").body["usage"]["pixels"], 1);
}
