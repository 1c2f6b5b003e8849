//! What operators do with accounts: one use case a file.

mod create;
mod delete;
mod find;
mod first_start;
mod list;
mod operator_error;
mod set_plan;
mod suspension;
mod unknown_plans;

pub(crate) use create::require_plan;
pub use create::{CreateAccount, create};
pub use delete::delete;
pub use find::{AccountReference, MalformedAccountReference, find};
pub use first_start::{FirstStart, first_start};
pub use list::list;
pub use operator_error::OperatorError;
pub use set_plan::set_plan;
pub use suspension::{resume, suspend};
pub use unknown_plans::unknown_plans;
