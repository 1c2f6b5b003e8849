//! A file has one subject: a source file of many screens has several.

use super::is_rust;
use crate::finding::Finding;

/// The maximum number of lines of a Rust file, including its tests.
pub const MAX_LINES: usize = 400;

/// Reports a Rust file that is longer than [`MAX_LINES`].
#[must_use]
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let lines = text.lines().count();
    if !is_rust(path) || lines <= MAX_LINES {
        return Vec::new();
    }
    vec![Finding::about(
        path,
        format!("has {lines} lines, at most {MAX_LINES} are allowed: move a subject to its own file"),
    )]
}

#[cfg(test)]
mod tests {
    use super::{MAX_LINES, check};

    #[test]
    fn only_a_rust_file_past_the_limit_is_reported() {
        let longest = "line\n".repeat(MAX_LINES);
        let too_long = format!("{longest}line\n");
        assert_eq!(check("a.rs", &longest), []);
        assert_eq!(check("a.rs", &too_long).len(), 1);
        assert_eq!(check("a.csv", &too_long), []);
    }
}
