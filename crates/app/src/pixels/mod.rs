//! Pixels: one use case a file.

mod create;
mod delete;
mod get;
mod list;

pub use create::{NewPixel, create};
pub use delete::delete;
pub use get::get;
pub use list::list;
