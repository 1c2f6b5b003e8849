//! Carrying out a request once, however often it is sent (D12).
//!
//! A use case that may carry an `Idempotency-Key` takes a [`Conclusion`] and does its work in an operation: the key is
//! claimed at the beginning of its unit of work, and what is answered is remembered at the end of the same one. So a crash
//! in between leaves both undone, and of two at the same time one waits for the other's end.

mod conclusion;
mod operation;
mod recall;

pub use conclusion::{Conclusion, OnceOnly};
pub(crate) use operation::Operation;
pub use recall::recall;
