//! How an operator learns of an outage.

use std::cell::RefCell;
use std::io;
use std::sync::Once;
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusBuilder;
use signpost_app::ports::{QuotaStore as _, SharedQuotaStore as _};
use signpost_domain::RequestBudget;
use signpost_port_contracts::samples;
use tokio::time::{Instant, sleep};

use crate::failing_store::{Behavior, FailingStore};

const BUDGET: RequestBudget = RequestBudget { per_minute: 1_000_000, per_day: 1_000_000 };

thread_local! {
    static LINES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

struct ThisThread;

impl io::Write for ThisThread {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.with_borrow_mut(|lines| lines.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Captures this thread's log lines, through one global subscriber: several at once make each other miss lines.
fn listen() {
    static SUBSCRIBER: Once = Once::new();
    SUBSCRIBER.call_once(|| {
        tracing_subscriber::fmt().with_ansi(false).with_writer(|| ThisThread).init();
    });
    LINES.take();
}

fn lines() -> Vec<String> {
    String::from_utf8(LINES.take()).unwrap().lines().map(ToOwned::to_owned).collect()
}

#[tokio::test(start_paused = true)]
async fn d19_outage_is_logged_once_a_minute() {
    listen();
    let (store, quota) = FailingStore::behind_a_fallback();
    let account = samples::id();
    store.set_behavior(Behavior::Refuses);
    for _ in 0..600 {
        quota.admit(account, BUDGET, samples::at(0)).await.unwrap();
        sleep(Duration::from_secs(1)).await;
    }
    let warnings = lines();
    assert_eq!(warnings.len(), 10, "{warnings:#?}");
    for line in &warnings {
        assert!(line.contains("WARN") && line.contains("connection refused"), "{line}");
    }
    // One a second.
    let of_a_minute = ["decided_from_memory=60", "decided_from_memory=61"];
    assert!(of_a_minute.iter().any(|number| warnings[1].contains(number)), "{}", warnings[1]);
    store.set_behavior(Behavior::Answers);
    sleep(Duration::from_secs(2)).await;
    let back = lines();
    assert_eq!(back.len(), 1, "{back:#?}");
    assert!(back[0].contains("INFO") && back[0].contains("asked again"), "{}", back[0]);
}

/// A flapping store does not fill the log either.
#[tokio::test(start_paused = true)]
async fn d19_flapping_store_is_logged_once_a_minute() {
    listen();
    let (store, quota) = FailingStore::behind_a_fallback();
    let account = samples::id();
    for _ in 0..60 {
        for (behavior, requests) in [(Behavior::Refuses, 6), (Behavior::Answers, 1)] {
            store.set_behavior(behavior);
            for _ in 0..requests {
                quota.admit(account, BUDGET, samples::at(0)).await.unwrap();
            }
            sleep(Duration::from_millis(1_500)).await;
        }
    }
    let lines = lines();
    let of = |level| lines.iter().filter(|line| line.contains(level)).count();
    assert_eq!((of("WARN"), of("INFO")), (3, 3), "{lines:#?}");
}

#[tokio::test(start_paused = true)]
async fn d19_metrics_show_the_outage_and_count_requests_decided_from_memory() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let (store, quota) = FailingStore::behind_a_fallback();
    let account = samples::id();
    let shows = |up: u32, fallback: u32| {
        let text = handle.render();
        assert_eq!(quota.asks_the_store(), up == 1);
        assert!(text.contains(&format!("\nsignpost_quota_store_up {up}\n")), "{text}");
        assert!(text.contains(&format!("\nsignpost_quota_fallback_total {fallback}\n")), "{text}");
    };
    quota.admit(account, BUDGET, samples::at(0)).await.unwrap();
    shows(1, 0);
    store.set_behavior(Behavior::Refuses);
    for _ in 0..4 {
        quota.admit(account, BUDGET, samples::at(0)).await.unwrap();
    }
    shows(1, 4);
    quota.admit(account, BUDGET, samples::at(0)).await.unwrap();
    shows(0, 5);
    store.set_behavior(Behavior::Answers);
    sleep(Duration::from_secs(2)).await;
    quota.admit(account, BUDGET, samples::at(0)).await.unwrap();
    shows(1, 5);
}

/// D63: a health check reports the store's state, and its failures count, so that a node without requests learns of an
/// outage too.
#[tokio::test(start_paused = true)]
async fn d63_health_check_asks_the_store_and_detects_an_outage() {
    for away in [Behavior::Refuses, Behavior::Hangs, Behavior::IsReadOnly] {
        let (store, quota) = FailingStore::behind_a_fallback();
        assert!(quota.answers().await);
        store.set_behavior(away);
        for _ in 0..5 {
            assert!(quota.asks_the_store());
            let asked = Instant::now();
            assert!(!quota.answers().await);
            assert!(asked.elapsed() <= Duration::from_millis(50));
        }
        assert!(!quota.asks_the_store());
        assert!(!quota.answers().await);
        store.set_behavior(Behavior::Answers);
        sleep(Duration::from_secs(2)).await;
        assert!(quota.answers().await);
    }
}
