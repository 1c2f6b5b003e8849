//! Visits: resolving public addresses, and how far links in memory can be trusted.

mod link_memory;
mod own_place;
mod resolve;

pub use link_memory::LinkMemory;
pub use own_place::OwnPlace;
pub use resolve::{
    Dependencies, MOST_HOPS, Missing, RecordedLink, Resolution, Resolved, VisitorGates, address_of, resolve,
    url_of,
};
