//! A private PostgreSQL server with a database for each test, which tests can stop, kill, pause and restart.

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
