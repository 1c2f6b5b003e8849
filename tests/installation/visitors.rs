//! Visitors who open a link all the time.

use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::system::System;

/// How many of them there are.
const COUNT: usize = 4;

/// Where each writes the status of its visits; 000 is a visit without an answer.
const FOLDER: &str = "/srv/visits";

/// Its absence ends them.
const GO_ON: &str = "/srv/visits/go-on";

/// How long to wait for their next visit. They give up after 30 s.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Visitors(Vec<Child>);

impl Visitors {
    /// Starts them. Each visit is a new connection.
    pub(crate) fn start(system: &System, url: &str) -> Self {
        system.succeed(&format!("mkdir {FOLDER} && touch {GO_ON}"));
        let visitor = |number: usize| {
            system.spawn(&format!(
                "while [ -e {GO_ON} ]; do curl --silent --max-time 30 --output /dev/null --write-out '%{{http_code}}\\n' {url}; \
                 done > {FOLDER}/{number}"
            ))
        };
        let visitors = Self((0..COUNT).map(visitor).collect());
        visitors.await_visit(system);
        visitors
    }

    /// Waits until each has made another visit.
    pub(crate) fn await_visit(&self, system: &System) {
        let counts = || -> Vec<usize> {
            let counts = (0..self.0.len()).map(|number| visits(system, number).len());
            counts.collect()
        };
        let (before, start) = (counts(), Instant::now());
        while counts().iter().zip(&before).any(|(now, before)| now <= before) {
            assert!(start.elapsed() < PATIENCE, "no visits after {before:?}");
            // Poll: there are no notifications about files of another system.
            sleep(Duration::from_millis(20));
        }
    }

    /// Ends them, and returns the statuses of all visits.
    pub(crate) fn stop(mut self, system: &System) -> Vec<String> {
        system.succeed(&format!("rm {GO_ON}"));
        for visitor in &mut self.0 {
            visitor.wait().unwrap();
        }
        (0..self.0.len()).flat_map(|number| visits(system, number)).collect()
    }
}

fn visits(system: &System, number: usize) -> Vec<String> {
    let text = system.read(&format!("{FOLDER}/{number}"));
    text.lines().map(str::to_owned).collect()
}
