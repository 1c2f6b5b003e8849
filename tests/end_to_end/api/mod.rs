//! The API: contract and decisions, rule by rule.

mod account;
mod authentication;
mod bodies;
mod bulk_create;
mod bulk_delete;
mod domain_life;
mod endpoints;
mod group_links;
mod groups;
mod landing_content;
mod landings;
mod pagination;
mod pixels;
mod plans;
mod queries;
mod quota;
mod redirects_create;
mod redirects_filters;
mod redirects_read_and_delete;
mod redirects_update;
mod redirects_update_rules;
mod target_urls;
mod throttle;
