//! What runs beside the listeners: following the change log, and the background jobs.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use signpost_app::Application;
use signpost_app::background::{Job, JobRunner, jobs};
use signpost_app::changes::{ChangeCounter, ChangeFollower};
use signpost_app::ports::LeaseHolder;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};

/// How often the change log is read: a change made elsewhere shows within one second (D58) even if a read comes late.
const FOLLOWED_EVERY: Duration = Duration::from_millis(250);

/// How often jobs look whether there is anything to do.
const TICK: Duration = Duration::from_secs(1);

/// How long to wait for leases to be given back.
const GIVEN_BACK_WITHIN: Duration = Duration::from_secs(5);

/// The running tasks.
pub(crate) struct Background {
    follower: JoinHandle<()>,
    jobs: Vec<JoinHandle<()>>,
    /// Whether the jobs are to stop.
    stop: watch::Sender<bool>,
}

impl Background {
    /// Starts everything. Once this returns no change will be missed, unless the store is away.
    pub(crate) async fn start(app: &Arc<Application>) -> Self {
        app.changes.subscribe(Arc::new(ChangeCounter::new()));
        let mut follower = Following { follower: ChangeFollower::new(app), is_failing: false };
        follower.poll().await;
        let (stop, stopping) = watch::channel(false);
        let holder = LeaseHolder::from_bytes(app.ids.next_bits());
        let runs = jobs(app).into_iter().map(|job| tokio::spawn(run(app, job, holder, stopping.clone())));
        Self { follower: tokio::spawn(follower.follow()), jobs: runs.collect(), stop }
    }

    /// Has the jobs stop and give back their leases, so that other nodes go on with them. Does not wait for it.
    pub(crate) fn hand_over(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until the leases are given back, and ends everything. To be called before the store is closed.
    pub(crate) async fn end(self) {
        self.hand_over();
        let Self { follower, jobs, stop: _ } = self;
        for mut job in jobs {
            if timeout(GIVEN_BACK_WITHIN, &mut job).await.is_err() {
                tracing::warn!("a background job did not stop in time");
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

/// Follows the change log, and says when that fails and when it works again, once each.
struct Following {
    follower: ChangeFollower,
    is_failing: bool,
}

impl Following {
    async fn follow(mut self) {
        let mut ticks = ticks(FOLLOWED_EVERY);
        loop {
            ticks.tick().await;
            // A node that no longer follows would show what is long gone, so one panic must not end this. What the reader
            // had begun it takes for a gap.
            if AssertUnwindSafe(self.poll()).catch_unwind().await.is_err() {
                tracing::error!("following the change log ended in a panic; it goes on");
            }
        }
    }

    async fn poll(&mut self) {
        match self.follower.poll().await {
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

/// Runs a job until it is to stop.
fn run(
    app: &Application,
    job: Arc<dyn Job>,
    holder: LeaseHolder,
    mut stopping: watch::Receiver<bool>,
) -> impl Future<Output = ()> + use<> {
    let mut runner = JobRunner::new(app, job, holder);
    async move {
        let mut ticks = ticks(TICK);
        loop {
            tokio::select! {
                // In this order: a step goes on only where there is nothing to say against it.
                biased;
                () = asked(&mut stopping) => break,
                _ = ticks.tick() => runner.tick().await,
                () = runner.work() => {}
            }
        }
        runner.stop().await;
    }
}

/// Returns once a stop is asked for, or cannot be asked for any more.
async fn asked(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}
