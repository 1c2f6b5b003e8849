//! Landing pages: one use case a file. What they share with redirects is in [`links`](crate::links).

mod create;
mod get;
mod update;

pub use create::{CreateLanding, create};
pub use get::get;
pub use update::update;
