//! Background jobs, which run on one node at a time or on every node.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::AppError;
use signpost_app::background::{DoneBy, ForgetChanges, Job, JobRunner, Progress};
use signpost_app::node_health::{NodeHealth, Part};
use signpost_app::ports::{LeaseHolder, ReadChanges, Store, StoreError};
use signpost_domain::id::AccountKind;
use signpost_memory::{Fault, InMemory, Step};
use signpost_port_contracts::logs::Log;
use signpost_port_contracts::samples;

use crate::world::World;

const PERIOD: Duration = Duration::from_mins(1);

/// The behaviour of the steps of a job.
#[derive(Debug, Clone, Copy)]
enum Conduct {
    Finish,
    /// Fails while the store is away.
    AskTheStore,
    HaveMore,
    Fail,
    Panic,
    Hang,
}

/// A job that counts the steps that began, and those that ended or were cancelled.
struct Counted {
    conduct: Conduct,
    done_by: DoneBy,
    begun: AtomicUsize,
    over: AtomicUsize,
    store: Arc<dyn Store>,
}

struct Over<'a>(&'a AtomicUsize);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Job for Counted {
    fn name(&self) -> &'static str {
        "counted"
    }

    fn done_by(&self) -> DoneBy {
        self.done_by
    }

    fn period(&self) -> Duration {
        PERIOD
    }

    async fn step(&self) -> Result<Progress, AppError> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let _over = Over(&self.over);
        tokio::task::yield_now().await;
        match self.conduct {
            Conduct::Finish => Ok(Progress::Done),
            Conduct::AskTheStore => {
                self.store.end_of_changes().await?;
                Ok(Progress::Done)
            }
            Conduct::HaveMore => Ok(Progress::More),
            Conduct::Fail => Err(StoreError::unavailable("as the test requires").into()),
            Conduct::Panic => panic!("as the test requires"),
            Conduct::Hang => std::future::pending().await,
        }
    }
}

/// Nodes that share a store, each with a runner of the one job.
struct Nodes {
    memory: InMemory,
    job: Arc<Counted>,
    runners: Vec<JobRunner>,
    /// What each node noticed.
    healths: Vec<Arc<NodeHealth>>,
}

impl Nodes {
    fn new(count: usize, conduct: Conduct) -> Self {
        Self::of(count, conduct, DoneBy::OneNode)
    }

    fn of(count: usize, conduct: Conduct, done_by: DoneBy) -> Self {
        let memory = InMemory::default();
        let (begun, over) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let store = memory.application().store;
        let job = Arc::new(Counted { conduct, done_by, begun, over, store });
        let runner = |_| {
            let holder = LeaseHolder::from_bytes(samples::id::<AccountKind>().to_bytes());
            let app = memory.application();
            (JobRunner::new(&app, Arc::<Counted>::clone(&job), holder), app.health)
        };
        let (runners, healths) = (0..count).map(runner).unzip();
        Self { memory, job, runners, healths }
    }

    /// Lets seconds pass. In each, every node ticks and works.
    async fn pass(&mut self, seconds: u32) {
        for _ in 0..seconds {
            self.memory.clock.advance(Duration::from_secs(1));
            self.tick().await;
        }
    }

    async fn tick(&mut self) {
        for runner in &mut self.runners {
            runner.tick().await;
            for _ in 0..4 {
                tokio::select! {
                    biased;
                    () = runner.work() => {}
                    () = tokio::task::yield_now() => {}
                }
            }
        }
        assert!(self.holders().len() <= 1, "{:?}", self.holders());
    }

    /// The numbers of the nodes that hold the lease.
    fn holders(&self) -> Vec<usize> {
        let numbered = self.runners.iter().enumerate();
        numbered.filter(|(_, runner)| runner.holds_lease()).map(|(number, _)| number).collect()
    }

    fn begun(&self) -> usize {
        self.job.begun.load(Ordering::SeqCst)
    }

    fn over(&self) -> usize {
        self.job.over.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn one_node_does_the_steps_once_a_period() {
    let mut nodes = Nodes::new(3, Conduct::Finish);
    nodes.tick().await;
    assert_eq!((nodes.holders(), nodes.begun()), (vec![0], 1), "the first step comes soon");
    nodes.pass(59).await;
    assert_eq!(nodes.begun(), 1);
    nodes.pass(1).await;
    assert_eq!(nodes.begun(), 2);
    nodes.pass(600).await;
    assert_eq!((nodes.holders(), nodes.begun(), nodes.over()), (vec![0], 12, 12));
}

/// A dead node returns no lease. Its lease ends ten seconds after the last renewal.
#[tokio::test]
async fn another_node_takes_over_when_a_dead_nodes_lease_ends() {
    let mut nodes = Nodes::new(3, Conduct::Finish);
    nodes.pass(3).await;
    drop(nodes.runners.remove(0));
    nodes.pass(7).await;
    assert_eq!(nodes.holders(), Vec::<usize>::new());
    nodes.pass(4).await;
    assert_eq!((nodes.holders(), nodes.begun()), (vec![0], 2), "another node continues");
}

#[tokio::test]
async fn another_node_takes_over_at_once_from_a_stopped_node() {
    let mut nodes = Nodes::new(2, Conduct::Hang);
    nodes.tick().await;
    nodes.runners.remove(0).stop().await;
    assert_eq!((nodes.begun(), nodes.over()), (1, 1), "its step is cancelled");
    nodes.tick().await;
    assert_eq!((nodes.holders(), nodes.begun()), (vec![0], 2));
}

/// R19: clocks of nodes may differ by two seconds either way, so no node uses the last four seconds of a
/// lease.
#[tokio::test]
async fn r19_an_unrenewed_lease_is_given_up_four_seconds_early() {
    let mut nodes = Nodes::new(1, Conduct::Hang);
    nodes.tick().await;
    nodes.memory.store.faults().fail_next(Step::Lease, Fault::Unavailable, 3);
    nodes.pass(5).await;
    assert_eq!((nodes.holders(), nodes.over()), (vec![0], 0), "renewals failed at 3, 4 and 5 seconds");
    nodes.memory.store.faults().fail_next(Step::Lease, Fault::Unavailable, 1);
    nodes.pass(1).await;
    assert_eq!((nodes.holders(), nodes.over()), (vec![], 1), "the step is cancelled");
    nodes.pass(1).await;
    assert_eq!((nodes.holders(), nodes.begun()), (vec![0], 2), "the step restarts with the lease");
}

#[tokio::test]
async fn a_failed_renewal_is_retried() {
    let mut nodes = Nodes::new(2, Conduct::Hang);
    nodes.tick().await;
    for _ in 0..10 {
        nodes.memory.store.faults().fail_next(Step::Lease, Fault::Contended, 1);
        nodes.pass(3).await;
        assert_eq!((nodes.holders(), nodes.over()), (vec![0], 0));
    }
}

/// R21: only the failed step is lost.
#[tokio::test]
async fn r21_a_job_continues_after_a_failed_or_panicking_step() {
    for conduct in [Conduct::Panic, Conduct::Fail] {
        let mut nodes = Nodes::new(2, conduct);
        nodes.tick().await;
        nodes.pass(59).await;
        assert_eq!((nodes.holders(), nodes.begun(), nodes.over()), (vec![0], 1, 1), "{conduct:?}");
        nodes.pass(1).await;
        assert_eq!((nodes.holders(), nodes.begun(), nodes.over()), (vec![0], 2, 2), "{conduct:?}");
    }
}

#[tokio::test]
async fn an_unfinished_job_takes_its_next_step_at_once() {
    let mut nodes = Nodes::new(1, Conduct::HaveMore);
    nodes.pass(5).await;
    assert!(nodes.begun() > 5, "{}", nodes.begun());
}

/// R22: renewals and steps continue.
#[tokio::test]
async fn r22_a_clock_that_steps_back_stops_nothing() {
    let mut nodes = Nodes::new(1, Conduct::Finish);
    nodes.pass(10).await;
    nodes.memory.clock.step_back(Duration::from_hours(1));
    nodes.memory.store.faults().fail_next(Step::Lease, Fault::Unavailable, 1);
    nodes.tick().await;
    assert_eq!(nodes.memory.store.faults().outstanding(), 0, "the lease is renewed at once");
    nodes.pass(60).await;
    assert!(nodes.holders() == [0] && nodes.begun() >= 2);
    nodes.memory.clock.advance(Duration::from_hours(2));
    nodes.pass(2).await;
    assert_eq!(nodes.holders(), [0]);
}

/// Such a job asks the store for no lease.
#[tokio::test]
async fn every_node_runs_its_own_jobs_without_a_lease() {
    let mut nodes = Nodes::of(3, Conduct::Finish, DoneBy::EveryNode);
    nodes.memory.store.faults().fail_next(Step::Lease, Fault::Unavailable, 1);
    nodes.tick().await;
    assert_eq!((nodes.holders(), nodes.begun(), nodes.over()), (vec![], 3, 3));
    nodes.pass(59).await;
    assert_eq!(nodes.begun(), 3);
    nodes.pass(1).await;
    assert_eq!(nodes.begun(), 6);
    nodes.runners.remove(0).stop().await;
    assert_eq!(nodes.memory.store.faults().outstanding(), 1, "no lease was asked for");
}

/// An outage of the store does not end the step.
#[tokio::test]
async fn a_step_without_a_lease_ends_only_with_its_node() {
    let mut nodes = Nodes::of(2, Conduct::Hang, DoneBy::EveryNode);
    nodes.memory.store.faults().set_unavailable(true);
    nodes.pass(120).await;
    nodes.memory.clock.step_back(Duration::from_hours(1));
    nodes.pass(1).await;
    assert_eq!((nodes.begun(), nodes.over()), (2, 0));
    nodes.runners.remove(0).stop().await;
    assert_eq!((nodes.begun(), nodes.over()), (2, 1));
}

/// A long outage must not fill the log. Its first failure and its end are logged.
#[tokio::test]
async fn consecutive_failures_are_logged_once() {
    let log = Log::begin();
    let mut nodes = Nodes::of(1, Conduct::AskTheStore, DoneBy::EveryNode);
    let logged = |log: &Log| {
        [log.count("a step of background work failed"), log.count("steps of background work succeed again")]
    };
    nodes.pass(300).await;
    assert_eq!(logged(&log), [0, 0]);
    for outage in 1..=2 {
        nodes.memory.store.faults().set_unavailable(true);
        nodes.pass(300).await;
        assert_eq!(logged(&log), [outage, outage - 1]);
        nodes.memory.store.faults().set_unavailable(false);
        nodes.pass(300).await;
        assert_eq!(logged(&log), [outage, outage]);
    }
}

/// The only node cannot take the lease, so no node runs the job.
#[tokio::test]
async fn d69_a_job_that_no_node_can_take_fails() {
    let mut nodes = Nodes::new(1, Conduct::Finish);
    let job = |nodes: &Nodes| nodes.healths[0].of(Part::Job("counted"));
    nodes.memory.store.faults().fail_next(Step::Lease, Fault::Unavailable, 1);
    nodes.tick().await;
    let error = job(&nodes).last_error.unwrap().text;
    assert!(error.starts_with("its lease cannot be taken: the store is unavailable: "), "{error}");
    assert_eq!((job(&nodes).is_failing, job(&nodes).holds_lease), (true, Some(false)));
    nodes.pass(1).await;
    assert_eq!((job(&nodes).is_failing, job(&nodes).holds_lease), (false, Some(true)), "now it is done");
    nodes.memory.store.faults().fail_next(Step::Lease, Fault::Unavailable, 3);
    nodes.pass(5).await;
    assert!(!job(&nodes).is_failing, "the node still has its turn");
    nodes.memory.store.faults().fail_next(Step::Lease, Fault::Unavailable, 1);
    nodes.pass(1).await;
    assert_eq!((job(&nodes).is_failing, job(&nodes).holds_lease), (true, Some(false)));
}

#[tokio::test]
async fn d69_a_node_leaves_a_job_to_the_one_that_took_it() {
    let mut nodes = Nodes::new(2, Conduct::Finish);
    nodes.memory.store.faults().fail_next(Step::Lease, Fault::Unavailable, 2);
    nodes.tick().await;
    assert!(nodes.healths.iter().all(|health| health.of(Part::Job("counted")).is_failing));
    nodes.pass(1).await;
    assert!(nodes.healths.iter().all(|health| !health.of(Part::Job("counted")).is_failing));
}

#[tokio::test]
async fn d69_an_outage_of_the_database_is_noted_while_nobody_looks() {
    let mut nodes = Nodes::new(1, Conduct::Finish);
    let failing = |nodes: &Nodes| {
        let failing = nodes.healths[0].failing().into_iter().map(|(part, _)| part.name());
        failing.collect::<Vec<_>>()
    };
    nodes.memory.store.faults().fail_next(Step::Lease, Fault::Unavailable, 1);
    nodes.tick().await;
    assert_eq!(failing(&nodes), ["database", "database_writes", "counted"]);
    nodes.pass(1).await;
    assert!(failing(&nodes).is_empty());
    assert!(nodes.healths[0].of(Part::Database).last_error.is_some(), "the error stays to be seen");
    nodes.memory.store.faults().fail_next(Step::Lease, Fault::Unwritable, 1);
    nodes.pass(3).await;
    assert_eq!(failing(&nodes), ["database_writes"], "it can be read");
}

#[tokio::test]
async fn changes_older_than_an_hour_are_deleted() {
    let world = World::new().await;
    let job = ForgetChanges::new(Arc::clone(&world.app.store));
    let beginning = world.app.store.end_of_changes().await.unwrap();
    for _ in 0..1_500 {
        let mut work = world.app.store.begin().await.unwrap();
        assert!(work.set_suspended(world.account.id, None).await.unwrap());
        work.commit().await.unwrap();
    }
    world.memory.clock.advance(Duration::from_mins(59));
    assert_eq!(job.step().await.unwrap(), Progress::Done);
    let read = world.app.store.changes_since(beginning, 2_000).await.unwrap();
    assert!(matches!(&read, ReadChanges::These { changes, .. } if changes.len() == 1_500), "{read:?}");
    world.memory.clock.advance(Duration::from_mins(1));
    assert_eq!(job.step().await.unwrap(), Progress::More);
    assert_eq!(job.step().await.unwrap(), Progress::Done);
    assert_eq!(world.app.store.forget_changes(Duration::ZERO, 9).await.unwrap(), 0);
}
