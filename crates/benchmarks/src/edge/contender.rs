//! The compared programs and their results.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::load::Load;
use super::machine;
use super::visits::{Pace, Turn, Visits};
use crate::connection::Connection;

/// Requests without the expected answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failures {
    /// Requests without an answer.
    pub(super) unanswered: u64,
    /// Requests with an unexpected status of 400 or more.
    pub(super) refused: u64,
}

/// A program that answers visitors.
pub(super) struct Contender {
    pub(super) name: &'static str,
    address: String,
    /// Its process, whose children count too.
    process: u32,
    visits: Visits,
    /// The expected status.
    status: u16,
    /// The first line of the next turn, so that a turn does not repeat the warm paths of the last one.
    next: u32,
    turns: Vec<(Pace, Turn)>,
}

impl Contender {
    /// Sends one request, which must get the expected status.
    pub(super) fn new(
        name: &'static str,
        address: &str,
        process: u32,
        visits: &Visits,
        status: u16,
    ) -> Result<Self> {
        let request = visits.requests()?.into_iter().next().context("no paths to visit")?;
        let mut connection = Connection::open_by(address, visits.tls.as_ref())?;
        let answer = connection.exchange(&request)?;
        let body = String::from_utf8_lossy(answer.body);
        ensure!(answer.status == status, "{name} answers {} instead of {status}: {body}", answer.status);
        let visits = visits.clone();
        Ok(Self { name, address: address.to_owned(), process, visits, status, next: 0, turns: Vec::new() })
    }

    /// The line of the file for the next turn.
    pub(super) const fn next(&self) -> u32 {
        self.next
    }

    /// Continues at a line of the file.
    pub(super) const fn begin_at(&mut self, line: u32) {
        self.next = line;
    }

    /// Takes a turn that does not count, and returns its number of requests.
    pub(super) fn warm_up(&mut self, load: &Load) -> Result<u64> {
        Ok(self.turn(load, Pace::Saturated, machine::cores()?.0)?.requests)
    }

    /// Takes a turn.
    pub(super) fn take(&mut self, load: &Load, pace: Pace, core: u32) -> Result<()> {
        let turn = self.turn(load, pace, core)?;
        self.turns.push((pace, turn));
        Ok(())
    }

    fn turn(&mut self, load: &Load, pace: Pace, core: u32) -> Result<Turn> {
        let (work, (busy, all)) = (machine::work_of(self.process)?, machine::busy(core)?);
        let turn = load.run(&self.address, &self.visits, pace, self.next)?;
        let (busy_after, all_after) = machine::busy(core)?;
        let work = machine::work_of(self.process)?.saturating_sub(work);
        self.next = self.next.wrapping_add(u32::try_from(turn.requests)?) % self.visits.count;
        let others = busy_after.saturating_sub(busy).saturating_sub(work).as_secs_f64();
        let others = others / all_after.saturating_sub(all).as_secs_f64().max(0.01);
        Ok(Turn { work, others, ..turn })
    }

    /// A figure of each turn at this pace.
    pub(super) fn numbers(&self, pace: Pace, of: impl Fn(&Turn) -> f64) -> Vec<f64> {
        self.turns.iter().filter(|(of_turn, _)| *of_turn == pace).map(|(_, turn)| of(turn)).collect()
    }

    /// The failures of all turns.
    pub(super) fn failures(&self) -> Failures {
        let sum = |of: fn(&Turn) -> u64| self.turns.iter().map(|(_, turn)| of(turn)).sum();
        let refused = if self.status < 400 { sum(|turn| turn.refused) } else { 0 };
        Failures { unanswered: sum(|turn| turn.unanswered), refused }
    }

    /// The average share of the server's core that other processes used.
    pub(super) fn others(&self) -> f64 {
        let sum: f64 = self.turns.iter().map(|(_, turn)| turn.others).sum();
        let count = u32::try_from(self.turns.len()).unwrap_or(u32::MAX);
        sum / f64::from(count.max(1))
    }
}

impl Turn {
    /// Answers a second.
    pub(super) fn rate(&self) -> f64 {
        f64::from(u32::try_from(self.requests).unwrap_or(u32::MAX)) / self.elapsed.as_secs_f64()
    }

    /// Processor time for each answer, in microseconds.
    pub(super) fn work_of_one(&self) -> f64 {
        let requests = u32::try_from(self.requests).unwrap_or(u32::MAX).max(1);
        microseconds(self.work) / f64::from(requests)
    }
}

pub(super) fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
