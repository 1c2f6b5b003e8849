//! What is the same for landing pages and redirects: one use case a file.

pub(crate) mod batch_ids;
mod create;
mod delete;
mod delete_many;
mod get;
mod list;
mod rules;

pub(crate) use create::{create_all, create_one};
pub use delete::delete;
pub use delete_many::delete_many;
pub use get::get;
pub use list::{ListLinks, list};
pub(crate) use rules::{LinkRules, LockedLink};
