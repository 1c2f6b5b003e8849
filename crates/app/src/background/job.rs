//! What a job is.

use std::time::Duration;

use async_trait::async_trait;

use crate::app_error::AppError;

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing is left to be done until the next period.
    Done,
    /// There is more of the same, and the next step may follow at once.
    More,
}

/// Which nodes do the steps of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoneBy {
    /// One node at a time: the one that holds the job's lease.
    OneNode,
    /// Every node, whenever it likes. What each of them may do is divided by the store.
    EveryNode,
}

/// Something that is to be done again and again.
#[async_trait]
pub trait Job: Send + Sync {
    /// Its name: that of its lease, and the one in logs and metrics. It never changes, since nodes of two versions share it.
    fn name(&self) -> &'static str;

    /// Which nodes do its steps.
    fn done_by(&self) -> DoneBy {
        DoneBy::OneNode
    }

    /// How long after the beginning of a step that left nothing the next one follows.
    fn period(&self) -> Duration;

    /// One step. It is bounded, and it may be cut off at any await; what it has begun then is done by a later one. At worst,
    /// with clocks that are wrong by more than the [runner](super::JobRunner) allows for, two nodes do steps at once, so what
    /// must hold is held by the store.
    async fn step(&self) -> Result<Progress, AppError>;
}
