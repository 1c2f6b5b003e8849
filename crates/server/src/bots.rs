//! Tells bots from people for the visitors' side.

use std::sync::Arc;

use signpost_app::ports::BotDetector;
use signpost_enrichment::{Bots, Sources};

use crate::settings::ClickSettings;

/// The rule by which clicks are recorded.
pub(crate) struct RecordedBots(Bots);

impl RecordedBots {
    /// The rule with the lists of these settings. The recorder compiles its patterns; without a recorder a thread of its own
    /// does.
    pub(crate) fn of(settings: &ClickSettings) -> Arc<dyn BotDetector> {
        let bots = Arc::new(Self::new(settings.lists.clone()));
        if !settings.are_recorded {
            let compiled = Arc::clone(&bots);
            if let Err(error) =
                std::thread::Builder::new().name("bots".to_owned()).spawn(move || compiled.warm_up())
            {
                tracing::warn!(%error, "only programs that are known by name get redirects without pixels");
            }
        }
        bots
    }

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
