//! Signpost's HTTP API: from requests to use cases and back.
//!
//! [`routes`](route_table) says which endpoints there are. Before routing, every request gets an id and is
//! admitted (`middleware`); then extractors turn its parts into values or violations (`extract`), and a function of the
//! resource (`resources`) calls one use case and shows the result. This crate has no rule of the service: the domain's
//! types say what a field may be, and the use cases what happens.
//!
//! # Adding a field
//!
//! A field of a request is a function that returns a `Field`: its name, how it is read, and its schema. Creations and
//! updates take it with `required`, `optional` or `nullable`. A field of an answer is a line of a `shown!` body. The
//! OpenAPI document comes from both.
//!
//! # Adding an endpoint
//!
//! Write a function in the file of its resource, and add a row to the table in `routes.rs`. A handler
//! under `/v1` takes `Admitted`, and one of `NoInput`, `OnlyQuery`, `OnlyBody` and `OnlyKey`: which
//! fields and parameters it knows is what it takes from them, and the rest is refused. That of a `POST` asks
//! `once` first, and gives the use case a `remembered_answer::conclusion` (D12). Describe it beside its siblings
//! in `openapi/operations`; tests hold the description against what it does.

mod analytics;
mod api_app;
mod api_error;
mod bulk_outcome;
mod cursor;
mod documentation;
mod error_response;
mod error_status;
mod extract;
mod health;
mod middleware;
mod openapi;
mod refusals;
mod remembered_answer;
mod resources;
mod routes;
mod schema;
mod server;
mod shorten;
mod tls_allowed;
mod wire;

pub use api_app::api_app;
pub use openapi::openapi_document;
pub use routes::{Access, RouteInfo, RouteMethod, route_table};
pub use server::{ApiOptions, ApiServer};
