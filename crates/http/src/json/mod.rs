//! JSON documents as requests carry them.
//!
//! A body is parsed once, strictly, into a tree, and the tree is read field by field: serde's derive would stop
//! at the first field that is wrong, and the contract wants every violation in one answer (D8).

mod parse;
mod value;

pub(crate) use parse::parse;
pub(crate) use value::{Json, JsonObject};
