//! Signpost's store on an embedded SQLite file. It implements every port that stores data for one node, without a server.
//!
//! # The threads
//!
//! SQLite's calls block, and a transaction belongs to a connection. So both stay away from tasks that may be cancelled:
//! connections live on threads of this crate, and async code sends them work over channels.
//!
//! - **One thread writes.** It runs units of work one after the other. A unit of work is a channel of steps,
//!   closures that run between `BEGIN IMMEDIATE` and `COMMIT`. The thread rolls back if the channel closes
//!   without a commit, because the unit was dropped or its task cancelled. It also rolls back a unit that
//!   stays open beyond the time limit. Between units of work it counts requests for the quota, all waiting
//!   ones in one transaction.
//! - **Some threads read**, each on a connection on which SQLite forbids writing. With write-ahead logging they see the last
//!   commit and neither wait for the writer nor block it.
//!
//! No caller waits longer than the time limit (D6), and abandoned work is not started. Reads and requests to count are
//! rejected at once if too many wait. A unit of work waits for its turn in the task of its caller.
//!
//! A running statement cannot be interrupted from outside, because Diesel does not offer that. But almost all statements are
//! short: a single range of an index, or a bounded number of rows found by id. There are two exceptions. A search reads the
//! rows that the text index returns, or an account's whole list for one or two characters. A list with several filters reads
//! the range that one of them selects. A search checks the clock for each row and stops at its caller's time limit. Both use
//! at most half of the threads, so that other reads proceed.
//!
//! Use cases may touch any number of links, such as deleting an account, a group or a custom domain. They
//! take a few thousand links at a time, in separate units of work.
//!
//! After a panic in a job, the thread lives on but its connection is closed, which rolls its transaction back. The next job
//! gets a new connection.
//!
//! # Durability
//!
//! A unit of work whose commit returned `Ok` survives a crash of the process and of the machine: the log is flushed to disk
//! first. Request counts survive a crash of the process. A power failure may lose their last moments: the price of not
//! waiting for the disk on every request.
//!
//! # Other processes
//!
//! Several processes may use one file at once, such as a server and the command line. Each has its own
//! threads, and SQLite's locks separate them. Network file systems are not supported, because their locks are
//! unreliable.
//!
//! Planner statistics are deliberately never gathered: without them, plans depend on the schema alone, so the plans in
//! production are those of the tests.

mod accounts;
mod admissions;
mod answer;
mod audit_search;
mod backup;
mod certificate_work;
mod certificates;
mod change_log;
mod changed_links;
mod click_credits;
mod clicks;
mod columns;
mod connection;
mod counters;
mod custom_domains;
mod database_file;
mod deadline;
mod domain_checks;
mod external_ids;
mod failure;
mod file_watch;
mod free_space;
mod group_counts;
mod groups;
mod identities;
mod insertions;
mod job_queue;
mod leases;
mod link_batches;
mod link_ids;
mod link_list;
mod link_passwords;
mod links;
mod logged_changes;
mod merged_counts;
mod migrations;
mod named_links;
mod new_answer;
mod open_error;
mod options;
mod order_events;
mod page_content;
mod people;
mod people_upkeep;
mod people_writes;
mod pixels;
mod published_links;
mod published_sites;
mod quota_store;
mod readers;
mod remembered_answers;
mod request_counts;
mod restore;
mod schema;
mod sealed_secrets;
mod search;
mod search_index;
mod search_order;
mod session;
mod snapshot;
mod sql_errors;
mod store;
mod tagged_links;
mod tags;
mod taken_addresses;
mod target_hosts;
mod unit_of_work;
mod upgrade_copies;
mod visits;
mod write_check;
mod writer;

pub use backup::{Backup, BackupError, back_up, back_up_with_clicks};
pub use clicks::SqliteClickStore;
pub use database_file::DatabaseFile;
pub use migrations::{migrate, pending_migrations};
pub use open_error::OpenError;
pub use options::SqliteOptions;
pub use restore::{Restoration, RestoreError, Restored, restore_before};
pub use signpost_click_store::{DiskSpace, FreeSpace};
pub use store::SqliteStore;
pub use upgrade_copies::{
    UpgradeCopy, UpgradeCopyError, copies_before_upgrades, copy_before_upgrade, upgrade_to_undo,
};
