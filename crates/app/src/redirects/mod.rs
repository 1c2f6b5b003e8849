//! Redirects: one use case a file. What they share with landing pages is in [`links`](crate::links).

mod create;
mod create_many;
mod get;
mod update;
mod with_pixels;

pub use create::{CreateRedirect, create};
pub use create_many::create_many;
pub use get::get;
pub use update::update;
pub use with_pixels::RedirectWithPixels;
