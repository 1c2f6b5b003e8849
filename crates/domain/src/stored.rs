//! Values from a store (ADR 35).
//!
//! Every value type in rows has a constructor `from_stored` beside `parse`. Requests go through `parse`,
//! which has the current rules. Rows go through `from_stored`, which checks only what keeps the value safe to
//! use, and uses no library that reads URLs or names. So a stricter rule, or a new release of such a library,
//! leaves all stored values readable.

/// The maximum size of one stored text in bytes: about twice the longest allowed text, so that a damaged row
/// cannot fill the memory.
const MAX_BYTES: usize = 16 * 1024;

/// The maximum number of items in one stored list, for the same reason.
const MAX_ITEMS: usize = 1_000;

/// A stored value is not safe to use. The message says why, without the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MalformedStored(pub(crate) &'static str);

/// Checks a text with any content.
pub(crate) fn any_text(text: String) -> Result<String, MalformedStored> {
    if text.len() > MAX_BYTES { Err(MalformedStored("has more than 16 KiB")) } else { Ok(text) }
}

/// Checks a text that fits one line of a list, a header or a terminal. It may be empty.
pub(crate) fn one_line(text: String) -> Result<String, MalformedStored> {
    let text = any_text(text)?;
    let has_control = if text.is_ascii() {
        text.bytes().any(|byte| byte.is_ascii_control())
    } else {
        text.contains(char::is_control)
    };
    if has_control { Err(MalformedStored("has a control character")) } else { Ok(text) }
}

/// Checks a text of one line that is not empty.
pub(crate) fn some_line(text: String) -> Result<String, MalformedStored> {
    if text.is_empty() { Err(MalformedStored("is empty")) } else { one_line(text) }
}

/// Checks a list.
pub(crate) fn items<T>(items: Vec<T>) -> Result<Vec<T>, MalformedStored> {
    if items.len() > MAX_ITEMS { Err(MalformedStored("has more than 1,000 items")) } else { Ok(items) }
}

#[cfg(test)]
#[path = "stored_tests.rs"]
mod tests;
