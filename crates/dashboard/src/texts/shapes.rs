//! The shapes of texts that have values in them.

/// A text with one value in it.
pub type One = fn(&str) -> String;
/// A text with two values in it.
pub type Two = fn(&str, &str) -> String;
/// A text with a number in it, which decides between singular and plural.
pub type Counted = fn(usize) -> String;
