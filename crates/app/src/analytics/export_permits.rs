//! Limiting how many exports run (D66).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use signpost_domain::AccountId;

/// The minimum time between the starts of two exports of an account.
const BETWEEN_STARTS: Duration = Duration::from_mins(1);

/// Gives out permits for exports on this node. An account without a recent export takes no memory.
#[derive(Debug, Clone)]
pub(super) struct ExportPermits {
    accounts: Arc<Mutex<HashMap<AccountId, LastExport>>>,
    at_once: usize,
}

#[derive(Debug, Clone, Copy)]
struct LastExport {
    started: Instant,
    is_running: bool,
}

/// An export counts as running until this permit is dropped.
#[derive(Debug)]
pub(super) struct ExportPermit {
    permits: ExportPermits,
    account: AccountId,
    /// Whether the account must wait before its next export.
    counts: bool,
}

/// Why an export may not begin now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoExport {
    /// The account began an export less than a minute ago, or one is still running.
    OfAccount {
        /// The value of `Retry-After`.
        retry_after_seconds: u32,
    },
    /// The node has reached its bound on exports.
    OfNode,
}

impl ExportPermits {
    pub(super) fn new(at_once: usize) -> Self {
        Self { accounts: Arc::default(), at_once: at_once.max(1) }
    }

    /// Gives a permit for an export that begins at `now`.
    pub(super) fn begin(&self, account: AccountId, now: Instant) -> Result<ExportPermit, NoExport> {
        let mut accounts = self.accounts();
        let rest =
            |last: &LastExport| BETWEEN_STARTS.saturating_sub(now.saturating_duration_since(last.started));
        accounts.retain(|_, last| last.is_running || !rest(last).is_zero());
        if let Some(last) = accounts.get(&account) {
            let seconds = rest(last).as_secs_f64().ceil().max(1.0);
            #[expect(
                clippy::as_conversions,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 1 to 60"
            )]
            return Err(NoExport::OfAccount { retry_after_seconds: seconds as u32 });
        }
        if accounts.values().filter(|last| last.is_running).count() >= self.at_once {
            return Err(NoExport::OfNode);
        }
        accounts.insert(account, LastExport { started: now, is_running: true });
        Ok(ExportPermit { permits: self.clone(), account, counts: true })
    }

    fn accounts(&self) -> MutexGuard<'_, HashMap<AccountId, LastExport>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ExportPermit {
    /// Ends an export that failed before it began, so that the account may try again at once.
    pub(super) fn give_back(mut self) {
        self.counts = false;
    }
}

impl Drop for ExportPermit {
    fn drop(&mut self) {
        let mut accounts = self.permits.accounts();
        if !self.counts {
            accounts.remove(&self.account);
        } else if let Some(last) = accounts.get_mut(&self.account) {
            last.is_running = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(number: u8) -> AccountId {
        AccountId::from_bytes([number; 16])
    }

    fn refused(seconds: u32) -> NoExport {
        NoExport::OfAccount { retry_after_seconds: seconds }
    }

    #[test]
    fn d66_an_account_runs_one_export_at_a_time_and_starts_one_a_minute() {
        let permits = ExportPermits::new(8);
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let running = permits.begin(account(1), start).unwrap();
        assert_eq!(permits.begin(account(1), after(0)).unwrap_err(), refused(60));
        assert_eq!(permits.begin(account(1), after(90_000)).unwrap_err(), refused(1), "it still runs");
        permits.begin(account(2), after(0)).unwrap();
        drop(running);
        assert_eq!(permits.begin(account(1), after(500)).unwrap_err(), refused(60));
        assert_eq!(permits.begin(account(1), after(59_001)).unwrap_err(), refused(1));
        permits.begin(account(1), after(60_000)).unwrap();
        assert_eq!(permits.accounts().len(), 1, "old entries are removed");
    }

    #[test]
    fn r46_a_node_bounds_its_running_exports() {
        let permits = ExportPermits::new(2);
        let now = Instant::now();
        let first = permits.begin(account(1), now).unwrap();
        let _second = permits.begin(account(2), now).unwrap();
        assert_eq!(permits.begin(account(3), now).unwrap_err(), NoExport::OfNode);
        drop(first);
        permits.begin(account(3), now).unwrap();
    }
}
