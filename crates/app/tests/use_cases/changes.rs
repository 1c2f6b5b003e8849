//! Who is told of changes that visitors can see, and when.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use signpost_app::changes::{ChangeFollower, ChangeSubscriber, Origin};
use signpost_app::idempotency::Idempotency;
use signpost_app::ports::{Affected, StoreError, VisibleChange};
use signpost_app::{Application, accounts, groups, links};
use signpost_domain::{Batch, Placement, RedirectRequest, id::RedirectKind};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::world::{World, draft};

/// What a node was told, in order.
#[derive(Default)]
struct Told(Mutex<Vec<Word>>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Changed(VisibleChange, Origin),
    Anything,
}

impl ChangeSubscriber for Told {
    fn changed(&self, change: &VisibleChange, origin: Origin) {
        self.0.lock().unwrap().push(Word::Changed(change.clone(), origin));
    }

    fn anything_may_have_changed(&self) {
        self.0.lock().unwrap().push(Word::Anything);
    }
}

impl Told {
    fn on(app: &Application) -> Arc<Self> {
        let told = Arc::<Self>::default();
        app.changes.subscribe(Arc::<Self>::clone(&told));
        told
    }

    /// What it was told since this was last asked.
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

/// A change shows at once on the node that made it: its own subscribers know before the use case answers.
#[tokio::test]
async fn a_use_case_tells_its_own_node_before_it_answers() {
    let world = World::new().await;
    let told = Told::on(&world.app);
    let own = Origin::ThisNode;
    let link = world.redirect("a").await;
    assert_eq!(told.words(), [at(&world, &["a"], own)]);
    let moved = RedirectRequest {
        slug: signpost_domain::Change::Set(samples::slug("b")),
        ..RedirectRequest::default()
    };
    world.update(link.id, moved).await.unwrap();
    assert_eq!(told.words(), [at(&world, &["a", "b"], own)]);
    let caller = world.caller().await;
    links::delete(&world.app, &caller, link.id.into()).await.unwrap();
    assert_eq!(told.words(), [at(&world, &["b"], own)]);
    let two = [world.redirect("c").await, world.redirect("d").await].map(|link| link.id.to_string());
    told.words();
    let ids = Batch::new(two.into()).unwrap();
    links::delete_many::<RedirectKind>(&world.app, &caller, &ids, Idempotency::disabled()).await.unwrap();
    assert_eq!(told.words(), [at(&world, &["c", "d"], own)]);
    accounts::suspend(&world.app, world.account.id).await.unwrap();
    assert_eq!(told.words(), [whole(&world, own)]);
    accounts::resume(&world.app, world.account.id).await.unwrap();
    assert_eq!(told.words(), [whole(&world, own)]);
}

#[tokio::test]
async fn what_changes_nothing_for_visitors_is_not_told() {
    let world = World::new().await;
    let link = world.redirect("a").await;
    let told = Told::on(&world.app);
    world.update(link.id, RedirectRequest::default()).await.unwrap();
    world.create(draft("a")).await.unwrap_err();
    let group = world.group("Spring").await;
    let ids = Batch::new(vec![link.id.to_string()]).unwrap();
    groups::assign(&world.app, &world.caller().await, group.id.into(), &ids, Idempotency::disabled())
        .await
        .unwrap();
    groups::delete(&world.app, &world.caller().await, group.id.into()).await.unwrap();
    assert_eq!(told.words(), []);
}

/// Whether a commit took place that was not answered is not known. One that is to be run again did not.
#[tokio::test]
async fn a_commit_without_an_answer_is_told_and_one_to_be_run_again_is_not() {
    let world = World::new().await;
    let told = Told::on(&world.app);
    world.memory.store.faults().fail_next(Step::Commit, Fault::Unavailable, 1);
    world.create(draft("a")).await.unwrap_err();
    assert_eq!(told.words(), [at(&world, &["a"], Origin::ThisNode)]);
    world.memory.store.faults().fail_next(Step::Commit, Fault::Contended, 2);
    world.create(draft("b")).await.unwrap();
    assert_eq!(told.words(), [at(&world, &["b"], Origin::ThisNode)]);
}

/// Two nodes on one store.
struct Nodes {
    world: World,
    told: Arc<Told>,
    follower: ChangeFollower,
    told_here: Arc<Told>,
    follower_here: ChangeFollower,
}

impl Nodes {
    /// Both have begun to read.
    async fn new() -> Self {
        let world = World::new().await;
        let other = world.memory.application();
        let (told_here, told) = (Told::on(&world.app), Told::on(&other));
        let (mut follower_here, mut follower) =
            (ChangeFollower::new(&world.app), ChangeFollower::new(&other));
        for (told, follower) in [(&told_here, &mut follower_here), (&told, &mut follower)] {
            follower.poll().await.unwrap();
            assert_eq!(told.words(), [Word::Anything], "what came before is not known");
        }
        Self { world, told, follower, told_here, follower_here }
    }

    async fn poll(&mut self) -> Vec<Word> {
        self.follower.poll().await.unwrap();
        self.told.words()
    }
}

#[tokio::test]
async fn every_node_reads_each_change_once() {
    let mut nodes = Nodes::new().await;
    nodes.world.redirect("a").await;
    assert_eq!(nodes.told.words(), [], "nobody has told it");
    assert_eq!(nodes.poll().await, [at(&nodes.world, &["a"], Origin::Log)]);
    nodes.world.redirect("b").await;
    nodes.world.redirect("c").await;
    let expected = ["b", "c"].map(|slug| at(&nodes.world, &[slug], Origin::Log));
    assert_eq!(nodes.poll().await, expected);
    assert_eq!(nodes.poll().await, []);
    // The node that made them reads them too: it may have been cut off before it told anybody.
    nodes.told_here.words();
    nodes.follower_here.poll().await.unwrap();
    assert_eq!(nodes.told_here.words().len(), 3);
}

#[tokio::test]
async fn nothing_is_missed_while_the_log_cannot_be_read() {
    let mut nodes = Nodes::new().await;
    nodes.world.redirect("a").await;
    nodes.world.memory.store.faults().fail_next(Step::Log, Fault::Unavailable, 2);
    for _ in 0..2 {
        assert!(matches!(nodes.follower.poll().await, Err(StoreError::Unavailable(_))));
    }
    nodes.world.memory.clock.advance(Duration::from_mins(29));
    assert_eq!(nodes.poll().await, [at(&nodes.world, &["a"], Origin::Log)]);
}

/// Entries may have been forgotten by then; and of a clock that was set anew nobody knows how long it was.
#[tokio::test]
async fn after_a_long_time_anything_may_have_changed() {
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
async fn after_what_was_forgotten_or_cannot_be_read_anything_may_have_changed() {
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

/// Reading ten thousand entries four times a second would cost more than it is worth.
#[tokio::test]
async fn of_very_many_changes_it_is_said_that_anything_may_have_changed() {
    let mut nodes = Nodes::new().await;
    for _ in 0..10_001 {
        let mut work = nodes.world.app.store.begin().await.unwrap();
        assert!(work.set_suspended(nodes.world.account.id, None).await.unwrap());
        work.commit().await.unwrap();
    }
    assert_eq!(nodes.poll().await, [Word::Anything]);
    assert_eq!(nodes.poll().await, []);
}
