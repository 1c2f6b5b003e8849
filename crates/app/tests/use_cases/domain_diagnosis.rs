//! The diagnosis of a domain: next check, observations and failure reason (D65).

use std::sync::Arc;
use std::time::Duration;

use signpost_app::background::{Job, MaintainDomains};
use signpost_app::domains::{self, DomainWithInstructions};
use signpost_app::ports::CLAIM_OF_A_CHECK;
use signpost_domain::{
    CustomDomainStatus, DomainId, FailureReason, PageLimit, RecordFinding, Refusal, Timestamp,
};

use crate::domain_checks::{MINUTE, SOON, check, checks, pass};
use crate::domain_owners::{HOST, Owner};
use crate::given_domains::given_domain;
use crate::world::{World, refusal};

const MILLISECOND: Duration = Duration::from_millis(1);
const DAYS: Duration = Duration::from_hours(72);

/// A domain as a look at it alone and the list both show it.
async fn shown(owner: &Owner<'_>, id: DomainId) -> DomainWithInstructions {
    let app = &owner.world.app;
    let alone = domains::get(app, &owner.caller, id.into()).await.unwrap();
    let page = domains::list(app, &owner.caller, PageLimit::new(100).unwrap(), None).await.unwrap();
    let listed = page.items.into_iter().find(|shown| shown.domain.id == id).unwrap();
    // Lists do not read files (D127).
    assert_eq!(DomainWithInstructions { files: alone.files.clone(), ..listed }, alone);
    alone
}

/// The records as `TYPE status value value…`.
fn records(shown: &DomainWithInstructions) -> Vec<String> {
    let record = |checked: &domains::CheckedInstruction| {
        let RecordFinding { status, mistake: _, observed } = &checked.finding;
        let head = format!("{} {}", checked.instruction.record_type, status.as_str());
        observed.iter().fold(head, |text, value| format!("{text} {value}"))
    };
    shown.dns_instructions.iter().map(record).collect()
}

fn reason(shown: &DomainWithInstructions) -> Option<&str> {
    shown.domain.failure_reason.as_ref().map(FailureReason::as_str)
}

fn checked_at(shown: &DomainWithInstructions) -> Option<Timestamp> {
    shown.domain.observation.as_ref().map(|observation| observation.checked_at)
}

/// Background checks and verifications show the same observations.
#[tokio::test]
async fn d65_a_domain_shows_what_the_last_check_saw() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let proof = owner.record(HOST);
    let connected = owner.try_to_connect(HOST).await.unwrap().domain;
    let id = connected.domain.id;
    assert_eq!(shown(&owner, id).await, connected);
    assert_eq!(checked_at(&connected), None);
    assert_eq!(records(&connected), ["CNAME unknown", "TXT unknown"]);
    let due = connected.next_check_at.unwrap();

    world.memory.dns.set_texts(&proof.name(), ["other\u{7}"]);
    world.memory.clock.set(due);
    check(&world).await;
    let checked = shown(&owner, id).await;
    assert_eq!(checked_at(&checked), Some(due));
    assert_eq!(records(&checked), ["CNAME missing", "TXT wrong other\u{fffd}"]);
    assert!(checked.next_check_at.unwrap() > due);

    // Verifying shows and stores what it saw, and leaves the plan alone.
    world.memory.clock.advance(MILLISECOND);
    world.point_elsewhere(HOST);
    let verified = owner.try_to_verify(id).await.unwrap();
    assert_eq!(checked_at(&verified), Some(world.app.clock.now()));
    assert_eq!(records(&verified), ["CNAME wrong 203.0.113.80", "TXT wrong other\u{fffd}"]);
    assert_eq!(verified.next_check_at, checked.next_check_at);
    assert_eq!(shown(&owner, id).await, verified);

    owner.publish_proof(HOST);
    world.point_here(HOST);
    world.memory.clock.set(verified.next_check_at.unwrap());
    check(&world).await;
    let active = shown(&owner, id).await;
    assert_eq!((active.domain.status.as_str(), checked_at(&active)), ("active", verified.next_check_at));
    let found = ["CNAME found edge.example.net".to_owned(), format!("TXT found {}", proof.value())];
    assert_eq!(records(&active), found);

    // An active domain needs no look-up of its proof.
    world.memory.dns.remove(&proof.name());
    pass(&world, Duration::from_hours(2)).await;
    let later = shown(&owner, id).await;
    assert_eq!(records(&later), found);
    assert!(checked_at(&later) > checked_at(&active));
}

/// R21: only the time of the next check changes.
#[tokio::test]
async fn d65_r21_an_unanswered_look_up_keeps_earlier_observations() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let id = owner.connect(HOST).await.id;
    world.point_elsewhere(HOST);
    pass(&world, MINUTE).await;
    let before = shown(&owner, id).await;
    assert_eq!(records(&before), ["CNAME wrong 203.0.113.80", "TXT missing"]);
    world.memory.dns.set_unavailable(true);
    pass(&world, Duration::from_hours(3)).await;
    assert_eq!(refusal(owner.try_to_verify(id).await), Refusal::DomainProviderUnavailable);
    let after = shown(&owner, id).await;
    assert!(after.next_check_at > before.next_check_at);
    assert_eq!(DomainWithInstructions { next_check_at: before.next_check_at, ..after }, before);
}

/// R22: every read path shows it, before and after the background job.
#[tokio::test]
async fn d65_r22_the_failure_reason_appears_exactly_at_the_deadline() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let now = world.app.clock.now();
    let expires_at = now.plus(DAYS);
    let proven = CustomDomainStatus::SslPending { expires_at };
    let waiting = given_domain(&world.app, owner.account(), "waiting.shop.com", proven).await.id;
    let pending = owner.connect(HOST).await.id;
    world.memory.clock.set(expires_at.minus(MILLISECOND));
    for id in [pending, waiting] {
        assert_eq!(reason(&shown(&owner, id).await), None);
    }
    world.memory.clock.set(expires_at);
    let failed = [shown(&owner, pending).await, shown(&owner, waiting).await];
    for (failed, word) in failed.iter().zip(["deadline_passed", "no_certificate"]) {
        assert_eq!(failed.domain.status.as_str(), "failed");
        assert_eq!((reason(failed), failed.next_check_at), (Some(word), None));
    }
    MaintainDomains::new(Arc::clone(&world.app.store), world.memory.clock.clone()).step().await.unwrap();
    assert_eq!([shown(&owner, pending).await, shown(&owner, waiting).await], failed);
    // Both ways back clear the reason.
    owner.connect(HOST).await;
    owner.verify(waiting).await;
    for id in [pending, waiting] {
        let back = shown(&owner, id).await;
        assert_eq!((back.domain.status.as_str(), reason(&back)), ("pending", None));
        assert!(back.next_check_at.is_some());
    }
}

#[tokio::test]
async fn d65_a_check_at_the_deadline_is_not_shown() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let domain = owner.connect(HOST).await;
    let expires_at = domain.status.expires_at().unwrap();
    let mut nulls = 0;
    while world.app.clock.now() < expires_at.minus(MINUTE) {
        pass(&world, MINUTE).await;
        match shown(&owner, domain.id).await.next_check_at {
            Some(next) => assert!(next < expires_at),
            None => nulls += 1,
        }
    }
    assert!((1..=70).contains(&nulls), "{nulls} minutes without a next check");
}

#[tokio::test]
async fn d65_a_domain_elsewhere_for_72_hours_names_the_reason() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let id = owner.activate(HOST).await.id;
    world.point_elsewhere(HOST);
    pass(&world, DAYS.saturating_add(Duration::from_hours(4))).await;
    let failed = shown(&owner, id).await;
    assert_eq!((reason(&failed), failed.next_check_at), (Some("points_elsewhere"), None));
    assert_eq!(records(&failed)[0], "CNAME wrong 203.0.113.80");
}

/// The new owner sees the observations. A refused connection changes nothing, and the former holder sees
/// nothing.
#[tokio::test]
async fn d65_d41_a_connection_that_looks_up_a_proof_records_it() {
    let world = World::new().await;
    let (squatter, owner) = (Owner::first(&world).await, Owner::another(&world).await);
    let claim = squatter.connect(HOST).await.id;
    assert_eq!(refusal(owner.try_to_connect(HOST).await), owner.taken(HOST));
    assert_eq!(owner.list().await, []);
    let (ours, theirs) = (owner.record(HOST), squatter.record(HOST));
    world.memory.dns.set_texts(&ours.name(), [theirs.value(), ours.value()]);
    let connected = owner.try_to_connect(HOST).await.unwrap().domain;
    assert_eq!(checked_at(&connected), Some(world.app.clock.now()));
    let seen = format!("TXT found {} {}", ours.value(), theirs.value());
    assert_eq!(records(&connected), ["CNAME unknown".to_owned(), seen]);
    assert_eq!(shown(&owner, connected.domain.id).await, connected);
    let displaced = shown(&squatter, claim).await;
    assert_eq!((reason(&displaced), displaced.next_check_at), (Some("proved_by_another_account"), None));
    assert_eq!(
        (checked_at(&displaced), records(&displaced)),
        (None, vec!["CNAME unknown".into(), "TXT unknown".into()])
    );
}

/// The end of a claim is not a check: the running check plans the next one.
#[tokio::test]
async fn d65_a_running_check_shows_its_start() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let id = owner.connect(HOST).await.id;
    world.memory.clock.advance(SOON);
    let began = world.app.clock.now();
    let held = world.memory.dns.hold(HOST);
    {
        let job = checks(&world);
        let mut step = job.step();
        tokio::select! {
            biased;
            _ = &mut step => panic!("it waits for DNS"),
            () = world.memory.dns.looked_up(HOST, 1) => {}
        }
        world.memory.clock.advance(CLAIM_OF_A_CHECK.saturating_sub(MILLISECOND));
        assert_eq!(shown(&owner, id).await.next_check_at, Some(began));
    }
    drop(held);
    // Its node has died. The first node to look makes the check again.
    world.memory.clock.advance(MILLISECOND);
    assert_eq!(shown(&owner, id).await.next_check_at, Some(began.plus(CLAIM_OF_A_CHECK)));
    check(&world).await;
    assert!(shown(&owner, id).await.next_check_at.unwrap() > world.app.clock.now());
}
