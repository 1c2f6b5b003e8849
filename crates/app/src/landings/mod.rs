//! Landing pages: one use case a file. What they share with redirects is in [`links`](crate::links).

mod create;
mod update;

pub use create::create;
pub use update::update;
