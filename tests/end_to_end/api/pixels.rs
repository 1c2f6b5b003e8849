//! Pixels: D5, D6, D15, D27, D32, D36.

use serde_json::{Value, json};

use crate::harness::{Account, Program, redirect_body};

fn create(account: &Account, name: &str) -> Value {
    let body = json!({"pixel_type": "google_tag", "pixel_id": "G-1A2BCD345E", "name": name});
    account.post("/v1/pixels", &body).expect_status(201).body
}

#[test]
fn d36_a_pixel_has_all_fields_and_counts_until_it_is_deleted() {
    let program = Program::start();
    let account = program.first_account();
    let pixel = create(&account, " Shop ");
    let expected = json!({
        "id": pixel["id"], "object": "pixel", "pixel_type": "google_tag", "pixel_id": "G-1A2BCD345E", "name": "Shop",
        "created_at": pixel["created_at"]
    });
    assert_eq!(pixel, expected);
    let path = format!("/v1/pixels/{}", pixel["id"].as_str().unwrap());
    assert_eq!(account.get(&path).expect_status(200).body, expected);
    assert_eq!(account.walk("/v1/pixels", ""), [expected]);
    assert_eq!(account.get("/v1/account").body["usage"]["pixels"], 1);
    let deleted = account.delete(&path).expect_status(200).body;
    assert_eq!((&deleted["object"], &deleted["deleted"]), (&json!("pixel"), &json!(true)));
    account.get(&path).expect_error(404, "invalid_request");
    account.delete(&path).expect_error(404, "invalid_request");
    assert_eq!(account.get("/v1/account").body["usage"]["pixels"], 0);
}

#[test]
fn d36_invalid_pixels_are_refused_field_by_field() {
    let program = Program::start();
    let account = program.first_account();
    for (body, field, code) in [
        (json!({"pixel_type": "meta"}), "pixel_id", "required"),
        (json!({"pixel_id": "G-1A2BCD345E"}), "pixel_type", "required"),
        (json!({"pixel_type": "facebook", "pixel_id": "1"}), "pixel_type", "invalid_value"),
        (json!({"pixel_type": "meta", "pixel_id": "G-1A2BCD345E"}), "pixel_id", "invalid_format"),
        (json!({"pixel_type": "meta", "pixel_id": "1');alert('1"}), "pixel_id", "invalid_format"),
        (json!({"pixel_type": "meta", "pixel_id": "123456789012345", "name": ""}), "name", "too_short"),
    ] {
        account.post("/v1/pixels", &body).expect_violations(&[(field, code)]);
    }
    assert!(account.walk("/v1/pixels", "").is_empty());
}

#[test]
fn d27_d36_a_redirect_shows_its_pixels_until_they_are_removed_or_deleted() {
    let program = Program::start();
    let account = program.first_account();
    let (one, two) = (create(&account, "one"), create(&account, "two"));
    let link = account.create_redirect(&redirect_body(json!({"pixel_ids": [two["id"], one["id"]]})));
    assert_eq!(link["pixels"], json!([two, one]));
    let path = format!("/v1/redirects/{}", link["id"].as_str().unwrap());
    account.delete(&format!("/v1/pixels/{}", two["id"].as_str().unwrap())).expect_status(200);
    assert_eq!(account.get(&path).body["pixels"], json!([one]));
    for none in [json!(null), json!([])] {
        let set = account.patch(&path, &json!({"pixel_ids": [one["id"]]})).expect_status(200).body;
        assert_eq!(set["pixels"], json!([one]));
        assert_eq!(
            account.patch(&path, &json!({"pixel_ids": none})).expect_status(200).body["pixels"],
            json!([])
        );
    }
    account
        .patch(&path, &json!({"pixel_ids": [one["id"], two["id"]]}))
        .expect_violations(&[("pixel_ids[1]", "invalid_value")]);
}
