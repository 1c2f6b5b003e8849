//! A request together with its violations.

use crate::violation::Violations;

/// What could be read of a request, and what is wrong with it. Each layer adds what only it can see, so that one answer
/// lists every violation (D8). A request with violations changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Submitted<T> {
    /// The fields that could be read. An invalid field is as if it were absent.
    pub value: T,
    /// What is wrong so far.
    pub violations: Violations,
}

impl<T> Submitted<T> {
    /// A request with nothing wrong so far.
    pub const fn valid(value: T) -> Self {
        Self { value, violations: Violations::new() }
    }
}
