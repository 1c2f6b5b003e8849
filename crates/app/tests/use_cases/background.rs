//! Background jobs: one node at a time does their steps, or every node.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::AppError;
use signpost_app::background::{DoneBy, ForgetChanges, Job, JobRunner, Progress};
use signpost_app::ports::{LeaseHolder, ReadChanges, Store, StoreError};
use signpost_domain::id::AccountKind;
use signpost_memory::{Fault, InMemory, Step};
use signpost_port_contracts::logs::Log;
use signpost_port_contracts::samples;

use crate::world::World;

const PERIOD: Duration = Duration::from_mins(1);

/// What the steps of a job do.
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

/// A job whose steps are counted, those that began and those that ended or were cut off.
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
            Conduct::Fail => Err(StoreError::unavailable("as asked").into()),
            Conduct::Panic => panic!("as asked"),
            Conduct::Hang => std::future::pending().await,
        }
    }
}

/// Nodes that share a store, each with a runner of the one job.
struct Nodes {
    memory: InMemory,
    job: Arc<Counted>,
    runners: Vec<JobRunner>,
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
            JobRunner::new(&memory.application(), Arc::<Counted>::clone(&job), holder)
        };
        let runners = (0..count).map(runner).collect();
        Self { memory, job, runners }
    }

    /// So many seconds pass, in each of which every node has its tick, and time to work.
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

    /// The numbers of the nodes that do the steps.
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

/// A node that dies gives nothing back; its lease ends ten seconds after it was last renewed.
#[tokio::test]
async fn a_node_that_dies_is_followed_when_its_lease_ends() {
    let mut nodes = Nodes::new(3, Conduct::Finish);
    nodes.pass(3).await;
    drop(nodes.runners.remove(0));
    nodes.pass(7).await;
    assert_eq!(nodes.holders(), Vec::<usize>::new());
    nodes.pass(4).await;
    assert_eq!((nodes.holders(), nodes.begun()), (vec![0], 2), "another goes on");
}

#[tokio::test]
async fn a_node_that_stops_is_followed_at_once() {
    let mut nodes = Nodes::new(2, Conduct::Hang);
    nodes.tick().await;
    nodes.runners.remove(0).stop().await;
    assert_eq!((nodes.begun(), nodes.over()), (1, 1), "its step is cut off");
    nodes.tick().await;
    assert_eq!((nodes.holders(), nodes.begun()), (vec![0], 2));
}

/// R19: nodes' clocks may differ by two seconds either way, so a lease is not used in its last four.
#[tokio::test]
async fn a_lease_that_cannot_be_renewed_is_given_up_long_before_it_ends() {
    let mut nodes = Nodes::new(1, Conduct::Hang);
    nodes.tick().await;
    nodes.memory.store.faults().fail_next(Step::Lease, Fault::Unavailable, 3);
    nodes.pass(5).await;
    assert_eq!((nodes.holders(), nodes.over()), (vec![0], 0), "it has been tried at 3, 4 and 5 seconds");
    nodes.memory.store.faults().fail_next(Step::Lease, Fault::Unavailable, 1);
    nodes.pass(1).await;
    assert_eq!((nodes.holders(), nodes.over()), (vec![], 1), "the step is cut off");
    nodes.pass(1).await;
    assert_eq!((nodes.holders(), nodes.begun()), (vec![0], 2), "and begins again with the lease");
}

/// A failure now and then costs nothing.
#[tokio::test]
async fn a_renewal_that_fails_is_tried_again() {
    let mut nodes = Nodes::new(2, Conduct::Hang);
    nodes.tick().await;
    for _ in 0..10 {
        nodes.memory.store.faults().fail_next(Step::Lease, Fault::Contended, 1);
        nodes.pass(3).await;
        assert_eq!((nodes.holders(), nodes.over()), (vec![0], 0));
    }
}

/// R21: a step that panics or fails costs that step, and not the job.
#[tokio::test]
async fn r21_a_step_that_panics_or_fails_is_followed_by_another_after_the_period() {
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
async fn a_step_that_left_something_is_followed_at_once() {
    let mut nodes = Nodes::new(1, Conduct::HaveMore);
    nodes.pass(5).await;
    assert!(nodes.begun() > 5, "{}", nodes.begun());
}

/// R22: a clock that is set back neither stops the renewals nor the steps.
#[tokio::test]
async fn r22_a_clock_that_steps_back_stops_nothing() {
    let mut nodes = Nodes::new(1, Conduct::Finish);
    nodes.pass(10).await;
    nodes.memory.clock.step_back(Duration::from_hours(1));
    nodes.memory.store.faults().fail_next(Step::Lease, Fault::Unavailable, 1);
    nodes.tick().await;
    assert_eq!(nodes.memory.store.faults().outstanding(), 0, "it is renewed at once");
    nodes.pass(60).await;
    assert!(nodes.holders() == [0] && nodes.begun() >= 2);
    nodes.memory.clock.advance(Duration::from_hours(2));
    nodes.pass(2).await;
    assert_eq!(nodes.holders(), [0]);
}

/// A job of every node has no lease that could be lost, so nothing is asked of the store.
#[tokio::test]
async fn a_job_of_every_node_is_done_by_each_without_a_lease() {
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

/// And its steps may take as long as they bound themselves, whatever becomes of the store meanwhile.
#[tokio::test]
async fn a_step_of_every_node_is_cut_off_only_when_its_node_stops() {
    let mut nodes = Nodes::of(2, Conduct::Hang, DoneBy::EveryNode);
    nodes.memory.store.faults().set_unavailable(true);
    nodes.pass(120).await;
    nodes.memory.clock.step_back(Duration::from_hours(1));
    nodes.pass(1).await;
    assert_eq!((nodes.begun(), nodes.over()), (2, 0));
    nodes.runners.remove(0).stop().await;
    assert_eq!((nodes.begun(), nodes.over()), (2, 1));
}

/// A store that is away for long fills no log: the first failure is told, and its end, each time.
#[tokio::test]
async fn failures_in_a_row_are_told_once() {
    let log = Log::begin();
    let mut nodes = Nodes::of(1, Conduct::AskTheStore, DoneBy::EveryNode);
    let told = |log: &Log| {
        [log.count("a step of background work failed"), log.count("steps of background work succeed again")]
    };
    nodes.pass(300).await;
    assert_eq!(told(&log), [0, 0]);
    for outage in 1..=2 {
        nodes.memory.store.faults().set_unavailable(true);
        nodes.pass(300).await;
        assert_eq!(told(&log), [outage, outage - 1]);
        nodes.memory.store.faults().set_unavailable(false);
        nodes.pass(300).await;
        assert_eq!(told(&log), [outage, outage]);
    }
}

/// The change log is kept for an hour.
#[tokio::test]
async fn old_changes_are_forgotten() {
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
