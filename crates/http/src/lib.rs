//! Signpost's HTTP API: from requests to use cases and back.
//!
//! [`route_table`] lists the endpoints. The layer of `signpost-request-layer` gives each request an id, `middleware` admits
//! it, then the request is routed.
//! Extractors (`extract`) turn its parts into values or violations. The handler (`resources`) calls one use case and shows
//! the outcome. The rules of the service are in the domain's types and in the use cases, not in this crate.
//!
//! # Errors and replays
//!
//! `api_error` holds the errors with their codes, statuses and sentences. It is independent of responses.
//! `error_response` writes the envelope. `replayed_response` stores and replays responses of requests with an
//! `Idempotency-Key` (D12). The outermost middleware writes errors and replays, because both may carry the request id.
//! `unhandled` has the errors where no handler answers.
//!
//! # Adding a field
//!
//! A field of a request is a function that returns a `Field`: its name, how it is read, and its schema. Creations and
//! updates take it with `required`, `optional` or `nullable`. A field of a response is a line of a `shown!` body. The
//! OpenAPI document comes from both.
//!
//! # Adding an endpoint
//!
//! Write a function in the file of its resource, and declare the endpoint there, in its `SECTION`: method, path, handler and
//! description. Routing and the document come from that declaration, and tests compare the description with the behaviour. A
//! new resource is a file with a `SECTION`, which `sections` lists.
//!
//! A handler under `/v1` takes `Admitted`, and one of `NoInput`, `OnlyQuery`, `OnlyBody` and `OnlyKey`. Fields and parameters
//! that it does not read are refused. The handler of a `POST` asks for its `key` first, which ends a request that ran
//! before. It runs the use case with `run_once`.

mod analytics;
mod api_error;
mod api_service;
mod bulk_outcome;
mod cursor;
mod documentation;
mod endpoint;
mod error_response;
mod extract;
mod health;
mod middleware;
mod openapi;
mod replayed_response;
mod resources;
mod routes;
mod schema;
mod sections;
mod server;
mod tls_allowed;
mod unhandled;
mod wire;

pub use api_service::{ApiWorkers, api_service};
pub use endpoint::{Access, RouteMethod};
pub use openapi::{OpenApiVersion, Operations, openapi_document};
pub use routes::{RouteInfo, route_table};
pub use server::{ApiOptions, ApiServer};
pub use tls_allowed::TLS_ALLOWED_PATH;
