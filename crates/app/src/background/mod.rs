//! Work that runs by itself, on one node at a time.
//!
//! Each [`Job`] has a lease of its own. Every node runs a [`JobRunner`] for each job; the one that holds the lease does the
//! steps, the others wait for it. A node that dies is followed by another as soon as its lease has ended, one that stops
//! gives the lease back at once.
//!
//! To add a job, implement [`Job`] in a file here and name it in [`jobs`].

mod forget_answers;
mod forget_changes;
mod job;
mod job_runner;

use std::sync::Arc;

pub use forget_answers::ForgetAnswers;
pub use forget_changes::ForgetChanges;
pub use job::{Job, Progress};
pub use job_runner::JobRunner;

use crate::application::Application;

/// All jobs.
#[must_use]
pub fn jobs(app: &Application) -> Vec<Arc<dyn Job>> {
    vec![
        Arc::new(ForgetAnswers::new(Arc::clone(&app.store), Arc::clone(&app.clock))),
        Arc::new(ForgetChanges::new(Arc::clone(&app.store))),
    ]
}
