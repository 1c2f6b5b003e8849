//! Texts that facts share.

use std::sync::Arc;

/// The empty value, shared.
pub(crate) fn empty() -> Arc<str> {
    static EMPTY: std::sync::LazyLock<Arc<str>> = std::sync::LazyLock::new(|| Arc::from(""));
    Arc::clone(&EMPTY)
}
