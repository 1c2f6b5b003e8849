//! Private servers, and a browser, for tests: started on free ports of the loopback interface, in folders of their own, and
//! always stopped and removed, also when the tests are killed.
//!
//! The name server of [`dns`] and the [`proxy`] are made here. The other servers are what the machine has installed. Where
//! one of them is missing, or does not start, the test binary that wants it says so in one line on standard error and ends
//! with success, as if it had no tests. Where the variable `SIGNPOST_REQUIRE_SERVERS` is 1, it ends with a failure.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "everything here runs in tests, which fail by panicking"
)]

mod absence;
pub mod chromium;
pub mod country_database;
pub mod dns;
pub mod hostile_clients;
mod ports;
pub mod postgres;
mod processes;
pub mod proxy;
pub mod redis;
mod server_process;
pub mod smuggling;

pub use absence::Absence;
