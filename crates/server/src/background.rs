//! The tasks beside the listeners: following the change log, and the background jobs.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use signpost_app::Application;
use signpost_app::background::{Job, JobRunner, jobs};
use signpost_app::changes::{ChangeCounter, ChangeFollower};
use signpost_app::node_health::{NodeHealth, Part};
use signpost_app::ports::{Clock, LeaseHolder};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};

/// How often the change log is read. A change on another node shows within one second (D58) even if a read is
/// late.
const FOLLOWED_EVERY: Duration = Duration::from_millis(250);

/// How often jobs check whether they have work.
const TICK: Duration = Duration::from_secs(1);

/// How long to wait until a job has released its lease.
const RELEASED_WITHIN: Duration = Duration::from_secs(5);

/// The running tasks.
pub(crate) struct Background {
    follower: JoinHandle<()>,
    jobs: Vec<JoinHandle<()>>,
    /// Whether the jobs must stop.
    stop: watch::Sender<bool>,
}

impl Background {
    /// Starts the tasks. Once this returns, no change is missed unless the store is unreachable. `is_lone` says whether the
    /// store is usually this node's alone.
    pub(crate) async fn start(app: &Arc<Application>, is_lone: bool) -> Self {
        let (health, clock) = (Arc::clone(&app.health), Arc::clone(&app.clock));
        let mut follower = Following { follower: ChangeFollower::new(app), health, clock, is_failing: false };
        follower.poll().await;
        // Counts from here on: when the first read succeeds, no link is in memory yet, so the node has missed nothing.
        app.changes.subscribe(Arc::new(ChangeCounter::new()));
        let (stop, stopping) = watch::channel(false);
        let holder = LeaseHolder::from_bytes(app.node.id.to_bytes());
        let runs =
            jobs(app).into_iter().map(|job| tokio::spawn(run(app, job, holder, is_lone, stopping.clone())));
        Self { follower: tokio::spawn(follower.follow()), jobs: runs.collect(), stop }
    }

    /// Tells the jobs to stop and to release their leases, so that other nodes take over. Does not wait for
    /// them.
    pub(crate) fn hand_over(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until the leases are released, and ends the tasks. Call this before the store is closed.
    pub(crate) async fn end(self) {
        self.hand_over();
        let Self { follower, jobs, stop: _ } = self;
        for mut job in jobs {
            if timeout(RELEASED_WITHIN, &mut job).await.is_err() {
                tracing::warn!("a background job did not stop in time and is aborted");
                job.abort();
            }
        }
        follower.abort();
    }
}

fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Follows the change log, and logs each failure and each recovery once.
struct Following {
    follower: ChangeFollower,
    health: Arc<NodeHealth>,
    clock: Arc<dyn Clock>,
    is_failing: bool,
}

impl Following {
    async fn follow(mut self) {
        let mut ticks = ticks(FOLLOWED_EVERY);
        loop {
            ticks.tick().await;
            // A node that no longer follows would serve outdated links, so a panic must not end the loop. The
            // follower treats the interrupted read as a gap.
            if AssertUnwindSafe(self.poll()).catch_unwind().await.is_err() {
                tracing::error!("reading the change log panicked; the node goes on following it");
            }
        }
    }

    async fn poll(&mut self) {
        let polled = self.follower.poll().await;
        match self.health.noted(Part::ChangeLog, self.clock.now(), polled) {
            Ok(()) if self.is_failing => tracing::info!("the change log can be read again"),
            Err(error) if !self.is_failing => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::error!(%error, cause, "the change log cannot be read");
                self.is_failing = true;
                return;
            }
            Ok(()) => {}
            Err(_) => return,
        }
        self.is_failing = false;
    }
}

/// Runs a job until it must stop.
fn run(
    app: &Application,
    job: Arc<dyn Job>,
    holder: LeaseHolder,
    is_lone: bool,
    mut stopping: watch::Receiver<bool>,
) -> impl Future<Output = ()> + use<> {
    let runner = JobRunner::new(app, job, holder);
    let mut runner = if is_lone { runner.on_a_lone_node() } else { runner };
    async move {
        let mut ticks = ticks(TICK);
        loop {
            tokio::select! {
                // In this order: a stop and a tick come before the next step of work.
                biased;
                () = stop_requested(&mut stopping) => break,
                _ = ticks.tick() => runner.tick().await,
                () = runner.work() => {}
            }
        }
        runner.stop().await;
    }
}

/// Returns when a stop is requested, or when the sender is gone.
async fn stop_requested(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}
