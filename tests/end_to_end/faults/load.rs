//! Clients that send all kinds of writes while something fails, and record the results.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::balancer::Balancer;
use super::ledger::Ledger;
use super::machine::MachineControl;
use super::outcome::{Outcome, Sample};
use super::size::{PATIENCE, length, within};
use super::writer::Writer;
use crate::harness::SetWhenDropped;

/// How many requests in a row must succeed for a client to be served normally again.
const NORMAL: usize = 5;

/// How soon after a fault clients must be served normally again (R11, R16).
pub const NORMAL_AGAIN: Duration = Duration::from_secs(5);

/// The time of a fault.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    pub begin: Instant,
    pub end: Instant,
}

impl Fault {
    /// Begins a fault, and ends it once `until` has returned, in a soak not before its length. The fault has ended
    /// when `end` returns.
    pub fn lasting(begin: impl FnOnce(), until: impl FnOnce(), end: impl FnOnce()) -> Self {
        let started = Instant::now();
        begin();
        until();
        std::thread::sleep(length(Duration::ZERO).saturating_sub(started.elapsed()));
        end();
        Self { begin: started, end: Instant::now() }
    }
}

/// What all clients share.
pub struct Load<'a> {
    pub balancer: &'a Balancer,
    pub ledger: &'a Ledger,
    samples: Mutex<Vec<Sample>>,
    grown: Condvar,
    is_over: AtomicBool,
    /// How many requests of each client have succeeded in a row.
    streaks: Vec<AtomicUsize>,
}

impl Load<'_> {
    /// Records the result of a request.
    pub fn note(&self, client: usize, sample: Sample) {
        let succeeded = sample.succeeded();
        {
            let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
            samples.push(sample);
        }
        self.grown.notify_all();
        if succeeded {
            self.streaks[client].fetch_add(1, Ordering::Relaxed);
        } else {
            self.streaks[client].store(0, Ordering::Relaxed);
            // As refused clients do.
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether the clients must stop.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Waits until `number` more requests succeed.
    pub fn await_answers(&self, number: usize) {
        self.await_samples(number, Sample::succeeded);
    }

    /// Waits until `number` more requests fail.
    pub fn await_failures(&self, number: usize) {
        self.await_samples(number, |sample| !sample.succeeded());
    }

    fn await_samples(&self, number: usize, is_one: impl Fn(&Sample) -> bool) {
        let samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = samples.len();
        let too_few =
            |samples: &mut Vec<Sample>| samples[seen..].iter().filter(|one| is_one(one)).count() < number;
        let waited = self.grown.wait_timeout_while(samples, PATIENCE, too_few);
        let (_samples, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "the clients did not get {number} such answers");
    }

    /// Waits until every client is served normally, but no longer than a failed test needs to show.
    fn await_normality(&self, since: Instant) {
        self.streaks.iter().for_each(|streak| streak.store(0, Ordering::Relaxed));
        let is_normal = || self.streaks.iter().all(|streak| streak.load(Ordering::Relaxed) >= NORMAL);
        while !is_normal() && since.elapsed() < 2 * within(NORMAL_AGAIN) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Runs clients, which write and read, during `fault` and until they are served normally after it. `store_timeout` is
/// the setting of the nodes.
pub fn run(
    balancer: &Balancer,
    ledger: &Ledger,
    clients: usize,
    store_timeout: Duration,
    fault: impl FnOnce(&Load<'_>) -> Fault,
) -> Outcome {
    let load = Load {
        balancer,
        ledger,
        samples: Mutex::default(),
        grown: Condvar::new(),
        is_over: AtomicBool::new(false),
        streaks: (0..clients).map(|_| AtomicUsize::new(0)).collect(),
    };
    let (fault, late) = std::thread::scope(|scope| {
        let writers: Vec<Writer<'_>> = (0..clients).map(|number| Writer::new(&load, number)).collect();
        let over = SetWhenDropped(&load.is_over);
        for writer in writers {
            scope.spawn(move || writer.write());
        }
        let control = MachineControl::start();
        let fault = fault(&load);
        load.await_normality(fault.end);
        drop(over);
        (fault, control.lateness())
    });
    let samples = load.samples.into_inner().unwrap_or_else(PoisonError::into_inner);
    let answered_and_unknown = ledger.answered_and_unknown();
    Outcome { samples, fault, store_timeout, late, answered_and_unknown }
}
