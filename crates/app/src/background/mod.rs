//! Work that runs by itself, on one node at a time or on every node.
//!
//! Every node runs a [`JobRunner`] for each [`Job`]. A job that is done by one node at a time has a lease of its own: the node
//! that holds it does the steps, the others wait for it. A node that dies is followed by another as soon as its lease has
//! ended, one that stops gives the lease back at once.
//!
//! To add a job, implement [`Job`] in a file here and name it in [`jobs`].

mod check_domains;
mod click_upkeep;
mod forget_answers;
mod forget_changes;
mod forget_clicks;
mod index_links;
mod job;
mod job_runner;
mod maintain_domains;

use std::sync::Arc;

pub use check_domains::CheckDomains;
pub use click_upkeep::{ClickUpkeep, UpkeepTask};
pub use forget_answers::ForgetAnswers;
pub use forget_changes::ForgetChanges;
pub use forget_clicks::ForgetClicks;
pub use index_links::IndexLinks;
pub use job::{DoneBy, Job, Progress};
pub use job_runner::JobRunner;
pub use maintain_domains::MaintainDomains;

use crate::application::Application;

/// All jobs.
#[must_use]
pub fn jobs(app: &Arc<Application>) -> Vec<Arc<dyn Job>> {
    let upkeep = |task| -> Arc<dyn Job> {
        Arc::new(ClickUpkeep::new(task, Arc::clone(&app.click_store), Arc::clone(&app.clock)))
    };
    let mut jobs: Vec<Arc<dyn Job>> = vec![
        Arc::new(CheckDomains::new(Arc::clone(app))),
        Arc::new(ForgetAnswers::new(Arc::clone(&app.store), Arc::clone(&app.clock))),
        Arc::new(ForgetChanges::new(Arc::clone(&app.store))),
        Arc::new(ForgetClicks::new(Arc::clone(app))),
        Arc::new(IndexLinks::new(Arc::clone(&app.store))),
        Arc::new(MaintainDomains::new(Arc::clone(&app.store), Arc::clone(&app.clock))),
    ];
    jobs.extend(UpkeepTask::ALL.map(upkeep));
    jobs
}
