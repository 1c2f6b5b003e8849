//! The health of idle connections: which can be lent at once, which need a ping, and which are evicted.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};

use crate::failure::Failure;

/// How long a ping may take before the connection is evicted.
const PING_TIMEOUT: Duration = Duration::from_millis(250);

/// Evidence against connections that have not been used since.
#[derive(Debug, Default)]
pub(crate) struct Suspects(Mutex<Moments>);

#[derive(Debug, Default, Clone, Copy)]
struct Moments {
    /// Connections last lent before this are pinged before they are lent again.
    suspect_before: Option<Instant>,
    /// Connections last lent before this are closed.
    evict_before: Option<Instant>,
    /// When a ping timed out, if no later ping has succeeded.
    silent: Option<Instant>,
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Lend,
    Ping,
    Evict,
}

impl Suspects {
    /// A call that began at this moment got no answer. The route to the server may be gone, and all connections with it.
    fn suspect(&self, began: Instant) {
        let mut moments = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        moments.suspect_before = moments.suspect_before.max(Some(began));
    }

    /// Connections last lent before this moment are useless.
    fn evict(&self, before: Instant) {
        let mut moments = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        moments.evict_before = moments.evict_before.max(Some(before));
    }

    /// A ping that began at `began` has timed out. That connection may be alone in this, or the server may have paused, so
    /// all others become suspects. If the next ping times out too, all suspects are evicted.
    fn note_silence(&self, began: Instant, now: Instant) {
        let mut moments = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        moments.suspect_before = moments.suspect_before.max(Some(began));
        if moments.silent.is_some_and(|first| first <= began) {
            moments.evict_before = moments.evict_before.max(Some(began));
            moments.silent = None;
        } else {
            moments.silent = moments.silent.or(Some(now));
        }
    }

    /// A ping has succeeded.
    fn note_answer(&self) {
        let mut moments = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        moments.silent = None;
    }

    fn verdict(&self, last_lent: Instant, idle_limit: Duration) -> Verdict {
        let Moments { suspect_before, evict_before, silent: _ } =
            *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if evict_before.is_some_and(|before| last_lent < before) {
            Verdict::Evict
        } else if suspect_before.is_some_and(|before| last_lent < before) || last_lent.elapsed() >= idle_limit
        {
            Verdict::Ping
        } else {
            Verdict::Lend
        }
    }

    /// Records what the failure of a call says about other connections.
    pub(crate) fn note(&self, failure: &Failure, began: Instant) {
        if matches!(failure, Failure::OutOfTime) {
            self.suspect(began);
        }
        if failure.is_of_a_server_that_only_reads() {
            // The other connections lead to the same server or an older one; a new connection goes to a writable server.
            self.evict(Instant::now());
        }
    }

    async fn ping(&self, mut connection: &AsyncPgConnection) -> Result<(), String> {
        let began = Instant::now();
        match tokio::time::timeout(PING_TIMEOUT, connection.batch_execute("SELECT 1")).await {
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

/// The policy for reusing connections.
#[derive(Debug, Clone)]
pub(crate) struct PoolHealth {
    suspects: Arc<Suspects>,
    idle_limit: Duration,
    age_limit: Duration,
    /// The source of each connection's jitter.
    random: RandomState,
}

impl PoolHealth {
    pub(crate) fn new(suspects: Arc<Suspects>, idle_limit: Duration, age_limit: Duration) -> Self {
        Self { suspects, idle_limit, age_limit, random: RandomState::new() }
    }

    /// Checks a connection before it is reused. A healthy connection costs no round trip.
    ///
    /// Two pings in a row that time out evict all connections as old, so any number of dead connections costs at most two
    /// timeouts.
    pub(crate) async fn check(
        &self,
        connection: &AsyncPgConnection,
        created: Instant,
        last_used: Instant,
    ) -> Result<(), String> {
        let Self { suspects, idle_limit, age_limit, random } = self;
        if created.elapsed() >= jittered(*age_limit, random.hash_one(created)) {
            return Err("the connection has reached its age limit".to_owned());
        }
        match suspects.verdict(last_used, *idle_limit) {
            Verdict::Lend => Ok(()),
            Verdict::Evict => Err("the connection was evicted".to_owned()),
            // Boxed because it is rare.
            Verdict::Ping => Box::pin(suspects.ping(connection)).await,
        }
    }
}

/// The limit, less a random part of up to a sixth, so that connections opened together are not renewed together.
fn jittered(limit: Duration, chance: u64) -> Duration {
    let part = u32::try_from(chance % 65_536).unwrap_or_default();
    limit.saturating_sub(limit / 6 / 65_536 * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    #[test]
    fn healthy_connection_is_lent_without_a_ping() {
        let suspects = Suspects::default();
        let lent = Instant::now();
        assert_eq!(suspects.verdict(lent, HOUR), Verdict::Lend);
        assert_eq!(suspects.verdict(lent, Duration::ZERO), Verdict::Ping);
    }

    #[test]
    fn connections_used_since_the_evidence_are_not_suspects() {
        let suspects = Suspects::default();
        let [old, then, new] = [0, 1, 2].map(|seconds| Instant::now() + Duration::from_secs(seconds));
        suspects.suspect(then);
        // Older evidence moves nothing back.
        suspects.suspect(old);
        assert_eq!(suspects.verdict(old, HOUR), Verdict::Ping);
        assert_eq!(suspects.verdict(then, HOUR), Verdict::Lend);
        suspects.evict(then);
        suspects.evict(old);
        assert_eq!(suspects.verdict(old, HOUR), Verdict::Evict);
        assert_eq!(suspects.verdict(new, HOUR), Verdict::Lend);
    }

    /// A server that pauses for a moment is not taken for a dead one, however many pings time out meanwhile.
    #[test]
    fn two_timeouts_in_a_row_evict_connections_as_old_and_one_evicts_none() {
        let begin = Instant::now();
        let [old, asked, silent, later] = [0, 1, 2, 3].map(|seconds| begin + Duration::from_secs(seconds));
        let suspects = Suspects::default();
        for _ in 0..8 {
            suspects.note_silence(asked, silent);
        }
        assert_eq!(suspects.verdict(old, HOUR), Verdict::Ping);
        suspects.note_answer();
        suspects.note_silence(later, later);
        assert_eq!(suspects.verdict(old, HOUR), Verdict::Ping);
        suspects.note_silence(later, later);
        assert_eq!(suspects.verdict(old, HOUR), Verdict::Evict);
        assert_eq!(suspects.verdict(later, HOUR), Verdict::Lend);
    }

    #[test]
    fn connections_of_equal_age_are_renewed_at_different_times() {
        let limits = [0, 1 << 15, u64::MAX].map(|chance| jittered(HOUR, chance));
        assert_eq!(limits[0], HOUR);
        assert!(limits[0] > limits[1] && limits[1] > limits[2] && limits[2] >= HOUR * 5 / 6, "{limits:?}");
        assert!(jittered(Duration::MAX, u64::MAX) < Duration::MAX);
        assert_eq!(jittered(Duration::ZERO, u64::MAX), Duration::ZERO);
    }
}
