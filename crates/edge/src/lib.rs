//! The visitor's side of Signpost: the listener at which public links open (D52 to D54).
//!
//! [`EdgeServer`] takes a bound socket and an [`Application`](signpost_app::Application) and answers each visit
//! with a redirect, a landing page, a QR code, or one of a few small pages, which `signpost-pages` renders. Nothing about a visitor is kept or logged; what a visit
//! came to is counted in the metric `signpost_visits_total` by `outcome`.

mod account_numbers;
mod click_queue;
mod compiled_link;
mod files;
mod front;
mod gates;
mod generations;
mod landing_page;
mod link_cache;
mod link_view;
mod loads;
mod outage_log;
mod outcome;
mod pages;
mod qr_codes;
mod response;
mod routes;
mod sections;
mod server;
mod visit;
mod visit_recording;
mod visitor;
mod wanted;

pub use server::{EdgeOptions, EdgeServer};
