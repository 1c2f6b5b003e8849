//! The OpenAPI 3.1 document: every operation of the API listener, for programs.
//!
//! `operations` has one description per row of the route table, and a test walks both. The schemas of bodies come from the
//! declarations that read and show them: see [`crate::schema`] and [`crate::resources`]. Tests send every property that
//! is described, and one more, and hold every answer that they see against the document.

mod analytics_parameters;
mod document;
mod error_codes;
mod errors;
mod headers;
mod operations;
mod parameters;

pub use document::openapi_document;
