//! From parts of a request to values that handlers can use.
//!
//! The framework resolves the extractors of a handler side by side, so none of them may depend on another, and
//! nothing that must come first stands here: requests are admitted in middleware (D7). An extractor fails only
//! with what refuses the request as a whole; what is wrong with single fields and parameters is kept in it, so
//! that the handler can list everything at once (D8).

mod admitted;
mod batch;
mod content_type;
mod field;
mod idempotency_key;
mod input;
mod json_body;
mod list_query;
mod object_reader;
mod path_id;
mod query_string;
mod received_body;

pub(crate) use admitted::Admitted;
pub(crate) use batch::{anything, batch, ids};
pub(crate) use content_type::Unsupported;
pub(crate) use field::{Field, field};
pub(crate) use input::{NoInput, OnlyBody, OnlyKey, OnlyQuery};
pub(crate) use json_body::BODY;
pub(crate) use list_query::{PageQuery, parse_integer};
pub(crate) use object_reader::{
    FieldReader, ObjectReader, Verb, boolean, items, object, properties, reference, text, texts,
};
pub(crate) use path_id::PathId;
pub(crate) use query_string::QueryString;
