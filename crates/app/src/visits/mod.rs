//! What visitors do.

mod link_memory;
mod resolve;

pub use link_memory::LinkMemory;
pub use resolve::{
    Dependencies, Missing, RecordedLink, Resolution, Resolved, VisitorGates, address_of, resolve, url_of,
};
