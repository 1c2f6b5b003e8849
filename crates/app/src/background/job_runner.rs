//! Running the steps of a job: while this node holds the job's lease, or always for a job of every node.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_domain::Timestamp;

use super::{DoneBy, Job, Progress};
use crate::app_error::AppError;
use crate::application::Application;
use crate::causes::with_causes;
use crate::node_health::{NodeHealth, Part};
use crate::ports::{Clock, LeaseHolder, Store, StoreError};

const STEPS: &str = "signpost_background_steps_total";
const HOLDS: &str = "signpost_background_lease";

/// The term of a lease.
const TERM: Duration = Duration::from_secs(10);

/// The age at which a lease is renewed.
const RENEWED_AFTER: Duration = Duration::from_secs(3);

/// How long before its end a lease is no longer used. Where the nodes' own clocks decide when a lease ends, two clocks that
/// are each wrong by two seconds differ by this much.
const MARGIN: Duration = Duration::from_secs(4);

/// Runs one job on this node.
///
/// Its owner drives it: it calls [`tick`](Self::tick) about once a second, awaits [`work`](Self::work) in between, and calls
/// [`stop`](Self::stop) at the end. A lease is taken for ten seconds and renewed every three. Steps run only while the node
/// holds it: a running step is dropped if the lease could not be renewed within six seconds. A job that
/// [every node](DoneBy::EveryNode) runs has no lease, and its steps run whenever they are due.
pub struct JobRunner {
    job: Arc<dyn Job>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    health: Arc<NodeHealth>,
    holder: LeaseHolder,
    tenure: Option<Tenure>,
    step: Option<RunningStep>,
    /// Whether the last step failed.
    is_failing: bool,
    /// Whether no other node shares the store.
    is_lone: bool,
}

/// The time in which this node runs the steps.
struct Tenure {
    /// When the lease was last taken, by clocks that were read before the store was asked. `None` if the job has no lease;
    /// the tenure then never ends.
    lease_taken_at: Option<Moment>,
    next_step_at: Timestamp,
}

/// A moment by the wall clock, which can be set, and by the monotonic clock.
#[derive(Debug, Clone, Copy)]
struct Moment {
    time: Timestamp,
    instant: Instant,
}

impl Moment {
    fn of(clock: &dyn Clock) -> Self {
        Self { time: clock.now(), instant: Instant::now() }
    }

    /// Whether `duration` has passed since `earlier` by either clock: the wall clock may have been set back.
    fn is_past(self, earlier: Self, duration: Duration) -> bool {
        self.time >= earlier.time.plus(duration)
            || self.instant.saturating_duration_since(earlier.instant) >= duration
    }
}

impl Tenure {
    /// Whether the lease needs no renewal yet. After the clock was set back, it does.
    fn is_fresh(&self, now: Moment) -> bool {
        self.lease_taken_at
            .is_none_or(|taken_at| taken_at.time <= now.time && !now.is_past(taken_at, RENEWED_AFTER))
    }

    /// Whether the lease may end soon, so that other nodes may take it.
    fn is_over(&self, now: Moment) -> bool {
        self.lease_taken_at.is_some_and(|taken_at| now.is_past(taken_at, TERM.saturating_sub(MARGIN)))
    }

    /// Whether a step is due. After the clock was set back, it is.
    fn is_step_due(&self, now: Timestamp, period: Duration) -> bool {
        self.next_step_at <= now || self.next_step_at > now.plus(period)
    }
}

struct RunningStep {
    began_at: Timestamp,
    outcome: Pin<Box<dyn Future<Output = Outcome> + Send>>,
}

enum Outcome {
    Made(Progress),
    Failed(AppError),
    Panicked,
}

impl JobRunner {
    /// A runner of `job`. All runners of one program share the same `holder`.
    #[must_use]
    pub fn new(app: &Application, job: Arc<dyn Job>, holder: LeaseHolder) -> Self {
        metrics::describe_counter!(STEPS, "Steps of background jobs on this node, by task and outcome.");
        metrics::describe_gauge!(HOLDS, "Whether this node does the steps of a background job (1).");
        let (store, clock) = (Arc::clone(&app.store), Arc::clone(&app.clock));
        let health = Arc::clone(&app.health);
        let tenure = match job.done_by() {
            DoneBy::OneNode => {
                metrics::gauge!(HOLDS, "task" => job.name()).set(0.0);
                health.waits_for_job(job.name());
                None
            }
            DoneBy::EveryNode => {
                health.does_job_without_lease(job.name());
                Some(Tenure { lease_taken_at: None, next_step_at: clock.now() })
            }
        };
        Self { job, store, clock, health, holder, tenure, is_lone: false, step: None, is_failing: false }
    }

    /// The same runner for a node that shares its store with no other, so that taking the lease is no news for the log.
    #[must_use]
    pub const fn on_a_lone_node(mut self) -> Self {
        self.is_lone = true;
        self
    }

    /// Whether this node holds the job's lease and therefore runs its steps.
    #[must_use]
    pub const fn holds_lease(&self) -> bool {
        matches!(&self.tenure, Some(Tenure { lease_taken_at: Some(_), .. }))
    }

    /// Takes the lease if it is free, renews it if that is due, and gives up if it could not be renewed in time. Then begins
    /// a step if one is due. A running step is not polled meanwhile.
    pub async fn tick(&mut self) {
        let now = Moment::of(self.clock.as_ref());
        if self.tenure.as_ref().is_some_and(|tenure| tenure.is_over(now)) {
            self.give_up("the lease could not be renewed in time");
        }
        if !self.tenure.as_ref().is_some_and(|tenure| tenure.is_fresh(now)) {
            self.take_lease(now).await;
        }
        self.begin_step();
    }

    async fn take_lease(&mut self, now: Moment) {
        let until = now.time.plus(TERM);
        let taken = self.store.take_lease(self.job.name(), self.holder, now.time, until).await;
        self.note_how_the_store_does(&taken);
        let (mut no_lease, job) = (None, self.job.name());
        match (taken, &mut self.tenure) {
            (Ok(true), Some(tenure)) => tenure.lease_taken_at = Some(now),
            (Ok(true), tenure @ None) => {
                *tenure = Some(Tenure { lease_taken_at: Some(now), next_step_at: now.time });
                if self.is_lone {
                    tracing::debug!(job = self.job.name(), "took over background work");
                } else {
                    tracing::info!(job = self.job.name(), "took over background work");
                }
                self.health.took_over_job(self.job.name());
                metrics::gauge!(HOLDS, "task" => self.job.name()).set(1.0);
            }
            (Ok(false), tenure) => {
                if tenure.is_some() {
                    self.give_up("another node has taken the lease");
                }
                self.health.waits_for_job(job);
            }
            (Err(error), _) => {
                tracing::debug!(job, %error, "could not take the lease of background work");
                // A node that contends for it does the job.
                no_lease = Some(error).filter(|error| !matches!(error, StoreError::Contended));
            }
        }
        // The store may have taken long to answer.
        let now = Moment::of(self.clock.as_ref());
        if self.tenure.as_ref().is_some_and(|tenure| tenure.is_over(now)) {
            self.give_up("the lease could not be renewed in time");
        }
        if let (Some(error), None) = (no_lease, &self.tenure) {
            // Other nodes may have the same trouble, and then no node does the job.
            let text = format!("its lease cannot be taken: {}", with_causes(&error));
            self.health.fails_with(Part::Job(job), now.time, &text);
        }
    }

    /// Notes an outage of the database even if nobody opens the health page: every node writes leases every few seconds.
    fn note_how_the_store_does(&self, taken: &Result<bool, StoreError>) {
        let (health, now) = (&self.health, self.clock.now());
        match taken {
            Ok(_) => {
                health.works(Part::Database, now);
                health.works(Part::DatabaseWrites, now);
            }
            Err(error @ StoreError::Unavailable(_)) => {
                health.fails(Part::Database, now, error);
                health.fails(Part::DatabaseWrites, now, error);
            }
            Err(error @ StoreError::Unwritable(_)) => health.fails(Part::DatabaseWrites, now, error),
            Err(StoreError::Contended | StoreError::Corrupt { .. }) => {}
        }
    }

    fn give_up(&mut self, reason: &str) {
        self.step = None;
        // When this node runs steps again, it logs the first failure again.
        self.is_failing = false;
        self.tenure = None;
        tracing::info!(job = self.job.name(), reason, "gave up background work");
        self.health.gave_up_job(self.job.name());
        metrics::gauge!(HOLDS, "task" => self.job.name()).set(0.0);
    }

    fn begin_step(&mut self) {
        let now = Moment::of(self.clock.as_ref());
        let Some(tenure) = &self.tenure else { return };
        let is_due = tenure.is_step_due(now.time, self.job.period());
        if self.step.is_none() && is_due && !tenure.is_over(now) {
            self.step =
                Some(RunningStep { began_at: now.time, outcome: Box::pin(step_of(Arc::clone(&self.job))) });
        }
    }

    /// Runs the current step to its end. Without a current step, it waits forever. The caller may drop this
    /// future at any time: the next call continues the step.
    pub async fn work(&mut self) {
        let Some(step) = &mut self.step else { return std::future::pending().await };
        let outcome = step.outcome.as_mut().await;
        let began_at = step.began_at;
        self.step = None;
        let (part, now) = (Part::Job(self.job.name()), self.clock.now());
        let label = match &outcome {
            Outcome::Made(_) => {
                self.health.works(part, now);
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!(job = self.job.name(), "steps of background work succeed again");
                }
                "done"
            }
            Outcome::Failed(error) => {
                self.health.fails(part, now, error);
                self.note_failure(error);
                "failed"
            }
            Outcome::Panicked => {
                self.health.fails_with(part, now, "a step panicked; the log says more");
                tracing::error!(job = self.job.name(), "a step of background work panicked");
                "panicked"
            }
        };
        metrics::counter!(STEPS, "task" => self.job.name(), "outcome" => label).increment(1);
        if let Some(tenure) = &mut self.tenure {
            tenure.next_step_at = match outcome {
                Outcome::Made(Progress::More) => began_at,
                Outcome::Made(Progress::Done) | Outcome::Failed(_) | Outcome::Panicked => {
                    began_at.plus(self.job.period())
                }
            };
        }
        self.begin_step();
    }

    /// Logs a warning for the first of several failures in a row: during an outage of the store, every step fails.
    fn note_failure(&mut self, error: &AppError) {
        let job = self.job.name();
        let cause = std::error::Error::source(error).map(ToString::to_string);
        if std::mem::replace(&mut self.is_failing, true) {
            tracing::debug!(job, %error, cause, "a step of background work failed again");
        } else {
            tracing::warn!(job, %error, cause, "a step of background work failed");
        }
    }

    /// Drops the running step and releases the lease, so that another node takes over at once. If the store cannot be
    /// reached, the lease ends after its term. A job without a lease [leaves](Job::leave).
    pub async fn stop(mut self) {
        if self.job.done_by() == DoneBy::EveryNode {
            self.step = None;
            if let Err(error) = self.job.leave().await {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::warn!(job = self.job.name(), %error, cause, "background work could not be ended in order");
            }
            return;
        }
        if !self.holds_lease() {
            return;
        }
        self.give_up("this node stops");
        if let Err(error) = self.store.release_lease(self.job.name(), self.holder).await {
            tracing::warn!(job = self.job.name(), %error, "could not release the lease of background work; it ends after its term");
        }
    }
}

/// Runs a step, and turns a panic into an outcome.
async fn step_of(job: Arc<dyn Job>) -> Outcome {
    let mut step = job.step();
    poll_fn(|context| {
        // A step that has panicked is never polled again, so its broken state is never seen.
        match catch_unwind(AssertUnwindSafe(|| step.as_mut().poll(context))) {
            Ok(progress) => progress.map(|progress| progress.map_or_else(Outcome::Failed, Outcome::Made)),
            Err(_) => std::task::Poll::Ready(Outcome::Panicked),
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use signpost_port_contracts::samples;

    use super::*;

    #[test]
    fn r22_setting_the_clock_never_prolongs_a_tenure() {
        let began = Instant::now();
        let at = |seconds: u64, millis| Moment {
            time: samples::at(millis),
            instant: began + Duration::from_secs(seconds),
        };
        let tenure = Tenure { lease_taken_at: Some(at(0, 0)), next_step_at: samples::at(0) };
        for (now, is_fresh, is_over) in [
            (at(2, 2_999), true, false),
            (at(3, 3_000), false, false),
            (at(6, 6_000), false, true),
            (at(3, 1), false, false),
            (at(6, 1), false, true),
            (at(6, -3_600_000), false, true),
            (at(1, -1), false, false),
            (at(1, 3_600_000), false, true),
        ] {
            assert_eq!((tenure.is_fresh(now), tenure.is_over(now)), (is_fresh, is_over), "{now:?}");
        }
    }
}
