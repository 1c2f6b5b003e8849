//! Signpost's store on a PostgreSQL server. It implements every port that stores data, for any number of nodes.
//!
//! # Connections
//!
//! A pool of connections, each with server-side time limits. A read borrows a connection for one statement, a unit of work
//! for its whole life. Permits (`permits.rs`) leave some connections to short reads and some to visitors, and one each to
//! health checks and the node's own work. No caller waits longer than the time limit (D6). A statement of a cancelled
//! caller, or of one out of time, is cancelled on the server as well.
//!
//! A connection is never lent again if its transaction did not end cleanly, or after a failure that was not the server's
//! decision on values. A connection that was idle for a while is pinged first.
//!
//! # Concurrency
//!
//! Rows and indexes of the database decide, never earlier reads. A unique index decides on addresses. Counters and limits
//! are rows that stay locked until the transaction ends. All transactions are `READ COMMITTED`. PostgreSQL aborts
//! transactions that deadlock, and use cases retry them. The lock order makes this rare (see `unit_of_work.rs`).
//!
//! # Durability
//!
//! A unit of work whose commit returned `Ok` survives a crash of the program. It survives a crash of the
//! server as far as the server's settings promise that (`fsync`, `synchronous_commit`). Request counts
//! survive a crash of the program. A crash of the server may lose the most recent ones, since requests do not
//! wait for the disk to count.

mod account_deletion;
mod accounts;
mod audit_search;
mod cached_query;
mod capacity;
mod certificate_work;
mod certificates;
mod change_log;
mod changed_links;
mod click_credits;
mod clicks;
mod connecting;
mod connection_url;
mod connections;
mod counters;
mod custom_domains;
mod domain_checks;
mod domain_writes;
mod embedded_migrations;
mod external_ids;
mod failure;
mod group_counts;
mod groups;
mod identities;
mod inline_limit;
mod insertions;
mod lease;
mod leases;
mod link_batches;
mod link_ids;
mod link_list;
mod link_passwords;
mod link_tags;
mod links;
mod list_range;
mod logged_commit;
mod migrations;
mod named_links;
mod newest_rows;
mod node_reports;
mod open_error;
mod opener;
mod options;
mod order_events;
mod page_content;
mod people;
mod people_upkeep;
mod people_writes;
mod permits;
mod pixels;
mod pool_health;
mod published_links;
mod published_sites;
mod range_walk;
mod reader;
mod remembered_answers;
mod request_counts;
mod rows;
mod runtime_pools;
mod schema;
mod sealed_secrets;
mod search;
mod search_index;
mod server_address;
mod server_error;
mod shared_error;
mod statement;
mod store;
mod tagged_links;
mod tags;
mod taken_addresses;
mod target_host_migration;
mod target_hosts;
mod time_limit;
mod tls_roots;
mod unit_of_work;
mod visit_answers;
mod visits;

pub use capacity::{Capacity, capacity};
pub use connection_url::url_without_secrets;
pub use migrations::{migrate, migrate_within, pending_migrations};
pub use open_error::OpenError;
pub use options::PostgresOptions;
pub use server_address::check_url;
pub use store::PostgresStore;
