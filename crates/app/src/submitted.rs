//! A request with whatever is wrong with it.

use signpost_domain::Violations;

/// What could be read of a request, and what is wrong with the rest. A use case adds what only it can see, so
/// that one answer lists every violation (D8). Nothing is done while there is any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitted<T> {
    /// What could be read; invalid fields are as if they were absent.
    pub value: T,
    /// What is wrong.
    pub violations: Violations,
}

impl<T> Submitted<T> {
    /// A request with nothing wrong.
    pub const fn valid(value: T) -> Self {
        Self { value, violations: Violations::new() }
    }
}
