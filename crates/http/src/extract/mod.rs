//! Extractors: they turn parts of a request into the values that handlers take.
//!
//! The framework resolves a handler's extractors concurrently, so none may depend on another. Admission must come first,
//! so it is middleware (D7). An extractor fails only where the request as a whole is refused. It keeps violations of single
//! fields and parameters, so that the handler can report all of them at once (D8).

mod batch;
mod content_type;
mod field;
mod idempotency_key;
mod idempotent_request;
mod input;
mod json_body;
mod list_query;
mod object_reader;
mod preconditions;
mod query_string;
mod received_body;
mod value_readers;

pub(crate) use batch::{anything, batch, batch_of_anything, ids};
pub(crate) use field::{Field, field};
pub(crate) use idempotent_request::run_once;
pub(crate) use input::{
    Admitted, NoInput, OnlyBody, OnlyKey, OnlyQuery, OnlyVerbatimBody, PathExternalId, PathId,
};
pub(crate) use json_body::Document;
pub(crate) use list_query::{PageQuery, parse_boolean, parse_integer};
pub(crate) use object_reader::{Action, ObjectReader, properties};
pub(crate) use preconditions::{IfMatch, Preconditions};
pub(crate) use query_string::QueryString;
pub(crate) use value_readers::{
    FieldReader, boolean, integer, items, object, reference, secret, text, texts, verbatim_list,
    verbatim_object,
};
