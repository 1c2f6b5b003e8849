//! Names the devices, systems and browsers of visitors.

use std::sync::Arc;

use signpost_app::ports::{AgentFacts, AgentReader};
use signpost_domain::routing::Device;
use signpost_enrichment::{AgentNames, Agents};

use crate::settings::ClickSettings;

/// The rules by which clicks are recorded.
pub(crate) struct RecordedAgents(Agents);

impl RecordedAgents {
    /// The rules of the lists of these settings. The recorder compiles them; without a recorder the first visit that needs them does.
    pub(crate) fn of(settings: &ClickSettings) -> Arc<dyn AgentReader> {
        Arc::new(Self(Agents::new(settings.lists.clone())))
    }
}

impl AgentReader for RecordedAgents {
    fn is_ready(&self) -> bool {
        self.0.are_ready()
    }

    fn facts(&self, user_agent: &[u8]) -> AgentFacts {
        let AgentNames { device, os, browser } = self.0.names(user_agent);
        AgentFacts { device: Device::parse(device).ok(), os, browser }
    }
}
