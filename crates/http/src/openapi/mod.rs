//! The OpenAPI document: every operation of the API listener.
//!
//! `operations` has every endpoint with its description; the route table comes from it too. The schemas of bodies come from
//! the declarations that read and show them: see [`crate::schema`] and [`crate::resources`]. Tests send every described
//! property and one unknown one, and validate every response against the document.

mod analytics_parameters;
mod client_notes;
mod document;
mod error_codes;
mod errors;
mod headers;
pub(crate) mod operations;
mod parameters;
mod version_3_0;
mod without_internal;

pub use document::{OpenApiVersion, Operations, openapi_document};
