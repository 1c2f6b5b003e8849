//! Visits: resolving public addresses, and how far links in memory can be trusted.

mod credits;
mod host_log;
mod link_memory;
mod own_place;
mod resolve;

pub use credits::{CreditError, give_back_clicks, take_clicks};
pub use host_log::HostLog;
pub use link_memory::LinkMemory;
pub use own_place::OwnPlace;
pub use resolve::{
    Dependencies, MOST_HOPS, Missing, RecordedLink, Resolution, Resolved, Sending, VisitorGates, address_of,
    resolve, url_of,
};
