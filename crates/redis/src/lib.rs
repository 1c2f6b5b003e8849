//! Signpost's quota store on Redis: the request counts that many nodes share.
//!
//! # Data
//!
//! Each account and day has one hash, `signpost:quota:{acc_…}:2026-01-31`. It has the field `day` and a field for each
//! minute with an admitted request, named by its number (0 to 1439). One decision needs a single key, so it is atomic on a
//! Redis Cluster too. The braces keep any further data of an account in the same slot. A request is one Lua script in one
//! round trip: `EVALSHA`, or `EVAL` if the server has not cached the script. A key expires 72 hours after it was created, at
//! least two days after the end of its day.
//!
//! The field `from:` plus the random name of a node's count says how many of the node's own counts are
//! already merged. A repeated merge, by a node without an answer or by a cluster's client, adds nothing.
//!
//! The hash `signpost:quota:name` has a random name for all these counts. It is lost together with the counts, which tells a
//! node about the loss. In a cluster it lives on one node and covers only that node.
//!
//! Redis should run with `maxmemory-policy noeviction`; an evicted key is a window that starts from zero. Redis' persistence
//! settings decide what survives its crash. A deleted account's keys expire like all others.
//!
//! # Clocks
//!
//! Only the caller's clock matters. It names the instant, as for every quota store, and a node computes its
//! answers about the windows from the same instant. Redis' own clock only decides when keys expire.
//!
//! If the clocks of two nodes differ by some seconds, one may count a request near the end of a minute in the
//! next minute. A window never admits more than its limit, with any skew. But while the clocks differ, both
//! minutes' budgets can be spent. Whenever the store is tried, as health checks do, the node's clock is
//! compared with Redis' `TIME` in the same round trip. If they differ by more than a second, a warning is
//! logged at most once a minute. A Redis user without permission for `TIME` gets no comparison.
//!
//! # The connection
//!
//! Each calling tokio runtime has one connection, or one to each node of a cluster. Its requests are pipelined on that
//! connection, which ends with the runtime. It is opened on first use, so a program starts without its Redis, and reopened
//! at once after a failure.
//!
//! No call takes longer than [`RedisOptions::time_limit`], waiting for the connection included. Opening may
//! take twice as long, and the connection then serves the next call. A silent connection fails as well, even
//! if every caller leaves before the time limit. It fails after two calls in a row that waited 40 ms or more
//! while no other answer came. Connections to a cluster are reopened after three failures in a row without an
//! answer from any node. If a single node is silent, the kernel closes its connection.
//!
//! A sent request is only repeated if it certainly counted nothing. The exception is a cluster's client after a broken
//! connection, where a request may count twice but never zero times.
//!
//! Falling back while Redis is unavailable is not handled here: `signpost-quota-fallback` wraps this store and decides from
//! memory (D19).

mod clock_comparison;
mod connection;
mod failure;
mod quota;
mod url;

pub use quota::{RedisOpenError, RedisOptions, RedisQuotaStore};
pub use url::{RedisUrl, RedisUrlError};
