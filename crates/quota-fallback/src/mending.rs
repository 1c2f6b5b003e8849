//! The task that tries the store while it fails, and merges what was counted without it.

use std::sync::{Arc, Weak};

use futures_util::future::join_all;
use signpost_app::ports::{CountedElsewhere, StoreError};
use signpost_domain::{AccountId, QuotaWindow, Timestamp};
use tokio::time::{Instant, sleep_until, timeout};

use crate::known_counts::AccountWindow;
use crate::store::{Late, Shared};

/// No account has this identifier: it is that of the first instant, without a random bit.
const NOBODY: AccountId = AccountId::from_bytes([0; 16]);

/// How many counts are merged at once. A store over a network sends them in one go.
const AT_ONCE: usize = 64;

/// Starts the task. The caller has noted that it runs.
pub(crate) fn begin(shared: &Arc<Shared>) {
    let interval = shared.options.retry_interval;
    let weak = Arc::downgrade(shared);
    shared.runtime.spawn(async move {
        let mut next = Instant::now() + interval;
        loop {
            sleep_until(next).await;
            // A try that took longer than the interval does not make up for those it left out.
            next = next.max(Instant::now()) + interval;
            if is_done(&weak).await {
                return;
            }
        }
    });
}

/// One try. `true` if there is nothing left to do.
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
    let now = shared.state().now.unwrap_or(Timestamp::EPOCH);
    try_the_store(shared).await?;

    let counts = shared.state().known.missing_or_running(now);
    let merged = merge_all(shared, counts).await;
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
        let counts = {
            let mut state = shared.state();
            let missing = state.known.missing();
            if missing.is_empty() {
                state.is_mending = false;
                return Ok(());
            }
            missing
        };
        merge_all(shared, counts).await?;
    }
}

/// Writes nothing, in the name of nobody.
pub(crate) async fn try_the_store(shared: &Shared) -> Result<(), StoreError> {
    let now = shared.state().now.unwrap_or(Timestamp::EPOCH);
    let nowhere = AccountWindow { account: NOBODY, window: QuotaWindow::Minute, start: now };
    merge(shared, nowhere, CountedElsewhere::default()).await
}

/// Merges as many as can be, and gives the first error.
async fn merge_all(
    shared: &Shared,
    counts: Vec<(AccountWindow, CountedElsewhere)>,
) -> Result<(), StoreError> {
    let mut all = Ok(());
    for some in counts.chunks(AT_ONCE) {
        let merged = join_all(some.iter().map(|(window, counted)| merge(shared, *window, *counted))).await;
        all = merged.into_iter().fold(all, Result::and);
    }
    all
}

async fn merge(shared: &Shared, window: AccountWindow, counted: CountedElsewhere) -> Result<(), StoreError> {
    let AccountWindow { account, window: length, start } = window;
    let patience = shared.options.retry_patience;
    match timeout(patience, shared.store.merge(account, length, start, counted)).await {
        Ok(Ok(())) => {}
        // No later try would do better.
        Ok(Err(error @ StoreError::Corrupt { .. })) => shared.state().report.failed(&error),
        Ok(Err(error)) => return Err(error),
        Err(_elapsed) => return Err(StoreError::unavailable(Late(patience))),
    }
    shared.state().known.merged(window, counted.missing);
    Ok(())
}
