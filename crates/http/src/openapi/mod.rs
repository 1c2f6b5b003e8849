//! The OpenAPI 3.1 document: every operation of the API listener.
//!
//! `operations` has every endpoint with its description; the route table comes from it too. The schemas of bodies come from
//! the declarations that read and show them: see [`crate::schema`] and [`crate::resources`]. Tests send every described
//! property and one unknown one, and validate every response against the document.

mod analytics_parameters;
mod document;
mod error_codes;
mod errors;
mod headers;
pub(crate) mod operations;
mod parameters;

pub use document::openapi_document;
