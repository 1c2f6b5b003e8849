//! Which of the connections that lie in the pool can still be trusted.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};

use crate::failure::Failure;

/// How long a connection may take to show that it lives, before it is given up for another.
const PING_PATIENCE: Duration = Duration::from_millis(250);

/// What speaks against connections that were not used since.
#[derive(Debug, Default)]
pub(crate) struct Suspicions(Mutex<Moments>);

#[derive(Debug, Default, Clone, Copy)]
struct Moments {
    /// Connections last lent before this are asked before they are lent again.
    doubted: Option<Instant>,
    /// Connections last lent before this are closed.
    condemned: Option<Instant>,
    /// When one that was asked had kept silent. None that was asked since then has answered.
    silent: Option<Instant>,
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Lend,
    Ask,
    Close,
}

impl Suspicions {
    /// A call that began then got no answer: the way to the server may be gone, and with it all connections.
    fn doubt(&self, began: Instant) {
        let mut moments = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        moments.doubted = moments.doubted.max(Some(began));
    }

    /// What was last lent before this moment is of no use.
    fn condemn(&self, before: Instant) {
        let mut moments = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        moments.condemned = moments.condemned.max(Some(before));
    }

    /// One that was asked then has kept silent, until now. It may be alone in that, or the server may have been busy for a
    /// moment; so all others are asked. If the next one, asked after that, keeps silent too, these two speak for all.
    fn note_silence(&self, began: Instant, now: Instant) {
        let mut moments = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        moments.doubted = moments.doubted.max(Some(began));
        if moments.silent.is_some_and(|first| first <= began) {
            moments.condemned = moments.condemned.max(Some(began));
            moments.silent = None;
        } else {
            moments.silent = moments.silent.or(Some(now));
        }
    }

    /// One that was asked has answered.
    fn note_answer(&self) {
        let mut moments = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        moments.silent = None;
    }

    fn judge(&self, last_lent: Instant, idle_limit: Duration) -> Verdict {
        let Moments { doubted, condemned, silent: _ } =
            *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if condemned.is_some_and(|before| last_lent < before) {
            Verdict::Close
        } else if doubted.is_some_and(|before| last_lent < before) || last_lent.elapsed() >= idle_limit {
            Verdict::Ask
        } else {
            Verdict::Lend
        }
    }

    /// What the failure of a call that began then says of other connections.
    pub(crate) fn note(&self, failure: &Failure, began: Instant) {
        if matches!(failure, Failure::OutOfTime) {
            self.doubt(began);
        }
        if failure.is_of_a_server_that_only_reads() {
            // The others were made when this one was, if not before; a new one is made with a server that writes.
            self.condemn(Instant::now());
        }
    }

    async fn ask(&self, mut connection: &AsyncPgConnection) -> Result<(), String> {
        let began = Instant::now();
        match tokio::time::timeout(PING_PATIENCE, connection.batch_execute("SELECT 1")).await {
            Ok(Ok(())) => {
                self.note_answer();
                Ok(())
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(_elapsed) => {
                self.note_silence(began, Instant::now());
                Err("the connection does not answer".to_owned())
            }
        }
    }
}

/// How far connections that were opened before are trusted.
#[derive(Debug, Clone)]
pub(crate) struct Trust {
    suspicions: Arc<Suspicions>,
    idle_limit: Duration,
    age_limit: Duration,
    /// Each connection has its own share of chance.
    random: RandomState,
}

impl Trust {
    pub(crate) fn new(suspicions: Arc<Suspicions>, idle_limit: Duration, age_limit: Duration) -> Self {
        Self { suspicions, idle_limit, age_limit, random: RandomState::new() }
    }

    /// Decides on a connection before it is used again. As long as nothing speaks against it, that takes no round trip.
    ///
    /// The first two that keep silent one after the other speak for all that are as old, so that any number of them costs no
    /// more than two.
    pub(crate) async fn judge(
        &self,
        connection: &AsyncPgConnection,
        created: Instant,
        last_used: Instant,
    ) -> Result<(), String> {
        let Self { suspicions, idle_limit, age_limit, random } = self;
        if created.elapsed() >= shortened(*age_limit, random.hash_one(created)) {
            return Err("the connection is old".to_owned());
        }
        match suspicions.judge(last_used, *idle_limit) {
            Verdict::Lend => Ok(()),
            Verdict::Close => Err("the connection is not trusted".to_owned()),
            // Boxed, since it is rare.
            Verdict::Ask => Box::pin(suspicions.ask(connection)).await,
        }
    }
}

/// The limit, less up to a sixth of it by chance: what was made at once is not made anew at once.
fn shortened(limit: Duration, chance: u64) -> Duration {
    let part = u32::try_from(chance % 65_536).unwrap_or_default();
    limit.saturating_sub(limit / 6 / 65_536 * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    #[test]
    fn nothing_is_asked_as_long_as_nothing_speaks_against_it() {
        let suspicions = Suspicions::default();
        let lent = Instant::now();
        assert_eq!(suspicions.judge(lent, HOUR), Verdict::Lend);
        assert_eq!(suspicions.judge(lent, Duration::ZERO), Verdict::Ask);
    }

    #[test]
    fn suspicions_are_of_what_was_not_used_since() {
        let suspicions = Suspicions::default();
        let [old, then, new] = [0, 1, 2].map(|seconds| Instant::now() + Duration::from_secs(seconds));
        suspicions.doubt(then);
        // An older one takes nothing back.
        suspicions.doubt(old);
        assert_eq!(suspicions.judge(old, HOUR), Verdict::Ask);
        assert_eq!(suspicions.judge(then, HOUR), Verdict::Lend);
        suspicions.condemn(then);
        suspicions.condemn(old);
        assert_eq!(suspicions.judge(old, HOUR), Verdict::Close);
        assert_eq!(suspicions.judge(new, HOUR), Verdict::Lend);
    }

    /// A server that stands still for a moment is not taken for one that is gone, however many are asked meanwhile.
    #[test]
    fn one_silence_condemns_nothing_and_two_in_a_row_condemn_what_is_as_old() {
        let begin = Instant::now();
        let [old, asked, silent, later] = [0, 1, 2, 3].map(|seconds| begin + Duration::from_secs(seconds));
        let suspicions = Suspicions::default();
        for _ in 0..8 {
            suspicions.note_silence(asked, silent);
        }
        assert_eq!(suspicions.judge(old, HOUR), Verdict::Ask);
        suspicions.note_answer();
        suspicions.note_silence(later, later);
        assert_eq!(suspicions.judge(old, HOUR), Verdict::Ask);
        suspicions.note_silence(later, later);
        assert_eq!(suspicions.judge(old, HOUR), Verdict::Close);
        assert_eq!(suspicions.judge(later, HOUR), Verdict::Lend);
    }

    #[test]
    fn connections_of_one_age_are_not_renewed_at_once() {
        let limits = [0, 1 << 15, u64::MAX].map(|chance| shortened(HOUR, chance));
        assert_eq!(limits[0], HOUR);
        assert!(limits[0] > limits[1] && limits[1] > limits[2] && limits[2] >= HOUR * 5 / 6, "{limits:?}");
        assert!(shortened(Duration::MAX, u64::MAX) < Duration::MAX);
        assert_eq!(shortened(Duration::ZERO, u64::MAX), Duration::ZERO);
    }
}
