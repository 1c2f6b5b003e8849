//! Requests that are carried out once, however often they are sent: contract D12.

mod every_post;
mod keys;
mod remembered;
mod room;

use actix_web::test::TestRequest;
use serde_json::{Value, json};

use crate::harness::{Answer, Api, request};

/// A `POST` with an `Idempotency-Key`.
pub fn keyed(path: &str, secret: &str, key: &str) -> TestRequest {
    request("POST", path, secret).insert_header(("idempotency-key", key))
}

/// Sends a body with a key.
pub async fn post(api: &Api, path: &str, key: &str, body: &Value) -> Answer {
    api.send(keyed(path, &api.key, key).set_json(body)).await
}

/// A redirect on this slug, to be created.
pub fn redirect(slug: &str) -> Value {
    json!({"name": "a", "target_url": "https://example.com/", "slug": slug})
}

/// The account's links, groups, domains and pixels, as the lists show them.
pub async fn everything(api: &Api) -> Vec<Value> {
    let mut lists = vec![];
    for path in ["/v1/redirects", "/v1/landings", "/v1/groups", "/v1/domains", "/v1/pixels"] {
        lists.push(api.call("GET", path).await.body["data"].clone());
    }
    lists
}

impl Answer {
    /// Whether it says that it was given before.
    pub fn is_replayed(&self) -> bool {
        match self.header("idempotent-replayed") {
            None => false,
            Some("true") => true,
            Some(other) => panic!("contract D12: {other}"),
        }
    }

    /// What a replay repeats of a success: all but the headers that are each answer's own.
    pub fn repeated(&self) -> (u16, &str, Option<&str>) {
        (self.status, &self.text, self.header("location"))
    }

    /// What is wrong, if it is the key alone.
    #[track_caller]
    pub fn assert_key_is_anothers(&self) {
        self.assert_key_is_anothers_beside(&[]);
    }

    /// What is wrong, if it is the key and these (contract D8).
    #[track_caller]
    pub fn assert_key_is_anothers_beside(&self, others: &[(&str, &str)]) {
        let all = [&[("Idempotency-Key", "invalid_value")], others].concat();
        assert_eq!(self.violations(), all);
        assert!(!self.is_replayed());
    }
}
