//! Announcements of changes that visitors can see (D58).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use signpost_app::changes::{ChangeFollower, ChangeSubscriber, Origin};
use signpost_app::idempotency::Idempotency;
use signpost_app::ports::{Affected, StoreError, VisibleChange};
use signpost_app::{Application, Operator, accounts, groups, links};
use signpost_domain::{Batch, Placement, Precondition, RedirectRequest, id::RedirectKind};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::world::{World, draft};

/// The notifications of a node, in order.
#[derive(Default)]
struct RecordedChanges(Mutex<Vec<Word>>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Changed(VisibleChange, Origin),
    Anything,
}

impl ChangeSubscriber for RecordedChanges {
    fn changed(&self, change: &VisibleChange, origin: Origin) {
        self.0.lock().unwrap().push(Word::Changed(change.clone(), origin));
    }

    fn anything_may_have_changed(&self) {
        self.0.lock().unwrap().push(Word::Anything);
    }
}

impl RecordedChanges {
    fn on(app: &Application) -> Arc<Self> {
        let recorded = Arc::<Self>::default();
        app.changes.subscribe(Arc::<Self>::clone(&recorded));
        recorded
    }

    /// The notifications since the last call.
    fn words(&self) -> Vec<Word> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn at(world: &World, slugs: &[&str], origin: Origin) -> Word {
    let addresses = slugs.iter().filter_map(|slug| Placement::address(&samples::on_system(slug))).collect();
    let change = VisibleChange { account: world.account.id, affected: Affected::Addresses(addresses) };
    Word::Changed(change, origin)
}

fn whole(world: &World, origin: Origin) -> Word {
    Word::Changed(VisibleChange { account: world.account.id, affected: Affected::Account }, origin)
}

#[tokio::test]
async fn d58_subscribers_on_the_node_are_notified_before_the_answer() {
    let world = World::new().await;
    let recorded = RecordedChanges::on(&world.app);
    let own = Origin::ThisNode;
    let link = world.redirect("a").await;
    assert_eq!(recorded.words(), [at(&world, &["a"], own)]);
    let moved = RedirectRequest {
        slug: signpost_domain::Change::Set(samples::slug("b")),
        ..RedirectRequest::default()
    };
    world.update(link.id, moved).await.unwrap();
    assert_eq!(recorded.words(), [at(&world, &["a", "b"], own)]);
    let caller = world.caller().await;
    links::delete(&world.app, &caller, link.id.into(), &Precondition::None).await.unwrap();
    assert_eq!(recorded.words(), [at(&world, &["b"], own)]);
    let two = [world.redirect("c").await, world.redirect("d").await].map(|link| link.id.to_string());
    recorded.words();
    let ids = Batch::new(two.into()).unwrap();
    links::delete_many::<RedirectKind>(&world.app, &caller, &ids, Idempotency::disabled()).await.unwrap();
    assert_eq!(recorded.words(), [at(&world, &["c", "d"], own)]);
    accounts::suspend(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
    assert_eq!(recorded.words(), [whole(&world, own)]);
    accounts::resume(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
    assert_eq!(recorded.words(), [whole(&world, own)]);
}

#[tokio::test]
async fn d58_changes_invisible_to_visitors_are_not_announced() {
    let world = World::new().await;
    let link = world.redirect("a").await;
    let recorded = RecordedChanges::on(&world.app);
    world.update(link.id, RedirectRequest::default()).await.unwrap();
    world.create(draft("a")).await.unwrap_err();
    let group = world.group("Spring").await;
    let ids = Batch::new(vec![link.id.to_string()]).unwrap();
    groups::assign(&world.app, &world.caller().await, group.id.into(), &ids, Idempotency::disabled())
        .await
        .unwrap();
    groups::delete(&world.app, &world.caller().await, group.id.into(), &Precondition::None).await.unwrap();
    assert_eq!(recorded.words(), []);
}

/// A commit without an answer may have succeeded. A contended commit did not.
#[tokio::test]
async fn d58_a_commit_is_announced_unless_it_certainly_failed() {
    let world = World::new().await;
    let recorded = RecordedChanges::on(&world.app);
    world.memory.store.faults().fail_next(Step::Commit, Fault::Unavailable, 1);
    world.create(draft("a")).await.unwrap_err();
    assert_eq!(recorded.words(), [at(&world, &["a"], Origin::ThisNode)]);
    world.memory.store.faults().fail_next(Step::Commit, Fault::Contended, 2);
    world.create(draft("b")).await.unwrap();
    assert_eq!(recorded.words(), [at(&world, &["b"], Origin::ThisNode)]);
}

/// Two nodes on one store.
struct Nodes {
    world: World,
    recorded: Arc<RecordedChanges>,
    follower: ChangeFollower,
    recorded_here: Arc<RecordedChanges>,
    follower_here: ChangeFollower,
}

impl Nodes {
    /// Both have begun to read.
    async fn new() -> Self {
        let world = World::new().await;
        let other = world.memory.application();
        let (recorded_here, recorded) = (RecordedChanges::on(&world.app), RecordedChanges::on(&other));
        let (mut follower_here, mut follower) =
            (ChangeFollower::new(&world.app), ChangeFollower::new(&other));
        for (recorded, follower) in [(&recorded_here, &mut follower_here), (&recorded, &mut follower)] {
            follower.poll().await.unwrap();
            assert_eq!(recorded.words(), [Word::Anything], "earlier changes are unknown");
        }
        Self { world, recorded, follower, recorded_here, follower_here }
    }

    async fn poll(&mut self) -> Vec<Word> {
        self.follower.poll().await.unwrap();
        self.recorded.words()
    }
}

#[tokio::test]
async fn every_node_reads_each_change_once() {
    let mut nodes = Nodes::new().await;
    nodes.world.redirect("a").await;
    assert_eq!(nodes.recorded.words(), [], "the node is not notified yet");
    assert_eq!(nodes.poll().await, [at(&nodes.world, &["a"], Origin::Log)]);
    nodes.world.redirect("b").await;
    nodes.world.redirect("c").await;
    let expected = ["b", "c"].map(|slug| at(&nodes.world, &[slug], Origin::Log));
    assert_eq!(nodes.poll().await, expected);
    assert_eq!(nodes.poll().await, []);
    // The node of the change reads it too: its announcement may have been cancelled.
    nodes.recorded_here.words();
    nodes.follower_here.poll().await.unwrap();
    assert_eq!(nodes.recorded_here.words().len(), 3);
}

#[tokio::test]
async fn d58_no_change_is_missed_while_the_log_is_unreadable() {
    let mut nodes = Nodes::new().await;
    nodes.world.redirect("a").await;
    nodes.world.memory.store.faults().fail_next(Step::Log, Fault::Unavailable, 2);
    for _ in 0..2 {
        assert!(matches!(nodes.follower.poll().await, Err(StoreError::Unavailable(_))));
    }
    nodes.world.memory.clock.advance(Duration::from_mins(29));
    assert_eq!(nodes.poll().await, [at(&nodes.world, &["a"], Origin::Log)]);
}

/// Entries may have been deleted by then. After a clock step the elapsed time is unknown.
#[tokio::test]
async fn d58_after_half_an_hour_anything_may_have_changed() {
    let mut nodes = Nodes::new().await;
    nodes.world.redirect("a").await;
    nodes.world.memory.clock.advance(Duration::from_mins(31));
    assert_eq!(nodes.poll().await, [Word::Anything]);
    nodes.world.memory.clock.step_back(Duration::from_hours(3));
    assert_eq!(nodes.poll().await, [Word::Anything]);
    nodes.world.redirect("b").await;
    assert_eq!(nodes.poll().await, [at(&nodes.world, &["b"], Origin::Log)]);
}

#[tokio::test]
async fn d58_after_deleted_or_corrupt_entries_anything_may_have_changed() {
    let mut nodes = Nodes::new().await;
    nodes.world.redirect("a").await;
    assert_eq!(nodes.world.app.store.forget_changes(Duration::ZERO, 10).await.unwrap(), 1);
    assert_eq!(nodes.poll().await, [Word::Anything]);
    nodes.world.redirect("b").await;
    nodes.world.memory.store.faults().fail_next(Step::Log, Fault::Corrupt, 1);
    assert!(matches!(nodes.follower.poll().await, Err(StoreError::Corrupt { .. })));
    assert_eq!(nodes.poll().await, [Word::Anything]);
    nodes.world.redirect("c").await;
    assert_eq!(nodes.poll().await, [at(&nodes.world, &["c"], Origin::Log)]);
}

/// Reading so many entries costs more than reloading.
#[tokio::test]
async fn d58_beyond_ten_thousand_entries_anything_may_have_changed() {
    let mut nodes = Nodes::new().await;
    for _ in 0..10_001 {
        let mut work = nodes.world.app.store.begin().await.unwrap();
        assert!(work.set_suspended(nodes.world.account.id, None).await.unwrap());
        work.commit().await.unwrap();
    }
    assert_eq!(nodes.poll().await, [Word::Anything]);
    assert_eq!(nodes.poll().await, []);
}
