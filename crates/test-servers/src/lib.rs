//! Private servers and a browser for tests. The servers listen on free ports of the loopback interface. Each runs in its own
//! folder, and is always stopped and removed, even when the tests are killed.
//!
//! The name server of [`dns`], the [`proxy`], the [`fake_authority`] and the [`identity_provider`] are implemented here. The
//! other servers must be installed. The packages of [`oidc_provider`] come from a registry, and its tests are skipped without
//! them. If one of the others is missing, the test binary that needs it prints one line on standard error. It then exits with
//! success, as if it had no tests. With `SIGNPOST_REQUIRE_SERVERS=1` it exits with a failure. A server that is installed but
//! does not start fails the test with its log.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "everything here runs in tests, which fail by panicking"
)]

mod absence;
pub mod balancer;
pub mod certificates;
pub mod chromium;
pub mod country_database;
pub mod dns;
pub mod fake_authority;
pub mod hostile_clients;
pub mod https_client;
pub mod identity_provider;
mod log_file;
pub mod oidc_provider;
pub mod pebble;
mod ports;
pub mod postgres;
mod processes;
pub mod proxy;
pub mod redis;
mod server_process;
pub mod smuggling;
pub mod validation_client;

pub use absence::Absence;
