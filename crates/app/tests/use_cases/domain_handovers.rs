//! Handovers of hostnames with more links than fit in one unit of work (D39, D41, D43).

use std::pin::pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use signpost_app::background::{CheckDomains, Job};
use signpost_app::changes::{ChangeSubscriber, Origin};
use signpost_app::domains::Connected;
use signpost_app::ports::{LinksOf, VisibleChange};
use signpost_domain::{CustomDomain, CustomDomainStatus, Feature, PlanResource, Refusal, VerificationRecord};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::domain_owners::{HOST, Owner};
use crate::given_domains::{ACTIVE, becomes, draft_on, given_domain};
use crate::world::{World, assert_internal, plan, refusal};

/// The time within which the first check of a new domain is due.
const SOON: Duration = Duration::from_secs(15);

/// Stores `count` links of an account on the hostname, in any state of its domain.
pub(crate) async fn fill(world: &World, owner: &Owner<'_>, count: usize) {
    let mut work = world.app.store.begin().await.unwrap();
    for number in 0..count {
        let slug = format!("link-{number}");
        let link = samples::redirect_at(samples::on_custom(HOST, Some(&slug)));
        work.insert_links(owner.account(), &[link.into()], u64::MAX).await.unwrap();
    }
    work.commit().await.unwrap();
}

/// How many links the account has on the hostname.
pub(crate) async fn links_left(world: &World, owner: &Owner<'_>) -> usize {
    let mut work = world.app.store.begin().await.unwrap();
    let whose = LinksOf::Account(owner.account());
    let now = world.app.clock.now();
    // This unit of work is not committed.
    work.lose_some_links(whose, &samples::hostname(HOST), u16::MAX, now).await.unwrap().into()
}

/// More links than fit in one unit of work.
pub(crate) const MANY: usize = 10_500;

#[tokio::test]
async fn d41_a_hostname_changes_hands_without_its_ten_thousand_links() {
    let world = World::new().await;
    let (squatter, owner) = (Owner::first(&world).await, Owner::another(&world).await);
    let claim = squatter.connect(HOST).await;
    fill(&world, &squatter, MANY).await;
    owner.publish_proof(HOST);
    assert!(owner.try_to_connect(HOST).await.unwrap().is_new);
    assert_eq!((links_left(&world, &squatter).await, squatter.status(claim.id).await), (0, "failed"));
    assert_eq!(world.usage().await.links, u64::try_from(MANY).unwrap(), "the links are lost, not deleted");
}

#[tokio::test]
async fn d15_a_handover_beyond_the_limit_changes_nothing() {
    let world = World::with_plan(plan(&[Feature::CustomDomains])).await;
    let (owner, squatter) = (Owner::first(&world).await, Owner::another(&world).await);
    let claim = squatter.connect(HOST).await;
    fill(&world, &squatter, 10).await;
    owner.publish_proof(HOST);
    let reached = Refusal::PlanLimitReached { resource: PlanResource::Domains, limit: 0 };
    assert_eq!(refusal(owner.try_to_connect(HOST).await), reached);
    assert_eq!((squatter.get(claim.id).await, links_left(&world, &squatter).await), (claim, 10));
}

/// The first unit of work ends service, and the last deletes the domain.
#[tokio::test]
async fn d43_a_domain_with_very_many_links_is_deleted() {
    let world = World::new().await;
    let (owner, next) = (Owner::first(&world).await, Owner::another(&world).await);
    let domain = owner.activate(HOST).await;
    fill(&world, &owner, MANY).await;
    world.memory.store.faults().fail_next(Step::Commit, Fault::Unavailable, 1);
    assert_internal(owner.delete(domain.id).await);
    assert!(world.resolves(HOST, Some("link-7")).await, "nothing has changed");
    owner.delete(domain.id).await.unwrap();
    assert_eq!((links_left(&world, &owner).await, owner.list().await), (0, vec![]));
    let usage = world.usage().await;
    assert_eq!((usage.links, usage.domains), (u64::try_from(MANY).unwrap(), 0));
    assert!(next.try_to_connect(HOST).await.unwrap().is_new);
    assert!(owner.try_to_link(draft_on(HOST, None)).await.is_err());
}

/// Pauses the first commit until the test resumes it.
struct Pause {
    reached: Sender<()>,
    go_on: Mutex<Option<Receiver<()>>>,
}

impl ChangeSubscriber for Pause {
    fn changed(&self, _: &VisibleChange, _: Origin) {
        let go_on = self.go_on.lock().unwrap().take();
        if let Some(go_on) = go_on {
            self.reached.send(()).unwrap();
            go_on.recv().unwrap();
        }
    }

    fn anything_may_have_changed(&self) {}
}

/// Runs `act`, and `between` after its first commit and before it continues.
fn interrupted<T: Send>(
    world: &World,
    act: impl Future<Output = T> + Send,
    between: impl Future<Output = ()> + Send,
) -> T {
    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }
    let (reached, is_reached) = channel();
    let (go_on, may_go_on) = channel();
    let pause = Pause { reached: reached.clone(), go_on: Mutex::new(Some(may_go_on)) };
    world.app.changes.subscribe(Arc::new(pause));
    thread::scope(|scope| {
        let acting = scope.spawn(move || {
            let outcome = run(act);
            reached.send(()).ok();
            outcome
        });
        is_reached.recv().unwrap();
        let between = scope.spawn(|| run(between)).join();
        go_on.send(()).ok();
        let outcome = acting.join().unwrap();
        between.unwrap();
        outcome
    })
}

/// Two accounts that can both prove the hostname: one whose domain has failed, with very many links, and another.
struct Scene<'a> {
    former: Owner<'a>,
    former_domain: CustomDomain,
    newcomer: Owner<'a>,
}

impl<'a> Scene<'a> {
    async fn new(world: &'a World) -> Self {
        let (former, newcomer) = (Owner::first(world).await, Owner::another(world).await);
        let former_domain =
            given_domain(&world.app, former.account(), HOST, CustomDomainStatus::Failed).await;
        fill(world, &former, MANY).await;
        let records = [&former, &newcomer].map(|owner| owner.record(HOST));
        world.memory.dns.set_texts(&records[0].name(), records.iter().map(VerificationRecord::value));
        world.point_here(HOST);
        Self { former, former_domain, newcomer }
    }
}

/// Links are lost only when the hostname changes hands.
#[tokio::test]
async fn d41_a_refused_connection_takes_no_links() {
    let world = World::new().await;
    let Scene { former, former_domain, newcomer } = Scene::new(&world).await;
    let failed = given_domain(&world.app, newcomer.account(), HOST, CustomDomainStatus::Failed).await;
    let nothing_is_lost = async || assert_eq!(links_left(&world, &former).await, MANY);

    // The former holder reconnects during the look-up for the newcomer's failed domain…
    let held = world.memory.dns.hold(HOST);
    let mut verifying = pin!(newcomer.try_to_verify(failed.id));
    tokio::select! {
        biased;
        _ = &mut verifying => panic!("it waits for DNS"),
        () = world.memory.dns.looked_up(HOST, 1) => {}
    }
    former.connect(HOST).await;
    drop(held);
    assert_eq!(refusal(verifying.await), newcomer.taken(HOST));
    nothing_is_lost().await;

    // …or proves the hostname during the look-up of the newcomer's proof…
    let name = newcomer.record(HOST).name();
    let asked = world.memory.dns.lookups(&name);
    let held = world.memory.dns.hold(&name);
    let mut connecting = pin!(newcomer.try_to_connect(HOST));
    tokio::select! {
        biased;
        _ = &mut connecting => panic!("it waits for DNS"),
        () = world.memory.dns.looked_up(&name, asked + 1) => {}
    }
    becomes(&world.app, &former_domain, ACTIVE).await;
    drop(held);
    assert_eq!(refusal(connecting.await), newcomer.taken(HOST));
    nothing_is_lost().await;

    // …or before any look-up.
    assert_eq!(refusal(newcomer.try_to_connect(HOST).await), newcomer.taken(HOST));
    assert_eq!(refusal(newcomer.try_to_verify(failed.id).await), newcomer.taken(HOST));
    nothing_is_lost().await;
    assert!(world.resolves(HOST, Some("link-7")).await);
}

/// The newcomer holds the hostname from the first unit of work on.
#[tokio::test]
async fn d41_a_displaced_newcomer_takes_no_more_links() {
    let world = World::new().await;
    let Scene { former, former_domain, newcomer } = Scene::new(&world).await;
    former.connect(HOST).await;
    let left = MANY - 10_000;
    // The newcomer's proof, which has displaced the other claim, is no reason to displace it again.
    let connected = interrupted(&world, newcomer.try_to_connect(HOST), async {
        assert_eq!(refusal(former.try_to_verify(former_domain.id).await), former.taken(HOST));
        assert_eq!(links_left(&world, &former).await, left);
        assert_eq!(former.connect(HOST).await.id, former_domain.id);
    });
    assert!(connected.unwrap().is_new);
    assert_eq!(newcomer.list().await.first().unwrap().status, CustomDomainStatus::Failed);
    assert_eq!(former.verify(former_domain.id).await, "active");
    assert_eq!(links_left(&world, &former).await, left);
}

#[tokio::test]
async fn d41_a_verification_that_is_displaced_takes_no_more_links() {
    let world = World::new().await;
    let Scene { former, former_domain, newcomer } = Scene::new(&world).await;
    let failed = given_domain(&world.app, newcomer.account(), HOST, CustomDomainStatus::Failed).await;
    let verified = interrupted(&world, newcomer.try_to_verify(failed.id), async {
        assert_eq!(newcomer.status(failed.id).await, "pending");
        assert_eq!(former.connect(HOST).await.id, former_domain.id);
    });
    assert_eq!(refusal(verified), newcomer.taken(HOST));
    assert_eq!(links_left(&world, &former).await, MANY - 10_000);
}

#[tokio::test]
async fn d41_a_verified_domain_is_not_active_before_others_links_are_lost() {
    let world = World::new().await;
    let Scene { former, newcomer, .. } = Scene::new(&world).await;
    let failed = given_domain(&world.app, newcomer.account(), HOST, CustomDomainStatus::Failed).await;
    let verified = interrupted(&world, newcomer.try_to_verify(failed.id), async {
        assert_eq!(newcomer.status(failed.id).await, "pending");
        assert_eq!(links_left(&world, &former).await, MANY - 10_000);
        assert!(!world.may_have_certificate(HOST).await);
    });
    assert_eq!(verified.unwrap().domain.status.as_str(), "active");
    assert_eq!(links_left(&world, &former).await, 0);
}

/// The background loses the links in several checks, which follow each other quickly.
#[tokio::test]
async fn d41_a_checked_domain_is_not_active_before_others_links_are_lost() {
    let world = World::new().await;
    let (former, newcomer) = (Owner::first(&world).await, Owner::another(&world).await);
    let domain = newcomer.connect(HOST).await;
    fill(&world, &former, MANY).await;
    newcomer.publish_proof(HOST);
    world.point_here(HOST);
    let job = CheckDomains::new(Arc::clone(&world.app));
    for (left, status) in [(MANY - 10_000, domain.status), (0, ACTIVE)] {
        world.memory.clock.advance(SOON);
        job.step().await.unwrap();
        assert_eq!((links_left(&world, &former).await, newcomer.get(domain.id).await.status), (left, status));
    }
}

/// A fault after the change of hands does not undo it.
#[tokio::test]
async fn d41_an_interrupted_handover_is_completed_by_the_background() {
    let world = World::new().await;
    let Scene { former, newcomer, .. } = Scene::new(&world).await;
    let faults = world.memory.store.faults();
    let connected = interrupted(&world, newcomer.try_to_connect(HOST), async {
        faults.fail_next(Step::Commit, Fault::Contended, 4);
        faults.fail_next(Step::Commit, Fault::Unavailable, 1);
    });
    let Connected { domain, is_new } = connected.unwrap();
    let id = domain.domain.id;
    assert!(is_new);
    assert_eq!((faults.outstanding(), links_left(&world, &former).await), (0, MANY - 10_000));
    faults.fail_next(Step::Commit, Fault::Unavailable, 1);
    assert_internal(newcomer.try_to_verify(id).await);
    assert_eq!((newcomer.status(id).await, links_left(&world, &former).await), ("pending", MANY - 10_000));
    world.memory.clock.advance(SOON);
    CheckDomains::new(Arc::clone(&world.app)).step().await.unwrap();
    assert_eq!((newcomer.status(id).await, links_left(&world, &former).await), ("active", 0));
}
