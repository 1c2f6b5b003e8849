//! A request together with its violations.

use crate::violation::Violations;

/// The readable fields of a request, and its violations. Each layer adds the violations that only it can find, so that one
/// answer lists all (D8). A request with violations changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Submitted<T> {
    /// The readable fields. An invalid field counts as absent.
    pub value: T,
    /// The violations so far.
    pub violations: Violations,
}

impl<T> Submitted<T> {
    /// A request without violations so far.
    pub const fn valid(value: T) -> Self {
        Self { value, violations: Violations::new() }
    }
}
