//! Custom domains: one use case a file, and what they share.
//!
//! A hostname is free, or one account holds it. It comes to an account by [`connect`] or, after a failure, by [`verify`];
//! whoever had links there before loses their addresses in the same unit of work, or, if they are very many, before the domain goes into service. What DNS is asked, it is asked outside any
//! unit of work; what it said is then applied to the domain as the store has it by then.

mod connect;
mod delete;
mod findings;
mod get;
mod handover;
mod jitter;
mod list;
mod may_have_certificate;
mod own_names_held;
mod verify;
mod with_instructions;

pub use connect::{Connected, connect};
pub use delete::delete;
pub(crate) use findings::Findings;
pub use get::get;
pub(crate) use handover::{Losses, lose_links_before_service};
pub(crate) use jitter::jitter;
pub use list::list;
pub use may_have_certificate::{certifiable_hostname, may_have_certificate};
pub use own_names_held::own_names_held;
pub use verify::verify;
pub use with_instructions::{CheckedInstruction, DomainWithInstructions};
