//! Counting requests while the quota store is unavailable (D19).
//!
//! [`FallbackQuotaStore`] wraps a quota store that can fail while everything else works. It may be a store
//! that nodes share over a network, or the embedded one on a full disk. It waits for that store for at most
//! 50 ms, or half a second for a disk ([`FallbackOptions::for_disk`]). Without an answer it decides from this
//! node's memory. So no request fails or waits long because of a missing count.
//!
//! # Admission during an outage
//!
//! For each account and window, the memory holds how many admitted requests this node *knows* of. That is the
//! count in the store's last answer, plus the requests that the node admitted alone since. The memory is also
//! updated while the store works, so an outage starts with the last count instead of zero. Each node admits
//! alone at most what was left then, so N nodes admit at most N times the limit in any window.
//!
//! A store that cannot be written can often still be read ([`StoreError::Unwritable`](signpost_app::ports::StoreError)). For
//! an account without counts in memory, it is then read once for each window. So a full disk admits no more than the limit,
//! even after a restart.
//!
//! # Outage and recovery
//!
//! 1. After a failure, the request is decided from memory, and the next one asks the store again. A background task starts,
//!    which tries a write without effect every second, because a read-only store is useless.
//! 2. After five failures in a row, requests no longer ask the store and cost only memory.
//! 3. When the task's write succeeds, this node's own counts are merged into the store. If the store has lost its counts,
//!    all known counts of the running windows are merged. Then requests ask the store again, and the task ends when nothing is
//!    left to merge.
//!
//! The first request starts the task too. It learns the name of the store's counts: a different name later means that they
//! were lost. In a store with several parts, the name covers only one part. So an answer below the store's earlier count
//! also triggers a merge of that window, without any failure.
//!
//! If part of a cluster is down, memory decides about the accounts of that part, each time after up to 50 ms.
//! The store decides about all others. If the task panics or its runtime ends, the next request starts
//! another one.
//!
//! # Counting once
//!
//! A merge without an answer may or may not have taken effect. So a node does not send a number to add, but the total that
//! it has admitted alone, and the store adds the difference. The total has a unique name, which differs from those of other
//! processes and from that of the same window after it was dropped here.
//!
//! An answer that comes after the 50 ms is awaited for another second. Meanwhile the request
//! counts on this node only. It is merged later only if the store turns out not to have counted it. If the answer is lost,
//! the request is merged: it may count twice, but never goes uncounted. Errors about corrupt data belong to one account and do not count towards the five failures.
//!
//! # Bounds
//!
//! Counts of minutes are kept for an hour, and counts of days for three days. Beyond a million of either, the oldest are
//! dropped. If the clock steps back further during an outage, those minutes start from zero again.
//!
//! # Monitoring
//!
//! The gauge `signpost_quota_store_up` is 1 while the store is asked and 0 while it is not. The counter
//! `signpost_quota_fallback_total` counts the requests decided from memory. A warning reports an outage at once and then
//! once a minute while it lasts. Another line reports that the store is asked again.

mod local_counts;
mod recovery;
mod report;
mod store;

pub use store::{FallbackOptions, FallbackQuotaStore};
