//! Load on the API: each connection sends a request as soon as it has the last answer.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};

use crate::connection::{ApiClient, Connection};
use crate::random::Random;
use crate::turns::Until;

/// The links in the requests. Their numbers are their ids, as hexadecimal digits.
pub(super) enum Numbers {
    /// Requests have no ids of links.
    None,
    /// Random numbers of a range.
    AnyOf { first: u64, count: u64 },
    /// Consecutive numbers, each once.
    Each { first: u64 },
}

/// A request with placeholders for ids of links.
pub(super) struct Template {
    request: Vec<u8>,
    places: Vec<usize>,
    failures: Option<&'static str>,
}

/// The placeholder for the digits of an id.
pub(super) const PLACE: &str = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";

impl Template {
    pub(super) fn new(caller: &ApiClient, method: &str, path: &str, body: &str) -> Self {
        let request = caller.request(method, path, body);
        let text = String::from_utf8_lossy(&request).into_owned();
        let places = text.match_indices(PLACE).map(|(at, _)| at).collect();
        Self { request, places, failures: None }
    }

    /// The answer must start with this number of failed items, such as `"failed_count":0`.
    pub(super) fn with_failures(self, failures: &'static str) -> Self {
        Self { failures: Some(failures), ..self }
    }

    fn fill(&mut self, mut next: impl FnMut() -> u64) {
        for &at in &self.places {
            let digits = digits(next());
            if let Some(place) = self.request.get_mut(at..at + PLACE.len()) {
                place.copy_from_slice(digits.as_bytes());
            }
        }
    }

    fn send(&self, connection: &mut Connection) -> Result<()> {
        let answer = connection.send(&self.request)?;
        if let Some(failures) = self.failures {
            let beginning = answer.get(..answer.len().min(100)).unwrap_or_default();
            let beginning = String::from_utf8_lossy(beginning);
            ensure!(beginning.contains(failures), "not {failures}: {beginning}");
        }
        Ok(())
    }
}

/// The digits of the id of a number.
pub(super) fn digits(number: u64) -> String {
    format!("{number:032}")
}

/// A load of requests.
pub(super) struct Load<'a> {
    pub(super) caller: &'a ApiClient,
    pub(super) connections: u32,
    pub(super) until: Until,
    pub(super) numbers: Numbers,
}

impl Load<'_> {
    /// Sends the requests, and returns their number and time.
    pub(super) fn run(&self, template: impl Fn() -> Template + Sync) -> Result<(u32, Duration)> {
        let shared = AtomicU64::new(0);
        let threads = usize::try_from(self.connections)? + 1;
        let start = Barrier::new(threads);
        thread::scope(|scope| {
            let (shared, start, template) = (&shared, &start, &template);
            let workers: Vec<_> = (0..self.connections)
                .map(|worker| scope.spawn(move || self.work(worker, shared, start, template())))
                .collect();
            start.wait();
            let began = Instant::now();
            let mut requests = 0;
            for worker in workers {
                requests += worker.join().map_err(|_| anyhow!("a connection's thread has panicked"))??;
            }
            Ok((requests, began.elapsed()))
        })
    }

    fn work(&self, worker: u32, shared: &AtomicU64, start: &Barrier, mut template: Template) -> Result<u32> {
        let connection = self.caller.connect();
        start.wait();
        let mut connection = connection?;
        let began = Instant::now();
        let mut random = Random::of_worker(u64::from(worker));
        let mut sent = 0;
        loop {
            let goes_on = match self.until {
                Until::Elapsed(time) => began.elapsed() < time,
                Until::Requests(count) => sent < count / self.connections,
            };
            if !goes_on {
                return Ok(sent);
            }
            match self.numbers {
                Numbers::None => {}
                Numbers::AnyOf { first, count } => template.fill(|| first + random.next() % count),
                Numbers::Each { first } => {
                    let count = u64::try_from(template.places.len())?;
                    let mut numbers = (first + shared.fetch_add(count, Ordering::Relaxed))..;
                    template.fill(|| numbers.next().unwrap_or(first));
                }
            }
            template.send(&mut connection)?;
            sent += 1;
        }
    }
}
