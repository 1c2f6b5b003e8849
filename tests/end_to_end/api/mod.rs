//! One journey through each resource of the API, and what only the real stores show: concurrent changes, restarts. The
//! rules are tested in the layers below.

mod account;
mod bulk;
mod bulk_updates;
mod dashboard;
mod dashboard_commands;
mod dashboard_numbers;
mod dashboard_screens;
mod domain_life;
pub mod domain_settings;
mod groups;
mod landings;
mod limits;
mod link_states;
mod pixels;
mod redirects;
mod sign_in;
mod tags;
mod target_hosts;
mod update_matching;
