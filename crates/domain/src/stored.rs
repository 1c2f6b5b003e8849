//! Values from our own store (ADR 35).
//!
//! Every value type that rows hold has a constructor `from_stored` beside its `parse`. Requests go through `parse`, which
//! holds the rules of the day. Rows go through `from_stored`, which holds only what keeps the value safe to use, and
//! depends on no library that reads URLs or names. So a rule that becomes stricter, or a new release of such a library,
//! leaves everything that is stored readable.

/// The greatest size of one stored text, in bytes: about twice the longest that the rules allow, so that a damaged row
/// cannot fill the memory.
const MAX_BYTES: usize = 16 * 1024;

/// The greatest number of items in one stored list, for the same reason.
const MAX_ITEMS: usize = 1_000;

/// A value from our own store is not safe to use. It says why, without the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MalformedStored(pub(crate) &'static str);

/// A text of any content.
pub(crate) fn any_text(text: String) -> Result<String, MalformedStored> {
    if text.len() > MAX_BYTES { Err(MalformedStored("has more than 16 KiB")) } else { Ok(text) }
}

/// A text that fits one line of a list, a header or a terminal, perhaps without anything in it.
pub(crate) fn one_line(text: String) -> Result<String, MalformedStored> {
    let text = any_text(text)?;
    let has_control = if text.is_ascii() {
        text.bytes().any(|byte| byte.is_ascii_control())
    } else {
        text.contains(char::is_control)
    };
    if has_control { Err(MalformedStored("has a control character")) } else { Ok(text) }
}

/// A text of one line in which something is there.
pub(crate) fn some_line(text: String) -> Result<String, MalformedStored> {
    if text.is_empty() { Err(MalformedStored("is empty")) } else { one_line(text) }
}

/// A list.
pub(crate) fn items<T>(items: Vec<T>) -> Result<Vec<T>, MalformedStored> {
    if items.len() > MAX_ITEMS { Err(MalformedStored("has more than 1,000 items")) } else { Ok(items) }
}

#[cfg(test)]
#[path = "stored_tests.rs"]
mod tests;
