//! Background checks of domains (D39, D42, R21, R22).

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

/// Lets time pass. Once a minute the background makes the due checks.
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

/// The name of the record that proves the hostname. A check looks it up once, and the hostname also for other reasons.
fn proof() -> String {
    format!("_signpost.{HOST}")
}

/// The first check follows soon after connecting.
#[tokio::test]
async fn d42_a_background_check_activates_a_domain() {
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

/// The notifications of this node's subscribers.
#[derive(Default)]
struct RecordedChanges(Mutex<Vec<VisibleChange>>);

impl ChangeSubscriber for RecordedChanges {
    fn changed(&self, change: &VisibleChange, _: Origin) {
        self.0.lock().unwrap().push(change.clone());
    }

    fn anything_may_have_changed(&self) {}
}

/// A check without a change announces nothing.
#[tokio::test]
async fn d58_a_change_by_a_check_is_announced() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    owner.connect(HOST).await;
    let recorded = Arc::new(RecordedChanges::default());
    world.app.changes.subscribe(Arc::<RecordedChanges>::clone(&recorded));
    pass(&world, MINUTE).await;
    assert_eq!(*recorded.0.lock().unwrap(), []);
    owner.publish_proof(HOST);
    world.point_here(HOST);
    pass(&world, MINUTE * 3).await;
    let affected = Affected::Domain(samples::hostname(HOST));
    assert_eq!(*recorded.0.lock().unwrap(), [VisibleChange { account: owner.account(), affected }]);
}

#[tokio::test]
async fn d58_a_verification_that_changes_nothing_is_not_logged() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let [pending, active] = [owner.connect("new.shop.com").await, owner.activate(HOST).await];
    let recorded = Arc::new(RecordedChanges::default());
    world.app.changes.subscribe(Arc::<RecordedChanges>::clone(&recorded));
    let end = world.app.store.end_of_changes().await.unwrap();
    for _ in 0..2 {
        assert_eq!(owner.verify(pending.id).await, "pending");
        assert_eq!(owner.verify(active.id).await, "active");
    }
    let read = world.app.store.changes_since(end, 10).await.unwrap();
    assert!(matches!(&read, ReadChanges::These { changes, .. } if changes.is_empty()), "{read:?}");
    assert_eq!(*recorded.0.lock().unwrap(), []);
    world.point_elsewhere(HOST);
    assert_eq!(owner.verify(active.id).await, "active");
    let read = world.app.store.changes_since(end, 10).await.unwrap();
    assert!(matches!(&read, ReadChanges::These { changes, .. } if changes.len() == 1), "{read:?}");
}

/// Contract D39: the pauses grow, and no check follows the deadline.
#[tokio::test]
async fn d42_a_pending_domain_is_checked_until_its_deadline() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let domain = owner.connect(HOST).await;
    pass(&world, MINUTE * 10).await;
    let early = world.memory.dns.lookups(&proof());
    assert!((4..=5).contains(&early), "{early} checks in ten minutes");
    pass(&world, Duration::from_hours(72).saturating_sub(MINUTE * 10)).await;
    let all = world.memory.dns.lookups(&proof());
    assert!((60..100).contains(&all), "{all} checks in three days");
    let maintenance = MaintainDomains::new(Arc::clone(&world.app.store), world.memory.clock.clone());
    maintenance.step().await.unwrap();
    assert_eq!(stored(&world, &domain).await, CustomDomainStatus::Failed);
    pass(&world, Duration::from_hours(24)).await;
    assert_eq!(world.memory.dns.lookups(&proof()), all);
}

/// One check that finds the domain pointing here restarts the period. An active domain needs no record.
#[tokio::test]
async fn d39_an_active_domain_fails_after_72_consecutive_hours_elsewhere() {
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

/// R21: during 96 hours without answers only deadlines take effect. Checks continue after the outage.
#[tokio::test]
async fn r21_an_outage_of_dns_changes_no_status() {
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

/// When the claim of a dead node ends, another node makes the check.
#[tokio::test]
async fn d42_no_other_node_makes_a_claimed_check() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    owner.connect(HOST).await;
    world.memory.clock.advance(SOON);
    let proof = proof();
    let held = world.memory.dns.hold(&proof);
    let (dying, other) = (checks(&world), checks(&world));
    {
        let mut step = dying.step();
        tokio::select! {
            biased;
            _ = &mut step => panic!("it waits for DNS"),
            () = world.memory.dns.looked_up(&proof, 1) => {}
        }
        assert_eq!(other.step().await.unwrap(), Progress::Done);
        assert_eq!(world.memory.dns.lookups(&proof), 1, "the other node skips it");
    }
    drop(held);
    world.memory.clock.advance(Duration::from_millis(59_999));
    other.step().await.unwrap();
    assert_eq!(world.memory.dns.lookups(&proof), 1);
    world.memory.clock.advance(Duration::from_millis(1));
    other.step().await.unwrap();
    assert_eq!(world.memory.dns.lookups(&proof), 2);
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

/// Another node may hold the check by then.
#[tokio::test]
async fn d42_an_answer_after_the_claim_is_discarded() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    check_while(&world, &owner, async |_| world.memory.clock.advance(MINUTE)).await;
    let id = owner.list().await.first().unwrap().id;
    assert_eq!(owner.status(id).await, "pending");
    check(&world).await;
    assert_eq!(owner.status(id).await, "active");
}

#[tokio::test]
async fn d43_a_domain_removed_during_its_check_stays_removed() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    check_while(&world, &owner, async |domain| {
        owner.delete(domain.id).await.unwrap();
    })
    .await;
    assert_eq!(owner.list().await, []);
}

#[tokio::test]
async fn r7_a_domain_displaced_during_its_check_stays_failed() {
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

#[tokio::test]
async fn a_check_that_cannot_be_stored_is_repeated() {
    for (step, fault) in
        [(Step::Begin, Fault::Unavailable), (Step::Write, Fault::Corrupt), (Step::Commit, Fault::Unavailable)]
    {
        let world = World::new().await;
        let owner = Owner::first(&world).await;
        let faults = world.memory.store.faults();
        check_while(&world, &owner, async |_| faults.fail_next(step, fault, 1)).await;
        let domain = owner.list().await.remove(0);
        assert_eq!(domain.status.as_str(), "pending");
        assert_eq!(world.memory.store.faults().outstanding(), 0);
        world.memory.clock.advance(MINUTE);
        check(&world).await;
        assert_eq!(owner.status(domain.id).await, "active", "{step:?}");
    }
}

#[tokio::test]
async fn a_contended_check_is_retried_and_stored() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let faults = world.memory.store.faults();
    check_while(&world, &owner, async |_| faults.fail_next(Step::Commit, Fault::Contended, 4)).await;
    assert_eq!(owner.list().await.first().unwrap().status.as_str(), "active");
}

/// A job stores expirations in bounded steps, exact to the millisecond and without DNS.
#[tokio::test]
async fn d39_r22_expired_domains_are_stored_as_failed() {
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

/// R22: the clock of the checking node may be ahead, so only the store's clock ends a claim.
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
        assert_eq!(owner.verify(domain.id).await, "active", "the domain stayed pending");
    }
}

/// R22: a jump ends no domain early. Checks that a fast clock planned wait for the right clock (ADR 22).
#[tokio::test]
async fn r22_checks_continue_after_the_clock_jumps() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let domain = owner.activate(HOST).await;
    let before = world.memory.dns.lookups(HOST);
    world.memory.clock.step_back(Duration::from_hours(24));
    pass(&world, Duration::from_hours(24)).await;
    assert_eq!(world.memory.dns.lookups(HOST), before);
    pass(&world, MINUTE * 67).await;
    let asked = world.memory.dns.lookups(HOST);
    assert!(asked > before, "the clock has caught up");
    world.memory.clock.set(Timestamp::LAST);
    check(&world).await;
    assert_eq!(owner.status(domain.id).await, "active");
    assert!(world.memory.dns.lookups(HOST) > asked);
}

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
