//! Tells bots from people for the visitors' side.

use signpost_app::ports::BotDetector;
use signpost_enrichment::{Bots, Sources};

/// The rule by which clicks are recorded.
pub(crate) struct RecordedBots(Bots);

impl RecordedBots {
    /// The rule with these lists.
    pub(crate) fn new(lists: Sources) -> Self {
        Self(Bots::new(lists))
    }

    /// Compiles the patterns of bots, which takes a good part of a second.
    pub(crate) fn warm_up(&self) {
        self.0.warm_up();
    }
}

impl BotDetector for RecordedBots {
    fn is_bot(&self, user_agent: &[u8], purpose: &[u8]) -> bool {
        self.0.is_bot(user_agent, purpose)
    }
}
