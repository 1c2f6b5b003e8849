//! Bots, as a test names them.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use signpost_app::ports::BotDetector;

/// The agents that a test has named as bots'; none at first. A visit with any purpose is a bot's.
#[derive(Debug, Default)]
pub struct FixedBots(RwLock<HashSet<Vec<u8>>>);

impl FixedBots {
    /// Makes `user_agent` a bot's.
    pub fn put(&self, user_agent: &[u8]) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(user_agent.to_vec());
    }
}

impl BotDetector for FixedBots {
    fn is_bot(&self, user_agent: &[u8], purpose: &[u8]) -> bool {
        !purpose.is_empty() || self.0.read().unwrap_or_else(PoisonError::into_inner).contains(user_agent)
    }
}
