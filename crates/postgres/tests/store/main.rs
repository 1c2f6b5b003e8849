//! Tests of what only the PostgreSQL store has: connections, migrations, constraints. The contract suites test what all
//! stores share.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]
#![allow(clippy::disallowed_methods, reason = "the store itself is tested, without use cases")]

mod changes;
mod clicks;
mod clocks;
mod concurrency;
mod constraints;
mod corrupt_rows;
mod custom_domains;
mod database;
mod deadlines;
mod lent_connections;
mod migrating;
mod migrations_in_use;
mod neighbours;
mod older_search_keys;
mod older_target_hosts;
mod opening;
mod own_connections;
mod people;
mod pixels;
mod proxy;
mod remembered_answers;
mod search_index;
mod taken_addresses;
mod time_limits;
mod visits;
