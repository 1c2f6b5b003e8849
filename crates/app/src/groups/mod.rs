//! Groups: one use case a file.

mod assign;
mod create;
mod delete;
mod get;
mod list;
mod rename;

pub use assign::{LINK_IDS, Moved, assign, unassign};
pub use create::create;
pub use delete::delete;
pub use get::get;
pub use list::list;
pub use rename::rename;
