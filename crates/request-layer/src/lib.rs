//! The layer around the service of a listener.
//!
//! Every request gets an id, a span with it, one line in the access log, and an answer even if its handler panics. Every
//! answer gets the id, `Cache-Control: no-store` unless it has its own, compression, and `Connection: close` while the node
//! drains. A listener that uses the layer brings:
//!
//! - its service, with [`RequestLayer::around`]. It tells the [`RequestFacts`] which pattern the path matches.
//! - [`ErrorAnswers`]: what it answers where no handler does.
//! - [`LayerOptions`]: its metrics, the routes whose lines would hide those of callers, and whether it compresses.
//!
//! The link listener does without the layer: it logs no visitor, and a visit costs less than the layer.

mod access_log;
mod compression;
mod facts;
mod layer;
mod streamed_body;
mod unhandled;

pub use access_log::RequestMetrics;
pub use compression::{KeptBody, KeptForms};
pub use facts::RequestFacts;
pub use layer::{LayerOptions, RequestLayer};
pub use unhandled::{ErrorAnswers, Unhandled};
