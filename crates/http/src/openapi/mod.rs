//! The OpenAPI 3.1 document: every operation of the API listener, for programs.
//!
//! `operations` has one description per row of the route table, and a test walks both. What bodies look like stands in
//! `schemas`; requests are read field by field elsewhere, so tests send every property that is described here, and one
//! more, and hold every answer that they see against the document.

mod analytics_parameters;
mod document;
mod error_codes;
mod errors;
mod headers;
mod operations;
mod parameters;

pub use document::openapi_document;
