//! Rules that ask for visitors' devices, systems and browsers (D133).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signpost_app::ports::{AgentFacts, AgentReader};
use signpost_domain::routing::Device;
use signpost_memory::InMemory;

use crate::harness::{Edge, options};
use crate::rules::{DEFAULT, PHONE, RULED, ruled_by, sent, started};

/// Facts are worked out only if a rule asks, and those of agents once for each agent and worker.
#[tokio::test(flavor = "multi_thread")]
async fn d133_agents_are_read_only_for_rules_that_ask_for_them() {
    let edge = started().await;
    edge.add(&ruled_by("country", r#"{"type":"country","in":["DE"]}"#)).await;
    edge.add(&ruled_by("phones", r#"{"type":"device","in":["mobile"]}"#)).await;
    let phone = format!("User-Agent: {PHONE}\r\n");
    for _ in 0..20 {
        assert_eq!(sent(&edge, "/country", &phone), DEFAULT);
    }
    assert_eq!(edge.memory.agents.read(), 0);
    for _ in 0..20 {
        assert_eq!(sent(&edge, "/phones", &phone), RULED);
    }
    // The harness starts two workers.
    assert!((1..=2).contains(&edge.memory.agents.read()), "{}", edge.memory.agents.read());
}

/// Becomes ready once somebody has waited for it.
#[derive(Default)]
struct LateAgents(AtomicBool);

impl AgentReader for LateAgents {
    fn is_ready(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    fn facts(&self, user_agent: &[u8]) -> AgentFacts {
        let was_ready = self.0.swap(true, Ordering::SeqCst);
        let device = (was_ready && user_agent == PHONE.as_bytes()).then_some(Device::Mobile);
        AgentFacts { device, ..AgentFacts::default() }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d133_visits_that_need_agents_wait_until_their_rules_are_ready() {
    let edge = Edge::start_with(InMemory::default(), options(0), |app| {
        app.agents = Arc::new(LateAgents::default());
    })
    .await;
    edge.add(&ruled_by("phones", r#"{"type":"device","in":["mobile"]}"#)).await;
    assert_eq!(sent(&edge, "/phones", &format!("User-Agent: {PHONE}\r\n")), RULED);
}
