//! A JSON document in memory.

use std::collections::BTreeMap;

/// The members of an object. A name stands in it once: the parser refuses a second one (D10).
pub type JsonObject = BTreeMap<String, Json>;

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number. No field of a body is one, so which number it is does not matter.
    Number,
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object.
    Object(JsonObject),
}
