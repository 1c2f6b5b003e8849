//! What the link listener counts. In a program of its own, because counts belong to the whole process.

#![allow(
    dead_code,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking, and this one needs only a part of the harness"
)]

#[path = "edge/harness.rs"]
#[allow(clippy::disallowed_methods, reason = "tests put into the store what no use case makes")]
mod harness;

use harness::{Edge, options};
use metrics_exporter_prometheus::PrometheusBuilder;
use signpost_memory::{Fault, InMemory, Step};
use signpost_port_contracts::samples;

#[tokio::test(flavor = "multi_thread")]
async fn visits_are_counted_by_what_they_came_to() {
    let metrics = PrometheusBuilder::new().install_recorder().unwrap();
    let edge = Edge::start_with(InMemory::default(), options(2), |_| {}).await;
    edge.add(&samples::redirect("sale")).await;
    for _ in 0..3 {
        edge.get("/sale");
    }
    edge.request("POST", "/sale");
    edge.memory.store.faults().fail_next(Step::Read, Fault::Unavailable, 1);
    edge.get("/none");
    for _ in 0..6 {
        edge.get("/none");
    }
    let text = metrics.render();
    for line in [
        "signpost_visits_total{outcome=\"redirected\"} 3",
        "signpost_visits_total{outcome=\"method_not_allowed\"} 1",
        "signpost_visits_total{outcome=\"unavailable\"} 1",
        "signpost_visits_total{outcome=\"not_found\"} 2",
        "signpost_visits_total{outcome=\"throttled\"} 4",
    ] {
        assert!(text.lines().any(|it| it == line), "no {line} in\n{text}");
    }
}
