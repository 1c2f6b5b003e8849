//! One file, one subject: a source file that grows past a few screens has more than one.

use super::is_rust;
use crate::finding::Finding;

/// The most lines that a Rust file may have, its tests included.
pub const MOST_LINES: usize = 400;

/// Reports a Rust file that is longer than [`MOST_LINES`].
#[must_use]
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let lines = text.lines().count();
    if !is_rust(path) || lines <= MOST_LINES {
        return Vec::new();
    }
    vec![Finding::about(
        path,
        format!("has {lines} lines, {MOST_LINES} are the most; which subject can leave?"),
    )]
}

#[cfg(test)]
mod tests {
    use super::{MOST_LINES, check};

    #[test]
    fn only_a_rust_file_past_the_limit_is_reported() {
        let longest = "line\n".repeat(MOST_LINES);
        let too_long = format!("{longest}line\n");
        assert_eq!(check("a.rs", &longest), []);
        assert_eq!(check("a.rs", &too_long).len(), 1);
        assert_eq!(check("a.csv", &too_long), []);
    }
}
