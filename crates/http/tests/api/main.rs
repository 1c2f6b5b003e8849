//! The API on the in-memory fakes, in this process: the order of checks, headers, envelopes, and the translation
//! between requests and use cases. Tests of the use cases are in `crates/app`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    missing_docs,
    unreachable_pub,
    reason = "tests"
)]

mod account;
mod analytics;
mod bodies;
mod bulk;
mod bulk_updates;
mod click_exports;
mod compression;
mod conditions;
mod domain_settings;
mod domains;
mod every_route;
mod explanations;
mod external_ids;
mod failures;
mod groups;
mod harness;
mod headers;
mod health;
mod idempotency;
mod landings;
mod life;
mod link_passwords;
mod link_previews;
mod links_on_domains;
mod listener;
mod lists;
mod many_violations;
mod max_clicks;
mod observability;
mod openapi;
mod order_of_checks;
mod pixels;
mod redirects;
mod requests_in_flight;
mod rules;
mod scopes;
mod tags;
mod taken_addresses;
mod tls_allowed;
mod update_matching;
mod ways;
mod widgets;
