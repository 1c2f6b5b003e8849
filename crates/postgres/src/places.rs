//! Who may have a connection: of each kind of caller so many at once that none of them has to wait for another kind.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use deadpool::managed::TimeoutType;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::failure::Failure;
use crate::opener::{PoolError, Room};

/// What a connection is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read a few rows for a request whose worker's reader is held up.
    Read,
    /// To read that many rows for a request that it may take long.
    Search,
    /// For a unit of work, or to change some rows in one statement.
    UnitOfWork,
    /// To look up a link for a visitor.
    Visit,
    /// To see whether the store answers.
    Check,
    /// For what the node does by itself.
    OwnWork,
    /// To append clicks.
    ClickAppend,
    /// To pack, sum up, seal or delete clicks, and to write the index of searches.
    ClickUpkeep,
    /// To answer a question about clicks, or to export some.
    ClickQuestion,
}

/// Places, of which each caller needs one of each kind that its purpose asks for. They are given back when the connection
/// is, or when it is closed; so there are never more connections than places. Readers have no places: any number reads on one.
pub(crate) struct Places {
    /// Of visitors and of all that requests want but short reads. Visitors wait for nothing else, and some of these no request
    /// can take.
    all: Arc<Semaphore>,
    /// Of what may be at work for long: units of work, which may all wait for one row, and searches.
    long: Arc<Semaphore>,
    /// Of searches.
    searches: Arc<Semaphore>,
    /// One more, so that a store that is busy is not taken for one that is broken.
    checks: Arc<Semaphore>,
    /// And one for what the node does by itself: however many requests there are, it must learn of the others' changes
    /// within a second (D58), and keep the leases that it holds.
    own_work: Arc<Semaphore>,
    /// One to append clicks, whatever else is going on.
    click_appends: Arc<Semaphore>,
    /// One for the upkeep of clicks and of the index of searches, which takes longer.
    click_upkeep: Arc<Semaphore>,
    /// Of questions about clicks: as many as only visitors use.
    click_questions: Arc<Semaphore>,
    numbers: Numbers,
}

/// How many places there are of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Numbers {
    all: usize,
    long: usize,
    searches: usize,
    click_questions: usize,
    readers: usize,
}

impl Numbers {
    /// With so many connections for requests, a quarter of which workers read on, and a quarter of which may search. However
    /// few they are, there is one of each kind, and one more for visitors.
    fn of(connections: usize) -> Self {
        let connections = connections.min(Semaphore::MAX_PERMITS / 2);
        let quarter = connections / 4;
        let (readers, long) = (quarter.max(1), connections.saturating_sub(quarter).max(1));
        let visits = (connections / 8).max(1);
        Self {
            all: long.saturating_add(visits),
            long,
            searches: quarter.clamp(1, long),
            click_questions: visits,
            readers,
        }
    }
}

impl Places {
    pub(crate) fn new(connections: NonZeroUsize) -> Self {
        let numbers = Numbers::of(connections.get());
        let Numbers { all, long, searches, click_questions, readers: _ } = numbers;
        let semaphore = |places: usize| Arc::new(Semaphore::new(places));
        Self {
            all: semaphore(all),
            long: semaphore(long),
            searches: semaphore(searches),
            checks: semaphore(1),
            own_work: semaphore(1),
            click_appends: semaphore(1),
            click_upkeep: semaphore(1),
            click_questions: semaphore(click_questions),
            numbers,
        }
    }

    /// Room for the connections of requests and visitors, wherever they are opened.
    pub(crate) fn room(&self) -> Room {
        Room::new(self.numbers.all)
    }

    /// Room for the connections of what has places of its own: checks, own work, and the two for clicks.
    pub(crate) fn own_room(&self) -> Room {
        Room::new(self.numbers.click_questions.saturating_add(4))
    }

    /// How many connections workers read on.
    pub(crate) const fn readers(&self) -> usize {
        self.numbers.readers
    }

    /// Waits for a place of each kind that the purpose asks for. The scarcest comes first: who waits for it keeps nothing
    /// from others.
    pub(crate) async fn take(&self, purpose: Purpose, until: Instant) -> Result<Place, Failure> {
        let Self {
            all,
            long,
            searches,
            checks,
            own_work,
            click_appends,
            click_upkeep,
            click_questions,
            numbers: _,
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
        };
        let mut permits = Vec::with_capacity(kinds.len());
        for kind in kinds {
            let waited = tokio::time::timeout_at(until.into(), Arc::clone(kind).acquire_owned()).await;
            let permit = waited.map_err(|_elapsed| PoolError::Timeout(TimeoutType::Wait))?;
            permits.push(permit.map_err(|_closed| PoolError::Closed)?);
        }
        Ok(Place { _permits: permits })
    }
}

/// What a lease holds until its connection is given back or closed.
#[derive(Debug)]
pub(crate) struct Place {
    _permits: Vec<OwnedSemaphorePermit>,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const PURPOSES: [Purpose; 9] = [
        Purpose::Read,
        Purpose::Search,
        Purpose::UnitOfWork,
        Purpose::Visit,
        Purpose::Check,
        Purpose::OwnWork,
        Purpose::ClickAppend,
        Purpose::ClickUpkeep,
        Purpose::ClickQuestion,
    ];

    /// As many places of this purpose as there are.
    async fn all_of(places: &Places, purpose: Purpose) -> Vec<Place> {
        let mut taken = Vec::new();
        while let Ok(place) = places.take(purpose, Instant::now()).await {
            taken.push(place);
        }
        taken
    }

    #[test]
    fn r46_of_eight_connections_six_write_two_search_and_two_are_read_on() {
        let of = |all, long, searches, click_questions, readers| Numbers {
            all,
            long,
            searches,
            click_questions,
            readers,
        };
        assert_eq!(Numbers::of(8), of(7, 6, 2, 1, 2));
        assert_eq!(Numbers::of(16), of(14, 12, 4, 2, 4));
        assert_eq!(Numbers::of(1), of(2, 1, 1, 1, 1));
    }

    #[tokio::test]
    async fn r46_each_purpose_has_places_however_few_connections_there_are() {
        for connections in (1..=20).chain([usize::MAX / 2, usize::MAX]) {
            let places = Places::new(NonZeroUsize::new(connections).unwrap());
            for purpose in PURPOSES {
                places.take(purpose, Instant::now() + Duration::from_secs(1)).await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn r46_searches_keep_nobody_else_from_a_connection() {
        for connections in 2..=20 {
            let places = Places::new(NonZeroUsize::new(connections).unwrap());
            let searches = all_of(&places, Purpose::Search).await;
            assert_eq!(searches.len(), (connections / 4).max(1));
            for purpose in PURPOSES.into_iter().filter(|purpose| *purpose != Purpose::Search) {
                places.take(purpose, Instant::now()).await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn r46_questions_about_clicks_keep_nobody_else_from_a_connection() {
        for connections in 1..=20 {
            let places = Places::new(NonZeroUsize::new(connections).unwrap());
            let questions = all_of(&places, Purpose::ClickQuestion).await;
            assert_eq!(questions.len(), (connections / 8).max(1));
            for purpose in PURPOSES.into_iter().filter(|purpose| *purpose != Purpose::ClickQuestion) {
                places.take(purpose, Instant::now()).await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn r46_requests_leave_visitors_a_connection() {
        for connections in 1..=20 {
            let places = Places::new(NonZeroUsize::new(connections).unwrap());
            let mut taken = Vec::new();
            for purpose in [Purpose::Search, Purpose::UnitOfWork, Purpose::Read] {
                taken.extend(all_of(&places, purpose).await);
            }
            assert_eq!(all_of(&places, Purpose::Visit).await.len(), (connections / 8).max(1));
        }
    }
}
