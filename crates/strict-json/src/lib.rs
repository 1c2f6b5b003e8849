//! JSON documents in memory, read more strictly than JSON itself asks (D10).
//!
//! A document is parsed once into a tree, and the tree is read field by field. The derives of serde would stop at the first
//! field that is wrong, and the contract wants every violation in one answer (D8). Files of links are read alike.
//!
//! ```
//! use signpost_strict_json::{Json, parse};
//!
//! assert_eq!(parse(br#"["a", null]"#).unwrap(), Json::List(vec![Json::Text("a".to_owned()), Json::Null]));
//! assert!(parse(br#"{"a": 1, "a": 2}"#).unwrap_err().to_string().contains("stands twice"));
//! ```

mod parse;
mod value;

pub use parse::{NotJson, parse};
pub use value::{Json, JsonObject};
