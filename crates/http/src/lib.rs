//! Signpost's HTTP API: from requests to use cases and back.
//!
//! [`routes`](route_table) says which endpoints there are. Before routing, every request gets an id and is
//! admitted (`middleware`); then extractors turn its parts into values or violations (`extract`), one file per
//! endpoint calls one use case, and `wire` shows the result. No rule of the service stands here: what a field may
//! be is for the domain's types to say, and what happens for the use cases.
//!
//! # Adding an endpoint
//!
//! Write a file with a `handle` function beside its siblings, and add a row to the table in `routes.rs`. A handler
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
