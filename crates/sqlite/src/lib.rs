//! Signpost's store on an embedded SQLite file: every port that keeps something, without a server beside it.
//!
//! # The threads
//!
//! SQLite's calls block, and a transaction belongs to a connection. So neither is ever near a task that may be
//! cancelled: connections live on threads of this crate, and async code sends them work over channels.
//!
//! - **One thread writes.** It takes units of work in turn. A unit of work is a channel of steps, each a closure that
//!   runs within `BEGIN IMMEDIATE … COMMIT`. When the channel closes without a commit, because the unit was dropped or
//!   its task was cancelled, the thread rolls back; when the unit stays open beyond the time limit, too. Between units
//!   of work the thread counts requests for the quota, all that wait in one transaction.
//! - **Some threads read**, each on a connection that SQLite itself forbids to write. The log is written ahead, so they
//!   see the last commit, and neither wait for the writer nor keep it waiting.
//!
//! No caller waits longer than the time limit (D6), and what a caller has given up is not begun. Reads, and requests to
//! be counted, are refused at once where too many wait already; a unit of work waits for its turn in the task that wants
//! it. A statement that has begun cannot be interrupted from outside, since diesel does not offer that; but all
//! statements are short, being single ranges of an index or a bounded number of rows found by their ids, except two
//! kinds: a search reads what an index of texts names, or an account's whole list if it is for one or two characters, and
//! a list with several filters reads the range that one of them chooses. A search looks at the
//! clock for each row and stops at its caller's time limit. Both have no more than half the threads, so that they do not
//! keep the other reads waiting. What touches any number of links, deleting an account, a group or a custom domain, is
//! done by the use cases some thousands of links at a time, each in a unit of work of its own.
//!
//! A panic in a job costs the connection and not the thread: the connection is closed, which undoes its transaction,
//! and the next job gets a new one.
//!
//! # What survives what
//!
//! A unit of work whose commit returned `Ok` survives a crash of the process and of the machine: the log is flushed to
//! the disk first. The counts of requests survive a crash of the process; a loss of power may take back the last
//! moments of them, which is the price of not waiting for the disk on every single request.
//!
//! # Other processes
//!
//! Several processes may use one file at once, such as a server and the command line: each has threads of its own, and
//! SQLite's locks keep them apart. Not so on a network file system, where those locks cannot be relied on.
//!
//! Statistics for SQLite's planner are deliberately never gathered: without them its plans depend on the schema alone,
//! so those that the tests have seen are those that run.

mod accounts;
mod admissions;
mod answer;
mod backup;
mod change_log;
mod clicks;
mod columns;
mod connection;
mod counters;
mod custom_domains;
mod database_file;
mod deadline;
mod domain_checks;
mod failure;
mod free_space;
mod group_counts;
mod groups;
mod insertions;
mod job_queue;
mod leases;
mod link_ids;
mod link_list;
mod links;
mod merged_counts;
mod migrations;
mod named_links;
mod open_error;
mod options;
mod pages;
mod pixels;
mod priority;
mod published_links;
mod readers;
mod remembered_answers;
mod request_counts;
mod rows;
mod schema;
mod search;
mod search_index;
mod search_order;
mod session;
mod some_links;
mod store;
mod taken_addresses;
mod unit_of_work;
mod visits;
mod write_check;
mod writer;

pub use backup::{Backup, BackupError, back_up, back_up_clicks};
pub use clicks::SqliteClickStore;
pub use database_file::DatabaseFile;
pub use migrations::{migrate, pending_migrations};
pub use open_error::OpenError;
pub use options::SqliteOptions;
pub use store::SqliteStore;
