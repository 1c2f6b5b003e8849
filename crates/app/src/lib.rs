//! Signpost's use cases, and the ports through which they reach the world.
//!
//! A use case is one public function: check, load, decide in the domain, store, answer. It knows neither HTTP nor SQL.
//! The use cases of a resource share a file. [`Application`] holds the ports and the configuration; [`ports`] explains how
//! to add a port.

pub mod accounts;
pub mod admission;
pub mod analytics;
pub mod app_error;
pub mod application;
pub mod audit;
pub mod background;
pub mod caller;
mod causes;
pub mod certificates;
pub mod changes;
mod click_batch;
pub mod domains;
pub mod explain;
pub mod groups;
pub mod idempotency;
pub mod keys;
pub mod landings;
pub mod links;
mod log_pace;
pub mod node_health;
pub mod nodes;
mod operator;
pub mod people;
pub mod pixels;
pub mod pool_usage;
pub mod ports;
pub mod redirects;
mod resealing;
pub mod tags;
pub mod transfer;
pub mod unit_of_work;
pub mod visits;

pub use app_error::AppError;
pub use application::{Application, Lifecycle};
pub use caller::{Actor, Caller};
pub use causes::with_causes;
pub use log_pace::LogPace;
pub use operator::Operator;
pub use resealing::{Resealing, reseal};
