//! Signpost's quota store on Redis: what many nodes count together.
//!
//! # What is stored
//!
//! One hash for each account and day, `signpost:quota:{acc_…}:2026-01-31`, with the field `day` and one field for each
//! minute of the day in which a request was admitted, named by its number (0 to 1439). Everything that one decision
//! needs is one key, so it is atomic on a Redis Cluster too; the braces keep whatever else an account may get one day
//! in the same slot. A request is one Lua script in one round trip: `EVALSHA`, or `EVAL` where the server does not know
//! the script yet. A key expires 72 hours after it was made, which is two days after its day at the earliest.
//!
//! Where a node merged what it had counted alone, one more field, `from:` and the random name of its count, has how
//! much of it is in the count of the window. A merge that is repeated, by a node that had no answer or by a cluster's
//! client, adds nothing.
//!
//! The hash `signpost:quota:name` has a random name of all these counts. It is lost when they are, and that is how a
//! node learns of it. On a cluster it is on one of the nodes and tells of that one alone.
//!
//! Redis should run with `maxmemory-policy noeviction`; an evicted key is a window that begins anew. What survives a
//! crash of Redis is a matter of its own persistence settings. A deleted account's keys go when they expire.
//!
//! # Whose clock
//!
//! The caller's, and no other: it names the instant, as for every quota store, and a node computes what it answers
//! about the windows from the same instant. Redis' own clock measures how long a key is kept, and decides nothing.
//!
//! Where the clocks of two nodes differ by some seconds, a request near the end of a minute counts in that minute on
//! one node and in the next on the other. Counts belong to the window that was named, so no window ever admits more
//! than its limit, whatever the skew; but for as long as the clocks differ, what the one calls the old minute and the
//! other the new one can both be spent. Whenever the store is tried, which health checks do, the node's clock is
//! compared with Redis' `TIME` in the same round trip. If they differ by more than a second, a warning says so, once a
//! minute at most. A user of Redis that may not run `TIME` goes without.
//!
//! # The connection
//!
//! One connection for each tokio runtime that asks, shared by its requests, which are sent one after the other without waiting
//! for answers; to each node of a cluster likewise. It ends with its runtime. It is made when it is first needed, so a program starts without its Redis, and made
//! anew after a failure, without a wait. No call takes longer than [`RedisOptions::time_limit`], waiting for the
//! connection included; the connection itself has twice as long to be made, and is there for the next call if nobody
//! waits any more. A connection on which nothing comes back fails as well, also if every caller leaves before the time
//! limit: after two calls in a row that waited for 40 ms or more while nothing else was answered. The connections to
//! a cluster are made anew after three failures in a row without an answer from any of its nodes; where one node of
//! them is silent, its connection is closed when the kernel gives it up.
//!
//! A request that was sent is not sent again unless it is certain that it counted nothing; only a cluster's client may
//! do so after a connection broke, which may count it twice, never not at all.
//!
//! What to do while Redis is away is not decided here: `signpost-quota-fallback` stands before this store and decides
//! from memory (D19).

mod clock_comparison;
mod connection;
mod failure;
mod options;
mod quota;
mod url;

pub use options::RedisOptions;
pub use quota::{RedisOpenError, RedisQuotaStore};
pub use url::{RedisUrl, RedisUrlError};
