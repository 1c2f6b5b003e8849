//! Parses JSON documents more strictly than JSON requires (D10).
//!
//! A document is parsed once into a tree, which callers read field by field. Serde's derives stop at the first invalid
//! field, but the contract wants every violation in one answer (D8). Files of links are read the same way.
//!
//! ```
//! use signpost_strict_json::{Json, parse};
//!
//! assert_eq!(parse(br#"["a", null]"#).unwrap(), Json::List(vec![Json::Text("a".to_owned()), Json::Null]));
//! assert!(parse(br#"{"a": 1, "a": 2}"#).unwrap_err().to_string().contains("stands twice"));
//! ```

use std::collections::BTreeMap;

mod parse;

pub use parse::{NotJson, member_text, parse};

/// The members of an object. Names are unique: the parser refuses repeated ones (D10).
pub type JsonObject = BTreeMap<String, Json>;

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, with its value if it is written as an integer of 64 bits with sign. No field takes any other number.
    Number(Option<i64>),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object.
    Object(JsonObject),
}

impl Json {
    /// The string, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::List(_) | Self::Object(_) => None,
        }
    }
}
