//! Errors with their causes, for the log.

use std::error::Error;

/// The error's message, followed by those of its causes that the text does not contain yet. Many messages of libraries quote
/// their cause, and the cause would appear twice.
#[must_use]
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the disk is full")]
    struct Full;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot write: {0}")]
    struct Quoting(#[source] Full);

    #[derive(Debug, thiserror::Error)]
    #[error("no backup was made")]
    struct Outer(#[source] Quoting);

    #[test]
    fn each_cause_is_printed_once() {
        assert_eq!(with_causes(&Full), "the disk is full");
        assert_eq!(with_causes(&Quoting(Full)), "cannot write: the disk is full");
        assert_eq!(with_causes(&Outer(Quoting(Full))), "no backup was made: cannot write: the disk is full");
    }
}
