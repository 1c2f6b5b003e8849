//! The background task that tries a failing store, and merges the counts of the outage.

use std::sync::{Arc, Weak};

use futures_util::future::join_all;
use signpost_app::ports::{CountedElsewhere, StoreError};
use signpost_domain::Timestamp;
use tokio::time::{Instant, sleep_until, timeout};

use crate::local_counts::{AccountWindow, Selection, WINDOWS};
use crate::store::{Late, Shared};

/// How many counts are merged at once. A store over a network sends them together. The bound also limits how long requests
/// wait for the lock on the counts.
const AT_ONCE: usize = 64;

/// Records that no recovery task runs any more, even after a panic or the end of its runtime, so that the next request
/// starts another.
struct RecoveryRun {
    shared: Weak<Shared>,
    /// The end is recorded already. Another task may run by now.
    is_noted: bool,
}

impl RecoveryRun {
    fn end_noted(mut self) {
        self.is_noted = true;
    }
}

impl Drop for RecoveryRun {
    fn drop(&mut self) {
        if !self.is_noted
            && let Some(shared) = self.shared.upgrade()
        {
            shared.state().is_recovering = false;
        }
    }
}

/// Starts the task. The caller has recorded that it runs, and does not hold the state's lock: if the runtime has ended, the
/// task is dropped right here.
pub(crate) fn begin(shared: &Arc<Shared>) {
    let interval = shared.options.retry_interval;
    let run = RecoveryRun { shared: Arc::downgrade(shared), is_noted: false };
    shared.runtime.spawn(async move {
        let mut next = Instant::now() + interval;
        loop {
            sleep_until(next).await;
            // After a slow attempt, skipped ones are not made up for.
            next = next.max(Instant::now()) + interval;
            if is_done(&run.shared).await {
                run.end_noted();
                return;
            }
        }
    });
}

/// One attempt. Returns `true` if nothing is left to do, and records that.
async fn is_done(shared: &Weak<Shared>) -> bool {
    // The store was dropped, and the counts with it.
    let Some(shared) = shared.upgrade() else { return true };
    match recover(&shared).await {
        Ok(()) => true,
        Err(error) => {
            shared.state().report.failed(&error);
            false
        }
    }
}

/// Tries the store, and merges everything. From then on requests ask the store, even if some counts cannot be merged yet:
/// part of a cluster may be down.
async fn recover(shared: &Shared) -> Result<(), StoreError> {
    let patience = shared.options.retry_patience;
    match timeout(patience, try_the_store(shared)).await {
        Ok(tried) => tried?,
        Err(_elapsed) => return Err(StoreError::unavailable(Late(patience))),
    }
    let merged = merge_all(shared).await;
    {
        let mut state = shared.state();
        state.failures = 0;
        if state.is_alone {
            state.is_alone = false;
            state.report.returned();
        }
    }
    merged?;
    // Counts from requests decided from memory meanwhile. From here on these can only shrink, unless the store fails again.
    loop {
        {
            let mut state = shared.state();
            if state.known.is_merged() && !state.is_lost {
                state.is_recovering = false;
                return Ok(());
            }
        }
        merge_all(shared).await?;
    }
}

/// Makes a write without effect, and records whether the store has lost its counts.
pub(crate) async fn try_the_store(shared: &Shared) -> Result<(), StoreError> {
    let proposed = shared.state().known.name();
    match shared.store.try_write(proposed).await {
        Ok(name) => {
            let mut state = shared.state();
            let had = state.name.replace(name);
            if had.is_some_and(|had| had != name) {
                state.is_lost = true;
            }
            Ok(())
        }
        // The store is writable; foreign data is stored under that key.
        Err(error @ StoreError::Corrupt { .. }) => {
            shared.state().report.failed(&error);
            Ok(())
        }
        Err(error @ (StoreError::Unavailable(_) | StoreError::Unwritable(_) | StoreError::Contended)) => {
            Err(error)
        }
    }
}

/// Merges as many as possible, and returns the first error.
async fn merge_all(shared: &Shared) -> Result<(), StoreError> {
    let (is_lost, now) = {
        let mut state = shared.state();
        (std::mem::take(&mut state.is_lost), state.now.unwrap_or(Timestamp::EPOCH))
    };
    if is_lost {
        let all = merge_each(shared, Selection::Running(now)).await;
        if all.is_err() {
            shared.state().is_lost = true;
            return all;
        }
    }
    merge_each(shared, Selection::Unmerged).await
}

async fn merge_each(shared: &Shared, selection: Selection) -> Result<(), StoreError> {
    let mut all = Ok(());
    for window in WINDOWS {
        let mut last = None;
        loop {
            let some = shared.state().known.some(selection, window, last, AT_ONCE);
            let Some((next, _)) = some.last() else { break };
            last = Some(*next);
            let merging = some.into_iter().map(|(key, counted)| merge(shared, key, counted));
            all = join_all(merging).await.into_iter().fold(all, Result::and);
        }
    }
    all
}

async fn merge(shared: &Shared, key: AccountWindow, counted: CountedElsewhere) -> Result<(), StoreError> {
    let AccountWindow { account, window, start } = key;
    let CountedElsewhere { count: _, alone, merged: _, in_store: _ } = counted;
    let patience = shared.options.retry_patience;
    match timeout(patience, shared.store.merge(account, window, start, counted)).await {
        Ok(Ok(count)) => {
            shared.state().known.merged(key, alone, count);
            Ok(())
        }
        // A later attempt would fail too.
        Ok(Err(error @ StoreError::Corrupt { .. })) => {
            let mut state = shared.state();
            state.report.failed(&error);
            state.known.given_up(key, alone);
            Ok(())
        }
        Ok(Err(error @ (StoreError::Unavailable(_) | StoreError::Unwritable(_) | StoreError::Contended))) => {
            Err(error)
        }
        Err(_elapsed) => Err(StoreError::unavailable(Late(patience))),
    }
}
