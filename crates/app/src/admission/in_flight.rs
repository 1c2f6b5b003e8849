//! How much of one account a node works on at the same time.
//!
//! A quota counts how many requests begin in a minute, and not how long they take: an account with slow requests could hold
//! every connection to the store while it stays within its budget. So what an account has in flight on a node is bounded,
//! and its searches, which are the slow ones, more tightly (R46).

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use signpost_domain::AccountId;

const SHARDS: usize = 16;

/// How much of one account is in flight on this node at most; 0 is any number.
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

/// What is counted.
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

/// Only accounts that have something in flight.
type Shard = Mutex<HashMap<AccountId, Counts>>;

/// Counts what each account has in flight. An account without anything takes no memory.
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

    /// Room for a request of the account, until the permit is dropped; `None` if it has as many in flight as it may.
    pub(super) fn request(self: &Arc<Self>, account: AccountId) -> Option<RequestPermit> {
        let place = self.take(account, Kind::Request, self.bounds.requests)?;
        Some(RequestPermit { place: Arc::new(place) })
    }

    fn take(self: &Arc<Self>, account: AccountId, kind: Kind, most: u32) -> Option<Place> {
        let mut shard = self.shard(account);
        let counts = shard.entry(account).or_default();
        let count = counts.of(kind);
        if most > 0 && *count >= most {
            return None;
        }
        *count = count.saturating_add(1);
        Some(Place { table: Arc::clone(self), account, kind })
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

/// One of the places of an account, which is free again when this is dropped.
#[derive(Debug)]
struct Place {
    table: Arc<InFlight>,
    account: AccountId,
    kind: Kind,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.table.give_back(self.account, self.kind);
    }
}

/// A request is in flight until this and its clones are dropped: when it was answered, and also when nobody waits for the
/// answer any more.
#[derive(Debug, Clone)]
pub(crate) struct RequestPermit {
    place: Arc<Place>,
}

impl RequestPermit {
    /// Room for the request to search, until the permit is dropped; `None` if the account has as many searches in flight as
    /// it may.
    pub(crate) fn search(&self) -> Option<SearchPermit> {
        let Place { table, account, kind: _ } = self.place.as_ref();
        let place = table.take(*account, Kind::Search, table.bounds.searches)?;
        Some(SearchPermit { _place: place })
    }
}

/// A search is in flight until this is dropped.
#[derive(Debug)]
#[must_use = "dropping it ends the search"]
pub struct SearchPermit {
    _place: Place,
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
        assert!(table.request(account(2)).is_some(), "another account has places of its own");
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
    fn a_request_is_in_flight_until_its_last_clone_is_dropped() {
        let table = table(AccountBounds { requests: 1, searches: 1 });
        let permit = table.request(account(1)).unwrap();
        let clone = permit.clone();
        drop(permit);
        assert!(table.request(account(1)).is_none());
        drop(clone);
        assert!(table.request(account(1)).is_some());
    }

    #[test]
    fn an_account_without_a_request_in_flight_takes_no_memory() {
        let table = table(BOUNDS);
        let held: Vec<_> = (0..200).map(|number| table.request(account(number)).unwrap()).collect();
        let searches: Vec<_> = held.iter().map(|permit| permit.search().unwrap()).collect();
        assert!(held.iter().all(|permit| permit.search().is_none()), "what is refused is not counted");
        assert_eq!(accounts_in(&table), 200);
        drop(held);
        assert_eq!(accounts_in(&table), 200, "the searches still run");
        drop(searches);
        assert_eq!(accounts_in(&table), 0);
    }

    #[test]
    fn zero_is_no_bound() {
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
