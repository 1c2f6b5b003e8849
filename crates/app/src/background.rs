//! Background jobs, each on one node at a time or on every node.
//!
//! Every node runs a [`JobRunner`] for each [`Job`]. A job for one node has a lease: the node that holds it runs the steps,
//! and the others wait. When a node dies, another one takes over as soon as the lease has ended. A node that stops releases
//! its leases at once.
//!
//! To add a job, implement [`Job`] in a file here and add it to [`jobs`].

mod certificates;
mod click_retention;
mod click_upkeep;
mod domain_checks;
mod index_links;
mod job_runner;
mod node_reports;
mod people_upkeep;
mod retention;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

pub use self::certificates::{KeepCertificates, ObtainCertificates};
pub use self::click_retention::ForgetClicks;
pub use self::click_upkeep::{ClickUpkeep, UpkeepTask};
pub use self::domain_checks::{CheckDomains, MaintainDomains};
pub use self::index_links::IndexLinks;
pub use self::job_runner::JobRunner;
pub use self::node_reports::ReportNode;
pub use self::people_upkeep::{DeleteExpiredPeople, NoteUses};
pub use self::retention::{ForgetAnswers, ForgetChanges};
use crate::app_error::AppError;
use crate::application::Application;

/// Whether a step left work to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The job has no more work until the next period.
    Done,
    /// More work is left, and the next step may follow at once.
    More,
}

/// Which nodes run the steps of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoneBy {
    /// One node at a time: the one that holds the job's lease.
    OneNode,
    /// Every node at any time. The store divides the work between them.
    EveryNode,
}

/// A job that runs periodically.
#[async_trait]
pub trait Job: Send + Sync {
    /// Its name in leases, logs and metrics. It never changes, since nodes of two versions share the lease.
    fn name(&self) -> &'static str;

    /// Which nodes run its steps.
    fn done_by(&self) -> DoneBy {
        DoneBy::OneNode
    }

    /// The time from the beginning of a step that ended with [`Progress::Done`] to the next step.
    fn period(&self) -> Duration;

    /// Runs one step. A step is bounded. The runner may drop it at any await; a later step then does the
    /// rest. If the clocks of two nodes are wrong by more than the [runner](JobRunner) allows for, both may
    /// run steps at the same time. So the store has to enforce all invariants.
    async fn step(&self) -> Result<Progress, AppError>;

    /// What a job of [every node](DoneBy::EveryNode) does when its node stops, in the place of further steps. It is bounded, and may be
    /// dropped as well. A step may have been dropped before. Most jobs keep the default, which does nothing.
    async fn leave(&self) -> Result<(), AppError> {
        Ok(())
    }
}

/// All jobs.
#[must_use]
pub fn jobs(app: &Arc<Application>) -> Vec<Arc<dyn Job>> {
    let upkeep = |task| -> Arc<dyn Job> {
        Arc::new(ClickUpkeep::new(task, Arc::clone(&app.click_store), Arc::clone(&app.clock)))
    };
    let mut jobs: Vec<Arc<dyn Job>> = vec![
        Arc::new(CheckDomains::new(Arc::clone(app))),
        Arc::new(DeleteExpiredPeople::new(Arc::clone(app))),
        Arc::new(ForgetAnswers::new(Arc::clone(&app.store), Arc::clone(&app.clock))),
        Arc::new(ForgetChanges::new(Arc::clone(&app.store))),
        Arc::new(ForgetClicks::new(Arc::clone(app))),
        Arc::new(IndexLinks::new(Arc::clone(&app.store))),
        Arc::new(MaintainDomains::new(Arc::clone(&app.store), Arc::clone(&app.clock))),
        Arc::new(NoteUses::new(Arc::clone(app))),
    ];
    jobs.extend(UpkeepTask::ALL.map(upkeep));
    jobs.extend(ReportNode::new(Arc::clone(app)).map(|job| -> Arc<dyn Job> { Arc::new(job) }));
    if app.issuance.is_some() {
        jobs.push(Arc::new(KeepCertificates::new(Arc::clone(app))));
        jobs.push(Arc::new(ObtainCertificates::new(Arc::clone(app))));
    }
    jobs
}
