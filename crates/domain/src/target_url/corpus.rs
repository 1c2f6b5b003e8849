//! Targets and the decision of D24 on each: R9.

mod accepted;
mod refused;

pub(super) use accepted::{ODD, USUAL};
pub(super) use refused::REFUSED;
