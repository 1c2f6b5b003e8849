//! The bound on the remembered answers of one account (D12).

use std::time::Duration;

use serde_json::{Value, json};
use signpost_app::ports::{ANSWERS_KEPT_AT_LEAST, ROOM_FOR_ANSWERS, RememberedRequest};
use signpost_domain::IdempotencyKey;
use signpost_memory::InMemory;

use super::{everything, keyed, post, redirect};
use crate::harness::Api;

const MIB: usize = 1024 * 1024;

async fn kept(api: &Api, key: &str) -> RememberedRequest {
    let key = IdempotencyKey::parse(key).unwrap();
    let now = signpost_app::ports::Clock::now(api.memory.clock.as_ref());
    api.app.store.remembered_request(api.account.into(), &key, now).await.unwrap().unwrap()
}

/// The bytes of the account's room that the answer to a keyed bulk creation takes.
async fn taken_by_bulk(api: &Api, key: &str, body: String) -> u32 {
    assert!(body.len() <= MIB, "{}", body.len());
    let call = keyed("/v1/redirects/bulk", &api.key, key).insert_header(("content-type", "application/json"));
    assert_eq!(api.send(call.set_payload(body)).await.status, 200);
    kept(api, key).await.bytes(&IdempotencyKey::parse(key).unwrap())
}

#[actix_web::test]
async fn d12_a_request_without_room_for_its_answer_is_a_429() {
    let api = Api::on(InMemory::default(), |app| app.room_for_answers = 1_500).await;
    post(&api, "/v1/redirects", "first", &redirect("a")).await.id(201);
    let before = everything(&api).await;
    let refused = post(&api, "/v1/redirects", "second", &redirect("b")).await;
    assert_eq!(refused.error(), (429, "rate_limit_exceeded"));
    assert_eq!(refused.header("retry-after"), Some("3600"));
    assert!(refused.rate_limits().is_some());
    assert_eq!(everything(&api).await, before);
    api.memory.clock.advance(ANSWERS_KEPT_AT_LEAST.checked_sub(Duration::from_millis(1)).unwrap());
    assert_eq!(post(&api, "/v1/redirects", "second", &redirect("b")).await.header("retry-after"), Some("1"));
}

/// ADR 28: the largest answers within the bound on violations are those that repeat the request.
#[actix_web::test]
async fn d12_r26_the_answer_to_any_bulk_creation_takes_four_mebibytes_at_most() {
    let api = Api::start().await;
    let bulk = |items: Vec<Value>| json!({ "redirects": items }).to_string();
    let honest = (0..100).map(|number| {
        json!({"name": format!("Campaign {number}"), "target_url": format!("https://shop.example.com/p/{number}?utm_source=x")})
    });
    let longest = (0..95).map(|_| {
        json!({
            "name": "\u{10ffff}".repeat(100),
            "target_url": format!("https://example.com/{}", "x".repeat(2_028)),
            "note": "\u{10ffff}".repeat(256),
            "geo_blocklists": {"countries": ["DE", "AT", "CH"]},
        })
    });
    let unknown = |name: &dyn Fn(usize) -> String, fields: usize| {
        let item = (0..fields).map(|number| (name(number), json!("v"))).collect::<serde_json::Map<_, _>>();
        vec![Value::Object(item); 100]
    };
    let wrong = |value: &str| json!({"name": value, "target_url": "https://example.com/"});
    for (what, body, most) in [
        ("honest", bulk(honest.collect()), 64 * 1024),
        ("longest fields", bulk(longest.collect()), 4 * MIB),
        ("many unknown names", bulk(unknown(&|number| number.to_string(), 900)), 4 * MIB),
        (
            "long unknown names",
            bulk(unknown(&|number| format!("{number}{}", "\u{10ffff}".repeat(98)), 25)),
            4 * MIB,
        ),
        ("escaped names", bulk(unknown(&|number| format!("{number:02}{}", "\u{1}".repeat(98)), 17)), 4 * MIB),
        ("escaped values", bulk(vec![wrong(&"\u{1}".repeat(1_700)); 100]), 4 * MIB),
        ("one long value", bulk(vec![wrong(&"\"".repeat(500_000))]), 4 * MIB),
    ] {
        let taken = taken_by_bulk(&api, &what.replace(' ', "-"), body).await;
        println!("{what}: {taken} bytes");
        assert!(usize::try_from(taken).unwrap() <= most, "{what}: {taken}");
    }
    // An hour at the full budget of the plan.
    let honest = u64::from(kept(&api, "honest").await.bytes(&IdempotencyKey::parse("honest").unwrap()));
    assert!(honest * 120 * 60 <= ROOM_FOR_ANSWERS, "{honest}");
}
