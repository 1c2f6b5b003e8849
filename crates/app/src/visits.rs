//! Visits: resolving public addresses, and how far links in memory can be trusted.

mod link_memory;
mod resolve;

pub use link_memory::LinkMemory;
pub use resolve::{
    Dependencies, Missing, RecordedLink, Resolution, Resolved, VisitorGates, address_of, resolve, url_of,
};
