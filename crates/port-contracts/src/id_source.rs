//! The contract of [`IdSource`] (D1).

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use signpost_app::ports::{Clock, IdSource};
use signpost_domain::{GroupId, RedirectId, Timestamp};

use crate::samples;

/// Each call makes the source of another node, on the given clock.
pub type MakeIdSource = fn(Arc<dyn Clock>) -> Arc<dyn IdSource>;

type Case = fn(MakeIdSource);

macro_rules! table {
    (() $($module:ident { $($case:ident)* })*) => {
        const CASES: &[(&str, Case)] = &[$($((stringify!($case), $case),)*)*];
    };
}

crate::__id_source_cases! { [table] () }

/// Runs one case; [`id_source_contract!`](crate::id_source_contract) makes a test of each.
#[doc(hidden)]
pub fn run(_module: &str, case: &str, make: MakeIdSource) {
    let (_, run) =
        CASES.iter().find(|(name, _)| *name == case).expect("the list of tests is the list of cases");
    run(make);
}

/// Makes a test of every case of the contract of a source of identifiers. The argument names a function in scope,
/// `fn(clock: Arc<dyn Clock>) -> Arc<dyn IdSource>`. Each call must make the source of another node.
#[macro_export]
macro_rules! id_source_contract {
    ($make:ident) => {
        mod id_source {
            $crate::__id_source_cases! { [$crate::__tests] ($crate::id_source::run, $make) }
        }
    };
}

/// Passes the list of the cases to another macro, after that macro's own arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __id_source_cases {
    ([$($callback:tt)*] $arguments:tt) => {
        $($callback)* ! { $arguments
            identifiers {
                identifiers_increase
                identifiers_increase_when_the_clock_steps_back
                identifiers_begin_with_the_time
                identifiers_are_unique_across_threads_and_nodes
            }
        }
    };
}

struct SteppingClock(AtomicI64);

impl SteppingClock {
    fn new() -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(samples::at(0).unix_millis())))
    }

    fn set(&self, now: Timestamp) {
        self.0.store(now.unix_millis(), Ordering::SeqCst);
    }
}

impl Clock for SteppingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_millis(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

/// They also increase within one millisecond.
fn identifiers_increase(make: MakeIdSource) {
    let clock = SteppingClock::new();
    let ids = make(Arc::<SteppingClock>::clone(&clock));
    let mut last: RedirectId = ids.next();
    for number in 0..50_000 {
        if number % 1_000 == 0 {
            clock.set(samples::at(number / 1_000));
        }
        let next = ids.next();
        assert!(next > last, "{next} after {last}");
        last = next;
    }
}

/// Lists rely on this for the order of creation.
fn identifiers_increase_when_the_clock_steps_back(make: MakeIdSource) {
    let clock = SteppingClock::new();
    let ids = make(Arc::<SteppingClock>::clone(&clock));
    let mut last: GroupId = ids.next();
    let now = samples::at(0);
    let (hour, day) = (Duration::from_hours(1), Duration::from_hours(24));
    for time in [now.minus(hour), now, now.minus(day), now.plus(hour), now, Timestamp::EPOCH, now.plus(day)] {
        clock.set(time);
        for _ in 0..100 {
            let next = ids.next();
            assert!(next > last, "{next} after {last}");
            last = next;
        }
    }
}

/// As in a ULID, the first 48 bits are the milliseconds since 1970.
fn identifiers_begin_with_the_time(make: MakeIdSource) {
    let clock = SteppingClock::new();
    let ids = make(Arc::<SteppingClock>::clone(&clock));
    for time in [samples::at(0), samples::at(1), samples::at(86_400_000)] {
        clock.set(time);
        let [_, _, expected @ ..] = time.unix_millis().to_be_bytes();
        assert_eq!(ids.next_bits()[..6], expected);
    }
}

/// Several threads share each source, and several sources run at once.
fn identifiers_are_unique_across_threads_and_nodes(make: MakeIdSource) {
    let clock = SteppingClock::new();
    let nodes: Vec<Arc<dyn IdSource>> = (0..3).map(|_| make(Arc::<SteppingClock>::clone(&clock))).collect();
    let seen: Vec<Vec<[u8; 16]>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|thread| {
                let ids = &nodes[thread % nodes.len()];
                scope.spawn(|| (0..5_000).map(|_| ids.next_bits()).collect::<Vec<_>>())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(seen.iter().all(|ids| ids.is_sorted()), "identifiers do not increase within a thread");
    let distinct: HashSet<[u8; 16]> = seen.into_iter().flatten().collect();
    assert_eq!(distinct.len(), 30_000);
}
