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
//! Redis should run with `maxmemory-policy noeviction`; an evicted key is a window that begins anew. What survives a
//! crash of Redis is a matter of its own persistence settings. A deleted account's keys go when they expire.
//!
//! # Whose clock
//!
//! The caller's: it names the instant, as for every quota store, and a node computes what it answers about the windows
//! from the same instant. Redis' own clock measures how long a key is kept, and nothing else. Where the clocks of two
//! nodes differ by some seconds, a request near the end of a minute counts in that minute on one node and in the next
//! on the other. Counts belong to the window that was named, so no window ever admits more than its limit, whatever
//! the skew.
//!
//! # The connection
//!
//! One connection, shared by all requests, which are sent one after the other without waiting for answers; to each
//! node of a cluster likewise. It is made when it is first needed, so a program starts without its Redis, and made
//! anew after a failure, without a wait. No call takes longer than [`RedisOptions::time_limit`], connecting included.
//! A call is never repeated unless it is certain that it counted nothing; only a cluster's client may send a request
//! again after a connection broke, which may count it twice, never not at all.
//!
//! What to do while Redis is away is not decided here: `signpost-quota-fallback` stands before this store and decides
//! from memory (D19).

mod connection;
mod failure;
mod options;
mod quota;
mod url;

pub use options::RedisOptions;
pub use quota::{RedisOpenError, RedisQuotaStore};
pub use url::{RedisUrl, RedisUrlError};
