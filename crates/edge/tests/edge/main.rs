//! Tests of the link listener on fakes, through a socket.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]
#![allow(clippy::disallowed_methods, reason = "tests store values that no use case creates")]

mod cache;
mod clicks;
mod dated_chains;
mod dates;
mod domains;
mod enumeration;
mod explained_cases;
mod explained_rules;
mod explanations;
mod gates;
mod harness;
mod hostile;
mod landings;
mod languages;
mod locations;
mod max_clicks;
mod order_of_checks;
mod pages;
mod password_limits;
mod passwords;
mod pixels;
mod previews;
mod qr_codes;
mod redirects;
mod rules;
mod rules_and_agents;
mod rules_and_queries;
mod site_files;
mod site_settings;
mod splits;
mod stopping;
mod throttle;
mod ways;
mod widgets;
