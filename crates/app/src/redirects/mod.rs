//! Redirects: one use case a file. What they share with landing pages is in [`links`](crate::links).

mod create;
mod create_many;
mod update;

pub use create::{CreateRedirect, create};
pub use create_many::create_many;
pub use update::update;
