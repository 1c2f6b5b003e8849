//! The findings of checks.

use std::fmt;

/// A violation of one of the repository's rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    path: String,
    line: Option<usize>,
    message: String,
}

impl Finding {
    /// A finding about a whole file or folder; `path` is relative to the repository's root.
    pub fn about(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), line: None, message: message.into() }
    }

    /// A finding in one line of a file; `line` counts from 1.
    pub fn in_line(path: impl Into<String>, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.into(), line: Some(line), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, message } = self;
        match line {
            Some(line) => write!(formatter, "{path}:{line}: {message}"),
            None => write!(formatter, "{path}: {message}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Finding;

    #[test]
    fn a_finding_reads_like_a_compiler_message() {
        assert_eq!(Finding::about("docs", "is empty").to_string(), "docs: is empty");
        assert_eq!(Finding::in_line("a.rs", 3, "is odd").to_string(), "a.rs:3: is odd");
    }
}
