//! Counting requests while the store that counts them is away (D19).
//!
//! [`FallbackQuotaStore`] stands before a quota store that can fail while the rest works: one that nodes share over a
//! network, or the embedded one when its disk is full. It asks that store, and waits for 50 ms at most, or half a second
//! for a disk ([`FallbackOptions::for_disk`]); what comes to nothing it decides from this node's own memory. So no request
//! fails, and none waits long, because a count could not be had.
//!
//! # What is admitted meanwhile
//!
//! The memory holds, for each account and window, how many requests this node *knows* to have been admitted: the count
//! that the store's last answer implied, and what the node admitted alone since. It is kept while all is well, too, so
//! that an outage begins with the last count and not at zero. Each node admits by itself at most what was left then, so
//! N nodes admit at most N times the limit in any window.
//!
//! A store that cannot be written can often be read ([`StoreError::Unwritable`](signpost_app::ports::StoreError)). Of an
//! account that the memory knows nothing of, it is then read once for each window. So a full disk admits no more than
//! the limit, also after a restart.
//!
//! # How it goes and comes back
//!
//! 1. A failure: the request is decided from memory, and the next one asks the store again. A task begins that tries
//!    the store every second with a write that counts nothing, since a store that can only be read is of no use.
//! 2. Five failures in a row: the store is no longer asked, and requests cost nothing but memory.
//! 3. The task's try succeeds: what this node counted alone is merged into the store. If the store has lost its counts,
//!    all that are known of the running windows are merged, so that it learns them again. Then the store is asked
//!    again, and the task ends as soon as nothing is left to merge.
//!
//! The first request begins the task too, which learns the name of the store's counts: another name at a later try
//! means that they were lost. Of a store of several parts the name tells of one. So an answer that is below what the
//! store had said before the question has the account's window merged, too, and no failure is needed for that.
//!
//! Where the store is a cluster of which a part is away, the accounts of that part are decided from memory, each after
//! up to 50 ms, and the others by the store. A task that panics, or ends with its runtime, is begun anew by the next
//! request.
//!
//! # What is counted once
//!
//! Nobody knows whether a merge without an answer was done. So a node does not say what to add, but how many requests
//! it has admitted alone so far, and the store adds what is new. It says so under a name that no other count has: not
//! that of another process, nor that of the same window after it was forgotten here.
//!
//! An answer to a request that comes after the 50 ms is still listened to, for a second. Until it comes the request
//! counts here and is not merged; if the store counted it, it never is. Where an answer is lost for good nobody can
//! know; such a request is merged, so it may count twice and never goes uncounted. Answers about corrupt data are a
//! failure of one account and do not count towards the five.
//!
//! # Bounds
//!
//! Counts of minutes are remembered for an hour, those of days for three; beyond a million of either the oldest are
//! forgotten. A clock that steps back further while the store is away finds the minutes empty again.
//!
//! # How it shows
//!
//! The gauge `signpost_quota_store_up` is 1 while the store is asked and 0 while it is not. The counter
//! `signpost_quota_fallback_total` is the number of requests decided from memory. A warning says the same, at once and
//! then once a minute as long as it goes on; when the store is asked again, one more line says so.

mod known_counts;
mod mending;
mod report;
mod store;

pub use store::{FallbackOptions, FallbackQuotaStore};
