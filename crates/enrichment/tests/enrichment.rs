//! Facts of whole clicks.

#[path = "enrichment/any_bytes.rs"]
mod any_bytes;
#[path = "enrichment/devices.rs"]
mod devices;
#[path = "enrichment/facts.rs"]
mod facts;
#[path = "enrichment/known_agents.rs"]
mod known_agents;
#[path = "enrichment/previewers.rs"]
mod previewers;
#[path = "enrichment/programs.rs"]
mod programs;
