//! Targets with the verdict that D24 gives them: R9.

mod accepted;
mod refused;

pub(super) use accepted::{ODD, USUAL};
pub(super) use refused::REFUSED;
