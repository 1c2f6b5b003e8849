//! Requests that run once, however often they are sent: contract D12.

mod every_post;
mod keys;
mod remembered;
mod room;

use actix_web::test::TestRequest;
use serde_json::{Value, json};

use crate::harness::{Answer, Api, request};
use crate::openapi::DOCUMENT;

/// A `POST` with an `Idempotency-Key`.
pub fn keyed(path: &str, secret: &str, key: &str) -> TestRequest {
    request("POST", path, secret).insert_header(("idempotency-key", key))
}

/// Sends a body with a key.
pub async fn post(api: &Api, path: &str, key: &str, body: &Value) -> Answer {
    api.send(keyed(path, &api.key, key).set_json(body)).await
}

/// The body of a redirect with this slug.
pub fn redirect(slug: &str) -> Value {
    json!({"name": "a", "target_url": "https://example.com/", "slug": slug})
}

/// All resources of the account, as the lists show them.
pub async fn everything(api: &Api) -> Vec<Value> {
    let mut lists = vec![];
    for path in DOCUMENT.lists() {
        lists.push(api.call("GET", path).await.body["data"].clone());
    }
    lists
}

impl Answer {
    /// Whether the answer is marked as a replay.
    pub fn is_replayed(&self) -> bool {
        match self.header("idempotent-replayed") {
            None => false,
            Some("true") => true,
            Some(other) => panic!("contract D12: {other}"),
        }
    }

    /// The parts of a success that a replay repeats: all but the headers that differ in every answer.
    pub fn repeated(&self) -> (u16, &str, Option<&str>) {
        (self.status, &self.text, self.header("location"))
    }

    /// Asserts that the used key is the only violation.
    #[track_caller]
    pub fn assert_key_is_anothers(&self) {
        self.assert_key_is_anothers_beside(&[]);
    }

    /// Asserts that the violations are the used key and these (contract D8).
    #[track_caller]
    pub fn assert_key_is_anothers_beside(&self, others: &[(&str, &str)]) {
        let all = [&[("Idempotency-Key", "invalid_value")], others].concat();
        assert_eq!(self.violations(), all);
        assert!(!self.is_replayed());
    }
}
