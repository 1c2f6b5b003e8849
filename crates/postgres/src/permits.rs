//! Admission to the connections: permits by purpose, so that no kind of caller waits for another kind.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use deadpool::managed::TimeoutType;
use signpost_app::pool_usage::Waiting;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::failure::{Failure, PoolError};
use crate::opener::Capacity;

/// The purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A short read for a request whose worker's shared reader is blocked.
    Read,
    /// A read for a request that may scan many rows.
    Search,
    /// A unit of work, or a single statement that changes rows.
    UnitOfWork,
    /// A look-up for a visitor.
    Visit,
    /// A health check.
    Check,
    /// The node's own background work.
    OwnWork,
    /// Appending clicks.
    ClickAppend,
    /// Packing, digesting, sealing or deleting clicks, and writing the search index.
    ClickUpkeep,
    /// A short question about clicks.
    ClickQuestion,
    /// A long question about clicks, or an export of clicks.
    LongClickQuestion,
}

/// The permits of each kind. A caller takes one permit of each kind that its purpose needs, and returns them when its
/// connection is returned or closed. So there are never more open connections than permits. Shared readers need no permits:
/// any number of reads share one connection.
pub(crate) struct Permits {
    /// Visitors, and all work of requests except shared short reads. Requests also need `long`, which has fewer permits, so
    /// some of these always remain for visitors.
    all: Arc<Semaphore>,
    /// Work that may take long: searches, and units of work, which may all wait for one row.
    long: Arc<Semaphore>,
    /// Searches.
    searches: Arc<Semaphore>,
    /// One for health checks, so that a busy store does not look like a broken one.
    checks: Arc<Semaphore>,
    /// One for the node's own work: under any load of requests it must learn of changes within a second (D58) and keep its
    /// leases.
    own_work: Arc<Semaphore>,
    /// One for appending clicks, independent of all other load.
    click_appends: Arc<Semaphore>,
    /// One for the upkeep of clicks and of the search index, which takes longer.
    click_upkeep: Arc<Semaphore>,
    /// Short questions about clicks: as many as are reserved for visitors, and at least two.
    click_questions: Arc<Semaphore>,
    /// As many long ones.
    long_click_questions: Arc<Semaphore>,
    counts: PermitCounts,
    /// Requests and visits that wait for a permit.
    waiting: Waiting,
    /// Callers with permits of their own that wait for one.
    own_waiting: Waiting,
}

/// How many permits there are of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PermitCounts {
    all: usize,
    long: usize,
    searches: usize,
    click_questions: usize,
    readers: usize,
}

impl PermitCounts {
    /// Splits `connections`, the number for requests: a quarter serves shared reads, and at most a quarter searches. Every
    /// kind has at least one, and visitors have at least one extra. Questions about clicks of each length have at least two, so
    /// that one account's question never waits for a single other.
    fn of(connections: usize) -> Self {
        let connections = connections.min(Semaphore::MAX_PERMITS / 2);
        let quarter = connections / 4;
        let (readers, long) = (quarter.max(1), connections.saturating_sub(quarter).max(1));
        let visits = (connections / 8).max(1);
        Self {
            all: long.saturating_add(visits),
            long,
            searches: quarter.clamp(1, long),
            click_questions: visits.max(2),
            readers,
        }
    }
}

impl Permits {
    pub(crate) fn new(connections: NonZeroUsize) -> Self {
        let counts = PermitCounts::of(connections.get());
        let PermitCounts { all, long, searches, click_questions, readers: _ } = counts;
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits));
        Self {
            all: semaphore(all),
            long: semaphore(long),
            searches: semaphore(searches),
            checks: semaphore(1),
            own_work: semaphore(1),
            click_appends: semaphore(1),
            click_upkeep: semaphore(1),
            click_questions: semaphore(click_questions),
            long_click_questions: semaphore(click_questions),
            counts,
            waiting: Waiting::default(),
            own_waiting: Waiting::default(),
        }
    }

    /// How many requests and visits wait for a permit.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.count()
    }

    /// How many callers with permits of their own wait for one.
    pub(crate) fn own_waiting(&self) -> usize {
        self.own_waiting.count()
    }

    /// The capacity for connections of requests and visitors, over all runtimes.
    pub(crate) fn capacity(&self) -> Capacity {
        Capacity::new(self.counts.all)
    }

    /// The capacity for connections with permits of their own: checks, own work, and the kinds for clicks.
    pub(crate) fn own_capacity(&self) -> Capacity {
        Capacity::new(self.counts.click_questions.saturating_mul(2).saturating_add(4))
    }

    /// How many shared readers the workers have.
    pub(crate) const fn readers(&self) -> usize {
        self.counts.readers
    }

    /// Takes a permit of each kind that the purpose needs, the scarcest kind first: a caller that waits for it holds nothing
    /// that others need.
    pub(crate) async fn take(&self, purpose: Purpose, until: Instant) -> Result<Permit, Failure> {
        let Self {
            all,
            long,
            searches,
            checks,
            own_work,
            click_appends,
            click_upkeep,
            click_questions,
            long_click_questions,
            counts: _,
            waiting,
            own_waiting,
        } = self;
        let kinds: &[&Arc<Semaphore>] = match purpose {
            Purpose::Read | Purpose::UnitOfWork => &[long, all],
            Purpose::Search => &[searches, long, all],
            Purpose::Visit => &[all],
            Purpose::Check => &[checks],
            Purpose::OwnWork => &[own_work],
            Purpose::ClickAppend => &[click_appends],
            Purpose::ClickUpkeep => &[click_upkeep],
            Purpose::ClickQuestion => &[click_questions],
            Purpose::LongClickQuestion => &[long_click_questions],
        };
        let waiting = match purpose {
            Purpose::Read | Purpose::UnitOfWork | Purpose::Search | Purpose::Visit => waiting,
            Purpose::Check
            | Purpose::OwnWork
            | Purpose::ClickAppend
            | Purpose::ClickUpkeep
            | Purpose::ClickQuestion
            | Purpose::LongClickQuestion => own_waiting,
        };
        let _waiting = waiting.enter();
        let mut permits = Vec::with_capacity(kinds.len());
        for kind in kinds {
            let waited = tokio::time::timeout_at(until.into(), Arc::clone(kind).acquire_owned()).await;
            let permit = waited.map_err(|_elapsed| PoolError::Timeout(TimeoutType::Wait))?;
            permits.push(permit.map_err(|_closed| PoolError::Closed)?);
        }
        Ok(Permit { _permits: permits })
    }
}

/// The permits that a lease holds until its connection is returned or closed.
#[derive(Debug)]
pub(crate) struct Permit {
    _permits: Vec<OwnedSemaphorePermit>,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt as _;

    use super::*;

    const PURPOSES: [Purpose; 10] = [
        Purpose::Read,
        Purpose::Search,
        Purpose::UnitOfWork,
        Purpose::Visit,
        Purpose::Check,
        Purpose::OwnWork,
        Purpose::ClickAppend,
        Purpose::ClickUpkeep,
        Purpose::ClickQuestion,
        Purpose::LongClickQuestion,
    ];

    /// All free permits of this purpose.
    async fn all_of(permits: &Permits, purpose: Purpose) -> Vec<Permit> {
        let mut taken = Vec::new();
        while let Ok(permit) = permits.take(purpose, Instant::now()).await {
            taken.push(permit);
        }
        taken
    }

    #[test]
    fn r46_eight_connections_are_six_for_work_two_of_which_search_and_two_readers() {
        let of = |all, long, searches, click_questions, readers| PermitCounts {
            all,
            long,
            searches,
            click_questions,
            readers,
        };
        assert_eq!(PermitCounts::of(8), of(7, 6, 2, 2, 2));
        assert_eq!(PermitCounts::of(16), of(14, 12, 4, 2, 4));
        assert_eq!(PermitCounts::of(1), of(2, 1, 1, 2, 1));
    }

    #[tokio::test]
    async fn r46_every_purpose_has_a_permit_with_any_number_of_connections() {
        for connections in (1..=20).chain([usize::MAX / 2, usize::MAX]) {
            let permits = Permits::new(NonZeroUsize::new(connections).unwrap());
            for purpose in PURPOSES {
                permits.take(purpose, Instant::now() + Duration::from_secs(1)).await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn r46_searches_leave_connections_to_every_other_purpose() {
        for connections in 2..=20 {
            let permits = Permits::new(NonZeroUsize::new(connections).unwrap());
            let searches = all_of(&permits, Purpose::Search).await;
            assert_eq!(searches.len(), (connections / 4).max(1));
            for purpose in PURPOSES.into_iter().filter(|purpose| *purpose != Purpose::Search) {
                permits.take(purpose, Instant::now()).await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn r46_click_questions_leave_connections_to_every_other_purpose() {
        for connections in 1..=20 {
            let permits = Permits::new(NonZeroUsize::new(connections).unwrap());
            let questions = all_of(&permits, Purpose::LongClickQuestion).await;
            assert_eq!(questions.len(), (connections / 8).max(2));
            for purpose in PURPOSES.into_iter().filter(|purpose| *purpose != Purpose::LongClickQuestion) {
                permits.take(purpose, Instant::now()).await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn r46_requests_leave_connections_to_visitors() {
        for connections in 1..=20 {
            let permits = Permits::new(NonZeroUsize::new(connections).unwrap());
            let mut taken = Vec::new();
            for purpose in [Purpose::Search, Purpose::UnitOfWork, Purpose::Read] {
                taken.extend(all_of(&permits, purpose).await);
            }
            assert_eq!(all_of(&permits, Purpose::Visit).await.len(), (connections / 8).max(1));
        }
    }

    #[tokio::test]
    async fn callers_that_wait_for_a_permit_are_counted_by_kind() {
        let permits = Permits::new(NonZeroUsize::MIN);
        let taken = permits.take(Purpose::Check, Instant::now()).await.unwrap();
        assert_eq!((permits.waiting(), permits.own_waiting()), (0, 0));
        let mut second = Box::pin(permits.take(Purpose::Check, Instant::now() + Duration::from_mins(1)));
        assert!((&mut second).now_or_never().is_none());
        assert_eq!((permits.waiting(), permits.own_waiting()), (0, 1));
        drop(taken);
        second.await.unwrap();
        assert_eq!(permits.own_waiting(), 0);
    }
}
