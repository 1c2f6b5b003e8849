//! Bounds on the requests and searches that one account has in flight on a node (R46).
//!
//! A quota counts how many requests begin in a minute, but not how long they take. An account with slow requests could hold
//! every connection to the store and stay within its budget. So its requests in flight are bounded, and its searches, which
//! are slow, have a lower bound.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use signpost_domain::AccountId;

const SHARDS: usize = 16;

/// What one account may have in flight on this node. 0 means any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountBounds {
    /// Requests, searches included.
    pub requests: u32,
    /// Searches.
    pub searches: u32,
}

impl AccountBounds {
    /// No bounds.
    pub const NONE: Self = Self { requests: 0, searches: 0 };
}

impl Default for AccountBounds {
    fn default() -> Self {
        Self { requests: 64, searches: 8 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Request,
    Search,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    requests: u32,
    searches: u32,
}

impl Counts {
    const fn of(&mut self, kind: Kind) -> &mut u32 {
        match kind {
            Kind::Request => &mut self.requests,
            Kind::Search => &mut self.searches,
        }
    }
}

/// The accounts that have something in flight.
type Shard = Mutex<HashMap<AccountId, Counts>>;

/// Counts what each account has in flight. An account with nothing in flight takes no memory.
#[derive(Debug)]
pub(crate) struct InFlight {
    bounds: AccountBounds,
    shards: [Shard; SHARDS],
    hasher: RandomState,
}

impl InFlight {
    pub(super) fn new(bounds: AccountBounds) -> Self {
        Self { bounds, shards: std::array::from_fn(|_| Mutex::default()), hasher: RandomState::new() }
    }

    /// Admits a request of the account until the permit is dropped. `None` if the account has reached its bound.
    pub(super) fn request(self: &Arc<Self>, account: AccountId) -> Option<RequestPermit> {
        let slot = self.take(account, Kind::Request, self.bounds.requests)?;
        Some(RequestPermit { slot: Arc::new(slot) })
    }

    fn take(self: &Arc<Self>, account: AccountId, kind: Kind, most: u32) -> Option<Slot> {
        let mut shard = self.shard(account);
        let counts = shard.entry(account).or_default();
        let count = counts.of(kind);
        if most > 0 && *count >= most {
            return None;
        }
        *count = count.saturating_add(1);
        Some(Slot { table: Arc::clone(self), account, kind })
    }

    fn give_back(&self, account: AccountId, kind: Kind) {
        let mut shard = self.shard(account);
        let Some(counts) = shard.get_mut(&account) else { return };
        let count = counts.of(kind);
        *count = count.saturating_sub(1);
        if *counts == Counts::default() {
            shard.remove(&account);
        }
    }

    fn shard(&self, account: AccountId) -> MutexGuard<'_, HashMap<AccountId, Counts>> {
        let position = usize::try_from(self.hasher.hash_one(account) >> 32).unwrap_or_default() % SHARDS;
        let [first, ..] = &self.shards;
        self.shards.get(position).unwrap_or(first).lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One slot of an account. Dropping it frees the slot.
#[derive(Debug)]
struct Slot {
    table: Arc<InFlight>,
    account: AccountId,
    kind: Kind,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.table.give_back(self.account, self.kind);
    }
}

/// A request is in flight until this permit and all its clones are dropped, which is after the last byte of the answer.
#[derive(Debug, Clone)]
pub(crate) struct RequestPermit {
    slot: Arc<Slot>,
}

impl RequestPermit {
    /// Admits a search of this request until the permit is dropped. `None` if the account has reached its bound.
    pub(crate) fn search(&self) -> Option<SearchPermit> {
        let Slot { table, account, kind: _ } = self.slot.as_ref();
        let slot = table.take(*account, Kind::Search, table.bounds.searches)?;
        Some(SearchPermit { _slot: slot })
    }
}

/// A search is in flight until this permit is dropped.
#[derive(Debug)]
#[must_use = "dropping it ends the search"]
pub struct SearchPermit {
    _slot: Slot,
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: AccountBounds = AccountBounds { requests: 3, searches: 1 };

    fn account(number: u8) -> AccountId {
        AccountId::from_bytes([number; 16])
    }

    fn table(bounds: AccountBounds) -> Arc<InFlight> {
        Arc::new(InFlight::new(bounds))
    }

    fn accounts_in(table: &InFlight) -> usize {
        table.shards.iter().map(|shard| shard.lock().unwrap().len()).sum()
    }

    #[test]
    fn r46_an_account_has_a_bound_on_requests_in_flight() {
        let table = table(BOUNDS);
        let mut held: Vec<_> = (0..3).map(|_| table.request(account(1)).unwrap()).collect();
        assert!(table.request(account(1)).is_none());
        assert!(table.request(account(2)).is_some(), "another account has a bound of its own");
        held.pop();
        assert!(table.request(account(1)).is_some());
    }

    #[test]
    fn r46_an_account_has_a_smaller_bound_on_searches_in_flight() {
        let table = table(BOUNDS);
        let (one, other) = (table.request(account(1)).unwrap(), table.request(account(1)).unwrap());
        let search = one.search().unwrap();
        assert!(one.search().is_none() && other.search().is_none());
        let elsewhere = table.request(account(2)).unwrap();
        assert!(elsewhere.search().is_some());
        drop(search);
        assert!(other.search().is_some());
    }

    #[test]
    fn r46_a_request_is_in_flight_until_its_last_clone_is_dropped() {
        let table = table(AccountBounds { requests: 1, searches: 1 });
        let permit = table.request(account(1)).unwrap();
        let clone = permit.clone();
        drop(permit);
        assert!(table.request(account(1)).is_none());
        drop(clone);
        assert!(table.request(account(1)).is_some());
    }

    #[test]
    fn r46_an_account_with_nothing_in_flight_takes_no_memory() {
        let table = table(BOUNDS);
        let held: Vec<_> = (0..200).map(|number| table.request(account(number)).unwrap()).collect();
        let searches: Vec<_> = held.iter().map(|permit| permit.search().unwrap()).collect();
        assert!(held.iter().all(|permit| permit.search().is_none()), "refused searches are not counted");
        assert_eq!(accounts_in(&table), 200);
        drop(held);
        assert_eq!(accounts_in(&table), 200, "the searches still run");
        drop(searches);
        assert_eq!(accounts_in(&table), 0);
    }

    #[test]
    fn r46_zero_means_no_bound() {
        let table = table(AccountBounds::NONE);
        let held: Vec<_> = (0..1_000).map(|_| table.request(account(1)).unwrap()).collect();
        assert!(held.iter().map(RequestPermit::search).collect::<Option<Vec<_>>>().is_some());
    }

    #[test]
    fn r46_never_more_than_the_bound_are_in_flight_under_concurrency() {
        let table = table(BOUNDS);
        let most = std::sync::atomic::AtomicUsize::new(0);
        let running = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        let Some(permit) = table.request(account(1)) else { continue };
                        let now = running.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
                        most.fetch_max(now, std::sync::atomic::Ordering::SeqCst);
                        running.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        drop(permit);
                    }
                });
            }
        });
        assert!(most.into_inner() <= 3);
        assert_eq!(accounts_in(&table), 0);
    }
}
