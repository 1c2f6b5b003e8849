//! The use cases on the fakes alone: no file, no socket, no real clock.
//!
//! Each resource has a module, and each test is named after its rule.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]
#![allow(clippy::disallowed_methods, reason = "tests put into the store what no use case makes")]

mod accounts;
mod address_throttle;
mod admission;
mod analytics;
mod audit;
mod background;
mod bulk_creation;
mod bulk_moves;
mod bulk_on_domains;
mod bulk_updates;
mod certificates;
mod changes;
mod click_upkeep;
mod client_addresses;
mod domain_check_load;
mod domain_checks;
mod domain_claims;
mod domain_diagnosis;
mod domain_handovers;
mod domain_interleavings;
mod domain_owners;
mod domain_settings;
mod domains;
mod domains_once;
mod explain;
mod failing_stores;
mod first_start;
mod given_domains;
mod groups;
mod host_log;
mod idempotency;
mod keys;
mod landings;
mod link_passwords;
mod link_previews;
mod link_states;
mod links_on_domains;
mod named_people;
mod node_reports;
mod permissions;
mod pixels;
mod provider_binding;
mod provider_limits;
mod provider_sign_in;
mod redirect_creation;
mod redirect_reading;
mod redirect_targets;
mod redirect_updates;
mod requests_in_flight;
mod rules;
mod second_factors;
mod spawning;
mod tags;
mod taken_addresses;
mod transfer;
mod transfer_faults;
mod transfer_group_names;
mod transfer_in_parts;
mod transfer_left_out;
mod transfer_limits;
mod transfer_of_domains;
mod transfer_passwords;
mod transfer_round_trips;
mod transfer_rules;
mod transfer_tags;
mod transfer_ways;
mod unconcluded_checks;
mod update_matching;
mod update_matching_units;
mod visits;
mod visits_on_domains;
mod ways;
mod world;
