//! Health (D63, D64).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use signpost_app::certificates::Issuance;
use signpost_app::ports::{
    CertificateWork as _, Clock, Sealer as _, SharedQuotaStore, StoredAuthorityAccount,
};
use signpost_domain::Email;
use signpost_memory::{FakeCertificateAuthority, InMemory, ManualClock, MarkingSealer};

use crate::harness::{Api, bare};

#[actix_web::test]
async fn d63_health_reports_the_process_the_api_and_the_links_separately() {
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

/// R40: reads and visits continue on a full disk.
#[actix_web::test]
async fn d63_a_read_only_store_is_not_ready_and_serves_links() {
    let api = Api::start().await;
    api.memory.store.faults().set_unwritable(true);
    let answer = api.send(bare("GET", "/health/ready")).await;
    let told = json!({"status": "read_only", "checks": {"database": "read_only"}});
    assert_eq!((answer.status, answer.body), (503, told));
    let answer = api.send(bare("GET", "/health/links")).await;
    assert_eq!((answer.status, answer.body), (200, json!({"status": "ok", "checks": {"database": "ok"}})));
    assert_eq!(api.send(bare("GET", "/health/live")).await.status, 200);
    api.memory.store.faults().set_unwritable(false);
    assert_eq!(api.send(bare("GET", "/health/ready")).await.status, 200);
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

/// Redis for the health check: it gives the test's answer, or never answers.
#[derive(Default)]
struct Redis {
    is_well: AtomicBool,
    hangs: AtomicBool,
}

#[async_trait::async_trait]
impl SharedQuotaStore for Redis {
    fn last_failure(&self) -> Option<(Duration, String)> {
        None
    }

    async fn answers(&self) -> bool {
        if self.hangs.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        self.is_well.load(Ordering::Relaxed)
    }
}

#[actix_web::test]
async fn d192_readiness_says_that_the_secrets_key_is_another_and_stays_200() {
    let directory = "https://ca.example.net/directory";
    let node = async |number: u8| {
        let memory = InMemory::default();
        let clock: Arc<dyn Clock> = Arc::<ManualClock>::clone(&memory.clock);
        let authority = Arc::new(FakeCertificateAuthority::new(clock));
        let issuance = Issuance {
            authority,
            directory: directory.to_owned(),
            contact: Email::parse("ada@example.com").unwrap(),
            sealer: Arc::new(MarkingSealer::of(number)),
            own_names: Vec::new(),
        };
        Api::on(memory, |app| app.issuance = Some(issuance)).await
    };
    let ready = async |api: &Api| {
        let answer = api.send(bare("GET", "/health/ready")).await;
        (answer.status, answer.body["checks"]["certificates"].clone())
    };
    let credentials = MarkingSealer::of(1).seal(&format!("account {directory}"), b"secret").unwrap();
    let account = StoredAuthorityAccount { uri: "https://ca.example.net/1".to_owned(), credentials };
    for (number, expected) in [(1, "ok"), (2, "other_secrets_key")] {
        let api = node(number).await;
        assert_eq!(ready(&api).await, (200, json!("ok")), "there is no account yet");
        api.memory.store.keep_authority_account(directory, &account).await.unwrap();
        assert_eq!(ready(&api).await, (200, json!(expected)));
        // An outage says nothing about keys: what was found last stays.
        api.memory.store.faults().set_unavailable(true);
        assert_eq!(ready(&api).await, (503, json!(expected)));
    }
}

#[actix_web::test]
async fn d63_health_reports_redis_and_stays_ready_without_it() {
    let redis = Arc::new(Redis::default());
    let shared: Arc<dyn SharedQuotaStore> = redis.clone();
    let api = Api::on(InMemory::default(), |app| app.shared_quota = Some(shared)).await;
    let expect = async |database: &str, redis: &str, status: u16| {
        let answer = api.send(bare("GET", "/health/ready")).await;
        let body = json!({"status": database, "checks": {"database": database, "redis": redis}});
        assert_eq!((answer.status, answer.body), (status, body));
        let answer = api.send(bare("GET", "/health/links")).await;
        let body = json!({"status": database, "checks": {"database": database}});
        assert_eq!((answer.status, answer.body), (status, body));
    };
    expect("ok", "unavailable", 200).await;
    redis.is_well.store(true, Ordering::Relaxed);
    expect("ok", "ok", 200).await;
    api.memory.store.faults().set_unavailable(true);
    expect("unavailable", "ok", 503).await;
    api.memory.store.faults().set_unavailable(false);
    // R37: the check does not wait for a hanging Redis.
    redis.hangs.store(true, Ordering::Relaxed);
    redis.is_well.store(false, Ordering::Relaxed);
    let start = std::time::Instant::now();
    while api.send(bare("GET", "/health/ready")).await.body["checks"]["redis"] == "ok" {
        assert!(start.elapsed() < Duration::from_mins(2), "it is trusted for a second, not for ever");
    }
    expect("ok", "unavailable", 200).await;
}
