//! Agents, as a test names them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use signpost_app::ports::{AgentFacts, AgentReader};

/// The facts of the agents that a test has named; none at first.
#[derive(Debug, Default)]
pub struct FixedAgents {
    facts: RwLock<HashMap<Vec<u8>, AgentFacts>>,
    read: AtomicU64,
}

impl FixedAgents {
    /// Gives `user_agent` these facts.
    pub fn put(&self, user_agent: &[u8], facts: AgentFacts) {
        self.facts.write().unwrap_or_else(PoisonError::into_inner).insert(user_agent.to_vec(), facts);
    }

    /// How many agents were read so far.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.read.load(Ordering::SeqCst)
    }
}

impl AgentReader for FixedAgents {
    fn is_ready(&self) -> bool {
        true
    }

    fn facts(&self, user_agent: &[u8]) -> AgentFacts {
        self.read.fetch_add(1, Ordering::SeqCst);
        let known = self.facts.read().unwrap_or_else(PoisonError::into_inner);
        known.get(user_agent).cloned().unwrap_or_default()
    }
}
