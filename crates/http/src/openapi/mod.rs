//! The OpenAPI document: every operation of the API listener.
//!
//! [`crate::sections`] has every endpoint with its description; the route table comes from it too. The schemas of bodies come from
//! the declarations that read and show them: see [`crate::schema`] and [`crate::resources`]. Tests send every described
//! property and one unknown one, and validate every response against the document.

mod client_notes;
mod document;
mod error_codes;
pub(crate) mod errors;
pub(crate) mod headers;
pub(crate) mod operation;
pub(crate) mod parameters;
mod version_3_0;
mod without_internal;

pub use document::{OpenApiVersion, Operations, openapi_document};
