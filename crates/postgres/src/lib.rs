//! Signpost's store on a PostgreSQL server: every port that keeps something, for any number of nodes.
//!
//! # Connections
//!
//! A pool of connections, each with limits that the server itself holds. A call that reads borrows one for one statement,
//! a unit of work for as long as it is open; units of work and searches leave some to those who only read, requests leave
//! some to visitors, and all leave one to health checks and one to what the node does by itself (`places.rs`). Nobody waits longer than the time limit (D6), and nothing goes on at the
//! server that nobody waits for: the statement of a caller who was cancelled, or whose time is over, is cancelled too. A
//! connection whose transaction was neither committed nor undone is never lent again, nor is one on which something failed
//! that was no decision of the database. One that was not used for a while is asked whether it still lives.
//!
//! # What decides
//!
//! Rows and indexes of the database do, never what was read before: addresses are a unique index, counts and limits are
//! rows that are held until the end of the transaction. All transactions are `READ COMMITTED`. Those that would wait for
//! each other are ended by the server and run again by the use cases, which the order of locks makes rare (see
//! `unit_of_work.rs`).
//!
//! # What survives what
//!
//! A unit of work whose commit returned `Ok` survives a crash of the program and of the server, as far as the server's
//! settings promise that (`fsync`, `synchronous_commit`). The counts of requests survive a crash of the program; a crash
//! of the server may take back the last moments of them, which is the price of not waiting for the disk on every single
//! request.

mod accounts;
mod built_once;
mod change_log;
mod clicks;
mod computing_threads;
mod connecting;
mod connection_url;
mod connections;
mod counters;
mod custom_domains;
mod domain_checks;
mod domain_writes;
mod embedded_migrations;
mod failure;
mod first_rows;
mod group_counts;
mod groups;
mod homes;
mod insertions;
mod lease;
mod leases;
mod link_ids;
mod link_list;
mod links;
mod list_range;
mod membership;
mod migrations;
mod named_links;
mod open_error;
mod opener;
mod options;
mod page_content;
mod pipeline;
mod pixels;
mod places;
mod published_links;
mod reader;
mod remembered_answers;
mod request_counts;
mod rows;
mod schema;
mod search;
mod search_index;
mod server_address;
mod server_error;
mod shared_error;
mod some_links;
mod statement;
mod store;
mod suspicions;
mod taken_addresses;
mod trust;
mod unit_of_work;
mod visit_answers;
mod visits;

pub use connection_url::url_without_secrets;
pub use migrations::{migrate, migrate_within, pending_migrations};
pub use open_error::OpenError;
pub use options::PostgresOptions;
pub use server_address::check_url;
pub use store::PostgresStore;
