//! What happens to every request, before it is routed.
//!
//! The outer middleware is [`envelope`], the inner one is [`admission`]. Around both is the layer of `signpost-request-layer`.
//! Routing follows both, because only admitted callers may learn which paths exist (D7).

pub(crate) mod admission;
pub(crate) mod envelope;
