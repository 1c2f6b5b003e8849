//! Looking at domains in the background (D39, D42, R21, R22).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use signpost_app::background::{CheckDomains, Job, MaintainDomains, Progress};
use signpost_app::changes::{ChangeSubscriber, Origin};
use signpost_app::ports::{Affected, ReadChanges, VisibleChange};
use signpost_domain::{CustomDomain, CustomDomainStatus, Refusal, Timestamp};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::domain_owners::{HOST, Owner};
use crate::given_domains::{becomes, given_domain};
use crate::world::{World, refusal};

pub(crate) const MINUTE: Duration = Duration::from_mins(1);

/// The time within which the first check of a new domain is due.
pub(crate) const SOON: Duration = Duration::from_secs(15);

pub(crate) fn checks(world: &World) -> CheckDomains {
    CheckDomains::new(Arc::clone(&world.app))
}

/// Makes all checks that are due.
pub(crate) async fn check(world: &World) {
    while checks(world).step().await.unwrap() == Progress::More {}
}

/// So much time passes, in which the background looks at what is due once a minute.
pub(crate) async fn pass(world: &World, time: Duration) {
    let end = world.app.clock.now().plus(time);
    while world.app.clock.now() < end {
        world.memory.clock.advance(MINUTE);
        check(world).await;
    }
}

async fn stored(world: &World, domain: &CustomDomain) -> CustomDomainStatus {
    world.app.store.custom_domain(domain.account_id, domain.id).await.unwrap().unwrap().domain.status
}

/// Contract D42: records that are there are found soon after connecting, without anybody's asking.
#[tokio::test]
async fn d42_a_domain_becomes_active_by_itself() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    owner.publish_proof(HOST);
    world.point_here(HOST);
    let domain = owner.connect(HOST).await;
    check(&world).await;
    assert_eq!((owner.status(domain.id).await, world.memory.dns.all_lookups()), ("pending", 0), "not yet");
    world.memory.clock.advance(SOON);
    check(&world).await;
    assert_eq!(owner.status(domain.id).await, "active");
}

/// What this node's subscribers were told.
#[derive(Default)]
struct Told(Mutex<Vec<VisibleChange>>);

impl ChangeSubscriber for Told {
    fn changed(&self, change: &VisibleChange, _: Origin) {
        self.0.lock().unwrap().push(change.clone());
    }

    fn anything_may_have_changed(&self) {}
}

/// Contract D58: a change by a check is told like any other; a check that changes nothing tells nothing.
#[tokio::test]
async fn d58_a_change_by_a_check_is_told() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    owner.connect(HOST).await;
    let told = Arc::new(Told::default());
    world.app.changes.subscribe(Arc::<Told>::clone(&told));
    pass(&world, MINUTE).await;
    assert_eq!(*told.0.lock().unwrap(), []);
    owner.publish_proof(HOST);
    world.point_here(HOST);
    pass(&world, MINUTE * 3).await;
    let affected = Affected::Domain(samples::hostname(HOST));
    assert_eq!(*told.0.lock().unwrap(), [VisibleChange { account: owner.account(), affected }]);
}

/// Contract D58: a verification that changes nothing is no change.
#[tokio::test]
async fn d58_a_verification_that_changes_nothing_is_not_logged() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let [pending, active] = [owner.connect("new.shop.com").await, owner.activate(HOST).await];
    let told = Arc::new(Told::default());
    world.app.changes.subscribe(Arc::<Told>::clone(&told));
    let end = world.app.store.end_of_changes().await.unwrap();
    for _ in 0..2 {
        assert_eq!(owner.verify(pending.id).await, "pending");
        assert_eq!(owner.verify(active.id).await, "active");
    }
    let read = world.app.store.changes_since(end, 10).await.unwrap();
    assert!(matches!(&read, ReadChanges::These { changes, .. } if changes.is_empty()), "{read:?}");
    assert_eq!(*told.0.lock().unwrap(), []);
    world.point_elsewhere(HOST);
    assert_eq!(owner.verify(active.id).await, "active");
    let read = world.app.store.changes_since(end, 10).await.unwrap();
    assert!(matches!(&read, ReadChanges::These { changes, .. } if changes.len() == 1), "{read:?}");
}

/// Contract D39, D42: a domain without records is looked at with growing pauses until its deadline, and then no more.
#[tokio::test]
async fn d42_a_pending_domain_is_checked_until_its_deadline() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let domain = owner.connect(HOST).await;
    pass(&world, MINUTE * 10).await;
    let early = world.memory.dns.lookups(HOST);
    assert!((4..=5).contains(&early), "{early} checks in ten minutes");
    pass(&world, Duration::from_hours(72).saturating_sub(MINUTE * 10)).await;
    let all = world.memory.dns.lookups(HOST);
    assert!((60..100).contains(&all), "{all} checks in three days");
    let maintenance = MaintainDomains::new(Arc::clone(&world.app.store), world.memory.clock.clone());
    maintenance.step().await.unwrap();
    assert_eq!(stored(&world, &domain).await, CustomDomainStatus::Failed);
    pass(&world, Duration::from_hours(24)).await;
    assert_eq!(world.memory.dns.lookups(HOST), all);
}

/// Contract D39: 72 hours of "elsewhere" on end take a domain out of service, and not a moment of them less; a moment of
/// "here" begins them anew. Its record is not needed for staying.
#[tokio::test]
async fn d39_an_active_domain_fails_after_72_hours_elsewhere_on_end() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let domain = owner.activate(HOST).await;
    owner.link(HOST, None).await;
    world.memory.dns.remove(&owner.record(HOST).name());
    pass(&world, Duration::from_hours(100)).await;
    assert_eq!(stored(&world, &domain).await, CustomDomainStatus::Active { misdirected_since: None });

    world.point_elsewhere(HOST);
    pass(&world, Duration::from_hours(70)).await;
    world.point_here(HOST);
    pass(&world, Duration::from_hours(2)).await;
    assert_eq!(stored(&world, &domain).await, CustomDomainStatus::Active { misdirected_since: None });

    world.point_elsewhere(HOST);
    pass(&world, Duration::from_hours(2)).await;
    let CustomDomainStatus::Active { misdirected_since: Some(since) } = stored(&world, &domain).await else {
        panic!("not seen elsewhere")
    };
    while world.app.clock.now() < since.plus(Duration::from_hours(72)).minus(MINUTE) {
        pass(&world, MINUTE).await;
        assert_eq!(owner.status(domain.id).await, "active");
        assert!(world.resolves(HOST, None).await);
    }
    pass(&world, MINUTE * 70).await;
    assert_eq!(owner.status(domain.id).await, "failed");
    assert!(!world.resolves(HOST, None).await && !world.may_have_certificate(HOST).await);
}

/// R21: 96 hours without an answer change nothing but what time does, and checks go on as soon as there are answers.
#[tokio::test]
async fn r21_could_not_ask_is_not_no() {
    let world = World::new().await;
    let (owner, other) = (Owner::first(&world).await, Owner::another(&world).await);
    let healthy = owner.activate(HOST).await;
    let doubtful = owner.activate("doubtful.shop.com").await;
    world.point_elsewhere("doubtful.shop.com");
    pass(&world, Duration::from_hours(2)).await;
    let before = [stored(&world, &healthy).await, stored(&world, &doubtful).await];
    assert!(matches!(before[1], CustomDomainStatus::Active { misdirected_since: Some(_) }));
    let pending = other.connect("pending.shop.com").await;

    world.memory.dns.set_unavailable(true);
    for hour in 0..96 {
        pass(&world, Duration::from_hours(1)).await;
        assert_eq!([stored(&world, &healthy).await, stored(&world, &doubtful).await], before, "hour {hour}");
        assert_eq!(refusal(owner.try_to_verify(healthy.id).await), Refusal::DomainProviderUnavailable);
        let expected = if hour < 71 { "pending" } else { "failed" };
        assert_eq!(other.status(pending.id).await, expected, "hour {hour}");
    }
    world.memory.dns.set_unavailable(false);
    world.point_here("doubtful.shop.com");
    pass(&world, MINUTE * 67).await;
    let back = CustomDomainStatus::Active { misdirected_since: None };
    assert_eq!([stored(&world, &healthy).await, stored(&world, &doubtful).await], [back, back]);
}

/// Contract D42: each domain by one node at a time; what a node that died had begun, another does when its claim has run out.
#[tokio::test]
async fn d42_a_claimed_check_is_nobody_elses_until_its_claim_runs_out() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    owner.connect(HOST).await;
    world.memory.clock.advance(SOON);
    let held = world.memory.dns.hold(HOST);
    let (dying, other) = (checks(&world), checks(&world));
    {
        let mut step = dying.step();
        tokio::select! {
            biased;
            _ = &mut step => panic!("it waits for DNS"),
            () = world.memory.dns.looked_up(HOST, 1) => {}
        }
        assert_eq!(other.step().await.unwrap(), Progress::Done);
        assert_eq!(world.memory.dns.lookups(HOST), 1, "the other leaves it alone");
    }
    drop(held);
    world.memory.clock.advance(Duration::from_millis(59_999));
    other.step().await.unwrap();
    assert_eq!(world.memory.dns.lookups(HOST), 1);
    world.memory.clock.advance(Duration::from_millis(1));
    other.step().await.unwrap();
    assert_eq!(world.memory.dns.lookups(HOST), 2);
}

/// While DNS is asked about a domain that has all it needs, `meanwhile` happens.
async fn check_while(world: &World, owner: &Owner<'_>, meanwhile: impl AsyncFnOnce(&CustomDomain)) {
    let domain = owner.connect(HOST).await;
    owner.publish_proof(HOST);
    world.point_here(HOST);
    world.memory.clock.advance(SOON);
    let held = world.memory.dns.hold(HOST);
    let job = checks(world);
    let (progress, ()) = tokio::join!(job.step(), async {
        world.memory.dns.looked_up(HOST, 1).await;
        meanwhile(&domain).await;
        drop(held);
    });
    assert_eq!(progress.unwrap(), Progress::Done);
}

/// Contract D42: what took longer than its claim may be another node's by now, so it is not concluded.
#[tokio::test]
async fn d42_an_answer_that_came_too_late_is_not_used() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    check_while(&world, &owner, async |_| world.memory.clock.advance(MINUTE)).await;
    let id = owner.list().await.first().unwrap().id;
    assert_eq!(owner.status(id).await, "pending");
    check(&world).await;
    assert_eq!(owner.status(id).await, "active");
}

/// Contract D43 and R7: what is removed, or failed, while it is looked at, stays so.
#[tokio::test]
async fn d43_a_domain_that_is_removed_meanwhile_stays_removed() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    check_while(&world, &owner, async |domain| {
        owner.delete(domain.id).await.unwrap();
    })
    .await;
    assert_eq!(owner.list().await, []);
}

#[tokio::test]
async fn r7_a_domain_that_is_displaced_meanwhile_stays_failed() {
    let world = World::new().await;
    let (owner, other) = (Owner::first(&world).await, Owner::another(&world).await);
    check_while(&world, &owner, async |_| {
        other.publish_proof(HOST);
        other.connect(HOST).await;
    })
    .await;
    let displaced = owner.list().await;
    assert_eq!(displaced.first().unwrap().status.as_str(), "failed");
    assert_eq!(other.list().await.first().unwrap().status.as_str(), "pending");
}

/// What a store refuses to write is not lost, and costs the other domains nothing.
#[tokio::test]
async fn a_check_that_cannot_be_written_is_made_again() {
    for (step, fault) in
        [(Step::Begin, Fault::Unavailable), (Step::Write, Fault::Corrupt), (Step::Commit, Fault::Unavailable)]
    {
        let world = World::new().await;
        let owner = Owner::first(&world).await;
        let domain = owner.connect(HOST).await;
        owner.publish_proof(HOST);
        world.point_here(HOST);
        world.memory.clock.advance(SOON);
        let held = world.memory.dns.hold(HOST);
        let job = checks(&world);
        let (progress, ()) = tokio::join!(job.step(), async {
            world.memory.dns.looked_up(HOST, 1).await;
            world.memory.store.faults().fail_next(step, fault, 1);
            drop(held);
        });
        assert_eq!((progress.unwrap(), owner.status(domain.id).await), (Progress::Done, "pending"));
        assert_eq!(world.memory.store.faults().outstanding(), 0);
        world.memory.clock.advance(MINUTE);
        check(&world).await;
        assert_eq!(owner.status(domain.id).await, "active", "{step:?}");
    }
}

/// A unit of work that the store asks to run again is run again.
#[tokio::test]
async fn a_contended_check_is_written_all_the_same() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let faults = world.memory.store.faults();
    check_while(&world, &owner, async |_| faults.fail_next(Step::Commit, Fault::Contended, 4)).await;
    assert_eq!(owner.list().await.first().unwrap().status.as_str(), "active");
}

/// Contract D39 and R22: what time has done is stored by a job, in pieces, to the millisecond, and DNS has no part in it.
#[tokio::test]
async fn d39_r22_deadlines_are_stored() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let expires_at = world.app.clock.now().plus(Duration::from_hours(72));
    let mut domains = vec![];
    for number in 0..1_100 {
        let status = if number % 2 == 0 {
            CustomDomainStatus::Pending { expires_at }
        } else {
            CustomDomainStatus::SslPending { expires_at }
        };
        domains.push(given_domain(&world.app, owner.account(), &format!("s{number}.shop.com"), status).await);
    }
    let job = MaintainDomains::new(Arc::clone(&world.app.store), world.memory.clock.clone());
    let is_held =
        async |domain: &CustomDomain| world.app.store.holder_of(&domain.hostname).await.unwrap().is_some();
    world.memory.clock.set(expires_at.minus(Duration::from_millis(1)));
    assert_eq!(job.step().await.unwrap(), Progress::Done);
    assert!(is_held(&domains[0]).await && is_held(&domains[1_099]).await);
    world.memory.clock.set(expires_at);
    for progress in [Progress::More, Progress::More, Progress::Done] {
        assert_eq!(job.step().await.unwrap(), progress);
    }
    for domain in &domains {
        assert_eq!(stored(&world, domain).await, CustomDomainStatus::Failed);
    }
    assert_eq!(world.memory.dns.all_lookups(), 0);
}

/// R22: a node whose clock is ahead takes no claim away by checking it. Whether the records are there or DNS is silent, it
/// leaves the deadline to what goes by the store's clock, and the check for then.
#[tokio::test]
async fn r22_a_check_stores_no_deadline() {
    for is_silent in [false, true] {
        let world = World::new().await;
        let owner = Owner::first(&world).await;
        let domain = owner.connect(HOST).await;
        owner.publish_proof(HOST);
        world.point_here(HOST);
        world.memory.dns.set_unavailable(is_silent);
        let (connected_at, before) = (world.app.clock.now(), stored(&world, &domain).await);
        world.memory.clock.set(connected_at.plus(Duration::from_hours(73)));
        check(&world).await;
        assert_eq!(stored(&world, &domain).await, before);
        world.memory.dns.set_unavailable(false);
        world.memory.clock.set(connected_at.plus(Duration::from_hours(71)));
        assert_eq!(owner.verify(domain.id).await, "active", "it was pending all the time");
    }
}

/// R22: a clock that jumps ends no domain early. Checks that were planned by a clock that was ahead come when the right one
/// has caught up with it (ADR 22).
#[tokio::test]
async fn r22_checks_survive_a_clock_that_jumps() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let domain = owner.activate(HOST).await;
    let before = world.memory.dns.lookups(HOST);
    world.memory.clock.step_back(Duration::from_hours(24));
    pass(&world, Duration::from_hours(24)).await;
    assert_eq!(world.memory.dns.lookups(HOST), before);
    pass(&world, MINUTE * 67).await;
    let asked = world.memory.dns.lookups(HOST);
    assert!(asked > before, "it has caught up");
    world.memory.clock.set(Timestamp::LAST);
    check(&world).await;
    assert_eq!(owner.status(domain.id).await, "active");
    assert!(world.memory.dns.lookups(HOST) > asked);
}

/// A failed domain is nobody's business until it is connected again.
#[tokio::test]
async fn d42_failed_domains_are_not_checked() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let domain = owner.activate(HOST).await;
    becomes(&world.app, &domain, CustomDomainStatus::Failed).await;
    let asked = world.memory.dns.all_lookups();
    pass(&world, Duration::from_hours(3)).await;
    assert_eq!(world.memory.dns.all_lookups(), asked);
    owner.connect(HOST).await;
    pass(&world, MINUTE).await;
    assert_eq!(owner.status(domain.id).await, "active");
}
