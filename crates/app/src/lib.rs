//! Signpost's use cases, and the ports through which they reach the world.
//!
//! A use case is one file with one public function: check, load, decide in the domain, store, conclude. It knows
//! neither HTTP nor SQL. [`Application`] holds what use cases share; [`ports`] says how to add to the world.

pub mod accounts;
pub mod admission;
pub mod analytics;
pub mod app_error;
pub mod application;
pub mod background;
pub mod caller;
pub mod changes;
pub mod domains;
pub mod groups;
pub mod idempotency;
pub mod keys;
pub mod landings;
pub mod lifecycle;
pub mod links;
mod log_pace;
pub mod pixels;
pub mod ports;
pub mod redirects;
pub mod transfer;
pub mod unit_of_work;
pub mod visits;

pub use app_error::AppError;
pub use application::Application;
pub use caller::{Caller, RateLimits};
pub use lifecycle::Lifecycle;
