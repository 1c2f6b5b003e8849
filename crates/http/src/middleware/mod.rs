//! What happens to every request, before it is routed.
//!
//! The outer layer is [`frame`], the inner one is [`admission`]. Routing follows both, because only admitted callers may
//! learn which paths exist (D7).

pub(crate) mod access_log;
pub(crate) mod admission;
pub(crate) mod compression;
pub(crate) mod frame;
mod framework_errors;
