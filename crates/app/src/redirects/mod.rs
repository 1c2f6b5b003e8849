//! Redirects: one use case a file.

mod create;
mod delete;
mod get;
mod list;
mod update;

pub use create::{CreateRedirect, create};
pub use delete::delete;
pub use get::get;
pub use list::{ListRedirects, list};
pub use update::update;
