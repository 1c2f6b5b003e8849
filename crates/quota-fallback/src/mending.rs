//! The task that tries the store while it fails, and merges what was counted without it.

use std::sync::{Arc, Weak};

use futures_util::future::join_all;
use signpost_app::ports::{CountedElsewhere, StoreError};
use signpost_domain::Timestamp;
use tokio::time::{Instant, sleep_until, timeout};

use crate::known_counts::{AccountWindow, WINDOWS, Which};
use crate::store::{Late, Shared};

/// How many counts are merged at once. A store over a network sends them in one go, and those that wait for the counts
/// to be looked up wait for no more.
const AT_ONCE: usize = 64;

/// Notes that no task mends any more, also if it panicked or its runtime has ended: the next request begins another.
struct Mending {
    shared: Weak<Shared>,
    /// It is noted already. By now another task may mend.
    is_noted: bool,
}

impl Mending {
    fn end_noted(mut self) {
        self.is_noted = true;
    }
}

impl Drop for Mending {
    fn drop(&mut self) {
        if !self.is_noted
            && let Some(shared) = self.shared.upgrade()
        {
            shared.state().is_mending = false;
        }
    }
}

/// Starts the task. The caller has noted that it runs, and does not hold the state: where the runtime has ended, the task
/// ends here.
pub(crate) fn begin(shared: &Arc<Shared>) {
    let interval = shared.options.retry_interval;
    let mending = Mending { shared: Arc::downgrade(shared), is_noted: false };
    shared.runtime.spawn(async move {
        let mut next = Instant::now() + interval;
        loop {
            sleep_until(next).await;
            // A try that took longer than the interval does not make up for those it left out.
            next = next.max(Instant::now()) + interval;
            if is_done(&mending.shared).await {
                mending.end_noted();
                return;
            }
        }
    });
}

/// One try. `true` if there is nothing left to do, which is noted then.
async fn is_done(shared: &Weak<Shared>) -> bool {
    // Whoever asked the store is gone, and with it the counts.
    let Some(shared) = shared.upgrade() else { return true };
    match mend(&shared).await {
        Ok(()) => true,
        Err(error) => {
            shared.state().report.failed(&error);
            false
        }
    }
}

/// Tries the store, and merges everything. From then on it is asked again, also where some of the counts cannot be
/// merged yet: it may be a cluster of which a part is away.
async fn mend(shared: &Shared) -> Result<(), StoreError> {
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
    // What was decided from memory while that went on. From here on it can only become less, unless the store fails
    // again.
    loop {
        {
            let mut state = shared.state();
            if state.known.is_merged() && !state.is_lost {
                state.is_mending = false;
                return Ok(());
            }
        }
        merge_all(shared).await?;
    }
}

/// Writes nothing that counts, and notes whether the store has lost what it counted.
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
        // It answers and takes writes; somebody else wrote there.
        Err(error @ StoreError::Corrupt { .. }) => {
            shared.state().report.failed(&error);
            Ok(())
        }
        Err(error @ (StoreError::Unavailable(_) | StoreError::Unwritable(_) | StoreError::Contended)) => {
            Err(error)
        }
    }
}

/// Merges as many as can be, and gives the first error.
async fn merge_all(shared: &Shared) -> Result<(), StoreError> {
    let (is_lost, now) = {
        let mut state = shared.state();
        (std::mem::take(&mut state.is_lost), state.now.unwrap_or(Timestamp::EPOCH))
    };
    if is_lost {
        let all = merge_each(shared, Which::Running(now)).await;
        if all.is_err() {
            shared.state().is_lost = true;
            return all;
        }
    }
    merge_each(shared, Which::Unmerged).await
}

async fn merge_each(shared: &Shared, which: Which) -> Result<(), StoreError> {
    let mut all = Ok(());
    for window in WINDOWS {
        let mut last = None;
        loop {
            let some = shared.state().known.some(which, window, last, AT_ONCE);
            let Some((next, _)) = some.last() else { break };
            last = Some(*next);
            let merging = some.into_iter().map(|(place, counted)| merge(shared, place, counted));
            all = join_all(merging).await.into_iter().fold(all, Result::and);
        }
    }
    all
}

async fn merge(shared: &Shared, place: AccountWindow, counted: CountedElsewhere) -> Result<(), StoreError> {
    let AccountWindow { account, window, start } = place;
    let CountedElsewhere { count: _, alone, merged: _, in_store: _ } = counted;
    let patience = shared.options.retry_patience;
    match timeout(patience, shared.store.merge(account, window, start, counted)).await {
        Ok(Ok(count)) => {
            shared.state().known.merged(place, alone, count);
            Ok(())
        }
        // No later try would do better.
        Ok(Err(error @ StoreError::Corrupt { .. })) => {
            let mut state = shared.state();
            state.report.failed(&error);
            state.known.given_up(place, alone);
            Ok(())
        }
        Ok(Err(error @ (StoreError::Unavailable(_) | StoreError::Unwritable(_) | StoreError::Contended))) => {
            Err(error)
        }
        Err(_elapsed) => Err(StoreError::unavailable(Late(patience))),
    }
}
