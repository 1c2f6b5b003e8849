//! Derives the dimensions of a click from what the visitor sent (D47, D48).
//!
//! [`classify`] recognises programs by what they call themselves, and allocates nothing, so the visitors' path uses it too.
//!
//! [`Agents`] and [`Bots`] say what the recorder will say of an agent, for answers to visits.
//!
//! An [`Enricher`] belongs to one thread, off the visitor's path. It caches facts by agent and by referring host, within
//! limits that visitors cannot exceed. `data/README.md` names the sources of its lists, and ADR 43 the rules of each fact.
//!
//! ```
//! use signpost_enrichment::{Enricher, Sent, Sources};
//!
//! let mut enricher = Enricher::new(Sources::default());
//! let sent = Sent {
//!     user_agent: b"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
//!     referrer: b"https://www.google.com/",
//!     accept_language: b"de-AT,de;q=0.9,en;q=0.5",
//!     query: b"utm_campaign=Autumn+sale",
//!     purpose: b"",
//!     address: [192, 0, 2, 1].into(),
//! };
//! let facts = enricher.facts(&sent, None);
//! assert_eq!((facts.channel, facts.device), ("organic_search", "desktop"));
//! assert_eq!((&*facts.os, &*facts.browser, &*facts.language), ("Linux", "Firefox", "de"));
//! assert_eq!((&*facts.referrer, &*facts.utm_campaign), ("google.com", "Autumn sale"));
//! ```

mod agent_rules;
mod agents;
mod bots;
mod cache;
mod categories;
mod channel;
mod country;
mod crawlers;
mod device;
mod enricher;
mod language;
mod programs;
mod query;
mod referrer;
mod sources;
mod text;
mod vendored;

pub use agents::{AgentNames, Agents};
pub use bots::Bots;
pub use enricher::{Enricher, Facts, FactsOfAlike, Sent};
pub use programs::{Category, KnownProgram, MAX_EXAMINED_BYTES, classify, is_previewer};
pub use sources::{SourceError, SourceKind, Sources};
