//! The dashboard on in-memory fakes: who gets in, what forms do, and what every answer has.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    missing_docs,
    unreachable_pub,
    reason = "tests"
)]

mod access;
mod analytics;
mod analytics_addresses;
mod analytics_file;
mod analytics_scopes;
mod audit;
mod certificates;
mod cross_site;
mod domain_addresses;
mod domains;
mod editor;
mod editor_conflicts;
mod editor_preview;
mod edits;
mod explain;
mod export_everything;
mod forms;
mod harness;
mod headers;
mod kept_forms;
mod keys;
mod life;
mod limits;
mod link_passwords;
mod link_previews;
mod links;
mod live_figures;
mod members;
mod operator_accounts;
mod operator_health;
mod operator_health_parts;
mod operator_nodes;
mod operator_users;
mod passwords;
mod provider_sign_in;
mod required_second_factor;
mod rules;
mod second_factor;
mod sent_before;
mod sessions;
mod settings;
mod sign_in;
mod sign_in_elsewhere;
mod tags;
mod tickets;
mod ways;
mod widget_statistics;
