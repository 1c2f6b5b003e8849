//! A private PostgreSQL server, with as many databases as there are tests, that can be stopped, killed, held and started
//! again.

mod database;
mod keeper;
mod programs;
mod server;
mod setup;
mod statements;

pub use database::PostgresDatabase;
pub use programs::{PROGRAMS, programs};
pub use server::{PostgresServer, shared, try_shared};
pub use setup::{Setup, Tls};
