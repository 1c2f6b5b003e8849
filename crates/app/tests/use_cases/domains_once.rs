//! Idempotent requests about domains, and faults of the store (D6, D12, D30).

use signpost_app::domains::{self, Connected, DomainWithInstructions};
use signpost_app::idempotency::{Idempotency, KeyedRequest};
use signpost_app::ports::{RememberedAnswer, RequestFingerprint, StoreError};
use signpost_app::{AppError, Caller};
use signpost_domain::{DomainId, IdempotencyKey, Refusal};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::domain_handovers::{MANY, fill, links_left};
use crate::domain_owners::{HOST, Owner};
use crate::given_domains::{ACTIVE, becomes};
use crate::world::{World, assert_internal, at_once, refusal};

fn answer_to(refusal: &Refusal) -> Option<RememberedAnswer> {
    match refusal {
        Refusal::DomainProviderUnavailable => None,
        other => Some(RememberedAnswer { status: 409, location: None, body: other.to_string() }),
    }
}

fn once(key: &str) -> KeyedRequest {
    KeyedRequest {
        key: IdempotencyKey::parse(key).unwrap(),
        fingerprint: RequestFingerprint::of("POST", "/v1/domains", b"the same"),
        answer_to_refusal: answer_to,
    }
}

fn answer(shown: &DomainWithInstructions) -> RememberedAnswer {
    let body = format!("{} {}", shown.domain.id, shown.domain.status.as_str());
    RememberedAnswer { status: 200, location: None, body }
}

async fn connect(world: &World, caller: &Caller, once: &KeyedRequest) -> Result<Connected, AppError> {
    let idempotency =
        Idempotency::of_request(Some(once), |connected: &Connected| Some(answer(&connected.domain)));
    domains::connect(&world.app, caller, HOST, idempotency).await
}

async fn verify(
    world: &World,
    caller: &Caller,
    id: DomainId,
    once: &KeyedRequest,
) -> Result<DomainWithInstructions, AppError> {
    let idempotency = Idempotency::of_request(Some(once), |shown| Some(answer(shown)));
    domains::verify(&world.app, caller, id.into(), idempotency).await
}

fn replayed<T: std::fmt::Debug>(outcome: Result<T, AppError>) -> String {
    match outcome {
        Err(AppError::AnsweredBefore(answer)) => answer.body,
        other => panic!("not answered before: {other:?}"),
    }
}

/// Contract D12: whatever has become of the domain since, and also where nothing was changed.
#[tokio::test]
async fn d12_a_success_is_replayed() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let first = connect(&world, &owner.caller, &once("a")).await.unwrap();
    let id = first.domain.domain.id;
    assert!(!connect(&world, &owner.caller, &once("b")).await.unwrap().is_new);
    verify(&world, &owner.caller, id, &once("c")).await.unwrap();
    owner.publish_proof(HOST);
    world.point_here(HOST);
    verify(&world, &owner.caller, id, &once("d")).await.unwrap();
    owner.delete(id).await.unwrap();
    for key in ["a", "b"] {
        assert_eq!(replayed(connect(&world, &owner.caller, &once(key)).await), format!("{id} pending"));
    }
    for (key, status) in [("c", "pending"), ("d", "active")] {
        let again = verify(&world, &owner.caller, id, &once(key)).await;
        assert_eq!(replayed(again), format!("{id} {status}"));
    }
    assert_eq!(owner.list().await, [], "the replay connects nothing");
}

/// Contract D41: links of others had to be lost first.
#[tokio::test]
async fn d12_a_verification_of_several_units_of_work_is_replayed() {
    let world = World::new().await;
    let (former, owner) = (Owner::first(&world).await, Owner::another(&world).await);
    let id = owner.connect(HOST).await.id;
    fill(&world, &former, MANY).await;
    owner.publish_proof(HOST);
    world.point_here(HOST);
    verify(&world, &owner.caller, id, &once("a")).await.unwrap();
    assert_eq!(links_left(&world, &former).await, 0);
    owner.delete(id).await.unwrap();
    assert_eq!(replayed(verify(&world, &owner.caller, id, &once("a")).await), format!("{id} active"));
}

/// A missing answer of DNS is not definite.
#[tokio::test]
async fn d12_a_definite_refusal_is_replayed() {
    let world = World::new().await;
    let (holder, other) = (Owner::first(&world).await, Owner::another(&world).await);
    let claim = holder.connect(HOST).await;
    world.memory.dns.set_unavailable(true);
    let unanswered = connect(&world, &other.caller, &once("a")).await;
    assert_eq!(refusal(unanswered), Refusal::DomainProviderUnavailable);
    world.memory.dns.set_unavailable(false);
    assert_eq!(refusal(connect(&world, &other.caller, &once("a")).await), other.taken(HOST));
    let unknown = samples::id();
    assert_eq!(refusal(verify(&world, &other.caller, unknown, &once("b")).await), Refusal::DomainNotFound);
    holder.delete(claim.id).await.unwrap();
    assert_eq!(replayed(connect(&world, &other.caller, &once("a")).await), other.taken(HOST).to_string());
    let not_found = Refusal::DomainNotFound.to_string();
    assert_eq!(replayed(verify(&world, &other.caller, unknown, &once("b")).await), not_found);
    assert!(connect(&world, &other.caller, &once("c")).await.unwrap().is_new);
}

/// The request asks DNS outside its unit of work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d12_one_of_several_concurrent_requests_is_executed() {
    for _ in 0..10 {
        let world = World::new().await;
        let (squatter, owner) = (Owner::first(&world).await, Owner::another(&world).await);
        squatter.connect(HOST).await;
        owner.publish_proof(HOST);
        let outcomes = at_once(6, async |_| connect(&world, &owner.caller, &once("a")).await);
        let (done, others): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
        assert_eq!(done.len(), 1);
        let id = owner.list().await.first().unwrap().id;
        for other in others {
            assert_eq!(replayed(other), format!("{id} pending"));
        }
    }
}

/// Every use case of domains that writes for a caller.
#[derive(Debug, Clone, Copy)]
enum Writing {
    Connect,
    Displace,
    Reclaim,
    Verify,
    VerifyFailed,
    Delete,
}

const ALL: [Writing; 6] = [
    Writing::Connect,
    Writing::Displace,
    Writing::Reclaim,
    Writing::Verify,
    Writing::VerifyFailed,
    Writing::Delete,
];

/// Two accounts, of which the second is about to write.
struct Scene<'a> {
    owners: [Owner<'a>; 2],
    id: Option<DomainId>,
}

impl<'a> Scene<'a> {
    async fn new(world: &'a World, writing: Writing) -> Self {
        let owners = [Owner::first(world).await, Owner::another(world).await];
        let [former, owner] = &owners;
        owner.publish_proof(HOST);
        world.point_here(HOST);
        let id = match writing {
            Writing::Connect => None,
            Writing::Displace => {
                former.connect(HOST).await;
                None
            }
            Writing::Verify => Some(owner.connect(HOST).await.id),
            Writing::Reclaim | Writing::VerifyFailed => {
                let domain = owner.connect(HOST).await;
                becomes(&world.app, &domain, signpost_domain::CustomDomainStatus::Failed).await;
                former.connect(HOST).await;
                world.memory.clock.advance(std::time::Duration::from_hours(72));
                Some(domain.id)
            }
            Writing::Delete => {
                let domain = owner.connect(HOST).await;
                becomes(&world.app, &domain, ACTIVE).await;
                owner.link(HOST, None).await;
                Some(domain.id)
            }
        };
        Self { owners, id }
    }

    async fn run(&self, writing: Writing) -> Result<(), AppError> {
        let [_, owner] = &self.owners;
        match writing {
            Writing::Connect | Writing::Displace | Writing::Reclaim => {
                owner.try_to_connect(HOST).await.map(drop)
            }
            Writing::Verify | Writing::VerifyFailed => owner.try_to_verify(self.id.unwrap()).await.map(drop),
            Writing::Delete => owner.delete(self.id.unwrap()).await.map(|_| ()),
        }
    }

    /// The statuses of both accounts' domains, and whether a link is on one.
    async fn all(&self, world: &World) -> (Vec<&'static str>, Vec<&'static str>, bool) {
        let [former, owner] = &self.owners;
        let statuses = async |owner: &Owner<'_>| -> Vec<_> {
            owner.list().await.into_iter().map(|domain| domain.status.as_str()).collect()
        };
        (statuses(former).await, statuses(owner).await, world.resolves(HOST, None).await)
    }
}

/// What there is once the use case has run.
fn after(writing: Writing) -> (Vec<&'static str>, Vec<&'static str>, bool) {
    match writing {
        Writing::Connect => (vec![], vec!["pending"], false),
        Writing::Displace | Writing::Reclaim => (vec!["failed"], vec!["pending"], false),
        Writing::Verify => (vec![], vec!["active"], false),
        Writing::VerifyFailed => (vec!["failed"], vec!["active"], false),
        Writing::Delete => (vec![], vec![], false),
    }
}

#[tokio::test]
async fn d30_four_contended_attempts_are_retried() {
    for writing in ALL {
        for step in [Step::Begin, Step::Write, Step::Commit] {
            let world = World::new().await;
            let scene = Scene::new(&world, writing).await;
            world.memory.store.faults().fail_next(step, Fault::Contended, 4);
            scene.run(writing).await.unwrap();
            assert_eq!(world.memory.store.faults().outstanding(), 0);
            assert_eq!(scene.all(&world).await, after(writing), "{writing:?}, {step:?}");
        }
    }
}

#[tokio::test]
async fn d6_a_failing_store_leaves_no_change() {
    for writing in ALL {
        for (step, fault) in [
            (Step::Begin, Fault::Unavailable),
            (Step::Write, Fault::Unavailable),
            (Step::Commit, Fault::Unavailable),
            (Step::Commit, Fault::Corrupt),
        ] {
            let world = World::new().await;
            let scene = Scene::new(&world, writing).await;
            let before = scene.all(&world).await;
            world.memory.store.faults().fail_next(step, fault, 1);
            assert_internal(scene.run(writing).await);
            assert_eq!(scene.all(&world).await, before, "{writing:?}, {step:?}");
            scene.run(writing).await.unwrap();
            assert_eq!(scene.all(&world).await, after(writing));
        }
        let world = World::new().await;
        let scene = Scene::new(&world, writing).await;
        world.memory.store.faults().fail_next(Step::Commit, Fault::Contended, 6);
        let failure = scene.run(writing).await.unwrap_err();
        assert!(matches!(failure, AppError::Store(StoreError::Contended)), "{writing:?}: {failure:?}");
        assert_eq!(world.memory.store.faults().outstanding(), 1, "{writing:?} was tried five times");
    }
}
