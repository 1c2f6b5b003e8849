//! The visitors' side of Signpost: the listener that serves public links (D52 to D54).
//!
//! [`EdgeServer`] takes a bound socket and an [`Application`](signpost_app::Application). It answers each
//! visit with a redirect, a landing page, a QR code, or one of a few small pages, which `signpost-pages`
//! renders. It stores and logs nothing about visitors. The metric `signpost_visits_total` counts visits by
//! `outcome`.

mod account_numbers;
mod byte_codec;
mod card;
mod challenges;
mod click_limit_view;
mod clicks;
mod compiled_link;
mod credits;
mod explained_request;
mod explained_steps;
mod explaining;
mod files;
mod gates;
mod generations;
mod judgement;
mod landing_page;
mod limited_visit;
mod link_cache;
mod link_layout;
mod link_loader;
mod link_lookup;
mod link_view;
mod link_workers;
mod missed_hosts;
mod opening;
mod outage_log;
mod outcome;
mod own_visits;
mod pages;
mod password_form;
mod password_tries;
mod pixel_visit;
mod plain_http;
mod protected_visit;
mod qr_codes;
mod requested_address;
mod response;
mod routes;
mod ruled_visit;
mod rules;
mod section_values;
mod server;
mod shared_loads;
mod site_cache;
mod site_loader;
mod site_visit;
mod visit;
mod visit_durations;
mod visitor;
mod widget_visit;
mod worker_cache;

pub use link_workers::LinkWorkers;
pub use outage_log::OutageLog;
pub use plain_http::PlainHttp;
pub use server::{EdgeOptions, EdgeServer};
pub use site_visit::SystemUrls;
pub use visit_durations::{DurationCounts, VisitDurations};
