//! Contenders take turns, round by round.

use std::time::Duration;

use anyhow::Result;

use crate::figure::Figure;

/// The results of one contender in one round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Round {
    pub(super) requests: u32,
    pub(super) elapsed: Duration,
    pub(super) work: Work,
}

/// The processor time of each process.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Work {
    pub(super) client: Duration,
    pub(super) program: Duration,
    pub(super) postgres: Duration,
    pub(super) redis: Duration,
    /// The voluntary context switches of the program's threads.
    pub(super) waits: u64,
}

impl Work {
    /// The sum of all processor times.
    pub(super) fn whole(&self) -> Duration {
        let Self { client, program, postgres, redis, waits: _ } = *self;
        client + program + postgres + redis
    }

    pub(super) fn since(self, before: Self) -> Self {
        let Self { client, program, postgres, redis, waits } = self;
        Self {
            client: client.saturating_sub(before.client),
            program: program.saturating_sub(before.program),
            postgres: postgres.saturating_sub(before.postgres),
            redis: redis.saturating_sub(before.redis),
            waits: waits.saturating_sub(before.waits),
        }
    }
}

/// A contender.
pub(super) struct Contender<'a> {
    pub(super) name: String,
    turn: Box<dyn FnMut() -> Result<Round> + 'a>,
    pub(super) rounds: Vec<Round>,
}

impl<'a> Contender<'a> {
    pub(super) fn new(name: impl Into<String>, turn: impl FnMut() -> Result<Round> + 'a) -> Self {
        Self { name: name.into(), turn: Box::new(turn), rounds: Vec::new() }
    }

    /// A figure from the results of each round.
    pub(super) fn figure(&self, of: impl Fn(&Round) -> f64) -> Figure {
        Figure::of(self.rounds.iter().map(of).collect())
    }

    /// Requests a second.
    pub(super) fn rate(&self) -> Figure {
        self.figure(Round::rate)
    }

    /// Milliseconds for a request, for contenders with one request at a time.
    pub(super) fn latency(&self) -> Figure {
        self.figure(|round| 1e3 / round.rate())
    }

    /// Processor time for a request, in microseconds.
    pub(super) fn work(&self, of: impl Fn(&Work) -> Duration) -> Figure {
        self.figure(|round| of(&round.work).as_secs_f64() * 1e6 / f64::from(round.requests.max(1)))
    }

    /// Voluntary context switches of the program for a request.
    pub(super) fn waits(&self) -> Figure {
        self.figure(|round| {
            let waits = u32::try_from(round.work.waits).unwrap_or(u32::MAX);
            f64::from(waits) / f64::from(round.requests.max(1))
        })
    }
}

impl Round {
    pub(super) fn rate(&self) -> f64 {
        f64::from(self.requests) / self.elapsed.as_secs_f64()
    }
}

/// Runs the contenders in turns. The first round is a warm-up and does not count.
pub(super) fn take(contenders: &mut [Contender<'_>], rounds: u32) -> Result<()> {
    for round in 0..=rounds {
        for contender in &mut *contenders {
            let outcome = (contender.turn)()?;
            if round > 0 {
                contender.rounds.push(outcome);
            }
        }
    }
    Ok(())
}
