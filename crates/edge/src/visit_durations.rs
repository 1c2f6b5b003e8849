//! How long visits take, counted in a bounded number of buckets without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The upper bounds of the buckets in microseconds. Visits from memory take some tens of them; beyond the last bound, a visitor
/// notices.
const BOUNDS_MICROS: [u64; 14] =
    [25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 2_500_000];

/// The durations of the visits that one worker has answered. Only that worker writes, so it shares no cache line.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct WorkerDurations {
    /// One for each bound, and one for longer visits.
    counts: [AtomicU64; BOUNDS_MICROS.len() + 1],
    sum_nanos: AtomicU64,
}

impl WorkerDurations {
    pub(crate) fn record(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_MICROS.partition_point(|bound| *bound < micros);
        if let Some(count) = self.counts.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.sum_nanos.fetch_add(nanos, Ordering::Relaxed);
    }
}

/// The durations of all visits since the start, from a request's head to its answer.
#[derive(Debug, Clone, Default)]
pub struct VisitDurations(Arc<Mutex<Vec<Arc<WorkerDurations>>>>);

/// The sums of [`VisitDurations`] at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DurationCounts {
    /// The upper bound of each bucket, and the number of visits that took at most that long, longer buckets included.
    pub up_to: Vec<(Duration, u64)>,
    /// The number of visits.
    pub count: u64,
    /// The time that all of them took.
    pub sum: Duration,
}

impl VisitDurations {
    /// The place for the durations of one more worker.
    pub(crate) fn worker(&self) -> Arc<WorkerDurations> {
        let worker = Arc::<WorkerDurations>::default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&worker));
        worker
    }

    /// The sums over all workers.
    #[must_use]
    pub fn counts(&self) -> DurationCounts {
        let workers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let total = |of: &dyn Fn(&WorkerDurations) -> Option<&AtomicU64>| {
            let numbers = workers.iter().filter_map(|worker| of(worker));
            numbers.fold(0_u64, |sum, number| sum.wrapping_add(number.load(Ordering::Relaxed)))
        };
        let mut count = 0_u64;
        let mut up_to = Vec::with_capacity(BOUNDS_MICROS.len());
        for (bucket, bound) in BOUNDS_MICROS.iter().enumerate() {
            count = count.wrapping_add(total(&|worker| worker.counts.get(bucket)));
            up_to.push((Duration::from_micros(*bound), count));
        }
        count = count.wrapping_add(total(&|worker| worker.counts.last()));
        DurationCounts { up_to, count, sum: Duration::from_nanos(total(&|worker| Some(&worker.sum_nanos))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_counts_visits_up_to_its_bound_over_all_workers() {
        let durations = VisitDurations::default();
        let (one, other) = (durations.worker(), durations.worker());
        for micros in [0, 25, 26] {
            one.record(Duration::from_micros(micros));
        }
        other.record(Duration::from_nanos(25_999));
        other.record(Duration::from_hours(1));
        let DurationCounts { up_to, count, sum } = durations.counts();
        assert_eq!(up_to[..2], [(Duration::from_micros(25), 3), (Duration::from_micros(50), 4)]);
        assert_eq!(up_to.last(), Some(&(Duration::from_millis(2_500), 4)));
        assert_eq!((count, sum), (5, Duration::from_nanos(3_600_000_000_000 + 51_000 + 25_999)));
    }
}
