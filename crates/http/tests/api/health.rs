//! Health (D63, D64).

use serde_json::json;

use crate::harness::{Api, bare};

#[actix_web::test]
async fn d63_health_tells_apart_the_process_the_api_and_the_links() {
    let api = Api::start().await;
    let status = async |path: &str| api.send(bare("GET", path)).await.status;
    let all =
        async || (status("/health/live").await, status("/health/ready").await, status("/health/links").await);
    assert_eq!(all().await, (200, 200, 200));
    api.memory.store.faults().set_unavailable(true);
    assert_eq!(all().await, (200, 503, 503));
    let answer = api.send(bare("GET", "/health/ready")).await;
    assert_eq!(answer.body, json!({"status": "unavailable", "checks": {"database": "unavailable"}}));
    api.memory.store.faults().set_unavailable(false);
    assert_eq!(all().await, (200, 200, 200));
}

#[actix_web::test]
async fn d64_a_draining_program_is_not_ready_and_still_serves() {
    let api = Api::start().await;
    api.app.lifecycle.begin_draining();
    let answer = api.send(bare("GET", "/health/ready")).await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.body, json!({"status": "draining", "checks": {"database": "ok"}}));
    assert_eq!(api.send(bare("GET", "/health/live")).await.body, json!({"status": "ok"}));
    assert_eq!(api.send(bare("GET", "/health/links")).await.status, 200);
    assert_eq!(api.call("GET", "/v1/account").await.status, 200);
}
