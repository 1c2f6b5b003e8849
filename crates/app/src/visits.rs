//! Visits: resolving public addresses, and how far links in memory can be trusted.

mod chain_link;
mod credits;
mod host_log;
mod link_memory;
mod own_place;
mod passwords;
mod resolve;

pub use credits::{CreditError, give_back_clicks, take_clicks};
pub use host_log::HostLog;
pub use link_memory::LinkMemory;
pub use own_place::OwnPlace;
pub use passwords::{PasswordCheck, PasswordCheckError, check_password};
pub use resolve::{
    Dependencies, MOST_HOPS, Missing, PreviewCard, RecordedLink, Resolution, Resolved, Sending, VisitorGates,
    address_of, resolve, url_of,
};
