//! The account dashboard: server-rendered pages for people, usable without scripts.
//!
//! [`views`] holds one struct for each page, [`texts`] every sentence that people read, and [`assets`] the style sheet, the
//! script and the icons. `pages` has the handlers: each reads the request, calls a use case of `signpost-app`, and fills a
//! view. [`ROUTES`] lists them. `guard` checks where requests come from.

mod answer;
pub mod assets;
mod curl;
mod failure;
mod file_name;
mod form_body;
mod frame;
mod guard;
mod kept_form;
mod local_time;
mod origin;
mod pages;
mod paths;
mod query;
mod server;
mod service;
pub mod texts;
mod unhandled;
pub mod views;
mod visit;

pub use origin::{DashboardOrigin, MalformedOrigin};
pub use paths::{Access, PROVIDER_CALLBACK, ROUTES, RouteInfo, RouteMethod};
pub use server::{DashboardOptions, DashboardServer};
pub use service::{DashboardWorkers, dashboard_service};
