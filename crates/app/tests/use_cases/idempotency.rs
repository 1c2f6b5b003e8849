//! Idempotent requests (D12).

use std::time::Duration;

use signpost_app::background::{ForgetAnswers, Job, Progress};
use signpost_app::idempotency::{Idempotency, KeyedRequest, recall};
use signpost_app::ports::{ANSWERS_KEPT, RememberedAnswer, RequestFingerprint};
use signpost_app::redirects::RedirectWithPixels;
use signpost_app::{AppError, Caller, groups, links};
use signpost_domain::id::{GroupKind, RedirectKind};
use signpost_domain::{
    Batch, ErrorCode, Group, IdReference, IdempotencyKey, Plan, PlanLimits, RedirectContent, RedirectRequest,
    Refusal, Submitted, ViolationCode,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::world::{World, assert_internal, at_once, draft, plan, refusal, violation, violations};

/// The stored answer to a refusal.
fn answer_to(refusal: &Refusal) -> RememberedAnswer {
    RememberedAnswer { status: 409, location: None, body: refusal.to_string() }
}

fn once_for(body: &str) -> KeyedRequest {
    KeyedRequest {
        key: IdempotencyKey::parse("once").unwrap(),
        fingerprint: RequestFingerprint::of("POST", "/v1/things", body.as_bytes()),
        answer_to_refusal: |refusal| Some(answer_to(refusal)),
    }
}

fn answer(body: String) -> RememberedAnswer {
    RememberedAnswer { status: 201, location: Some("/v1/things".to_owned()), body }
}

fn answer_with_group(group: &Group) -> RememberedAnswer {
    answer(group.id.to_string())
}

fn answer_with_redirect(created: &RedirectWithPixels) -> RememberedAnswer {
    answer(created.redirect.id.to_string())
}

async fn create_group(world: &World, caller: &Caller, once: &KeyedRequest) -> Result<Group, AppError> {
    let idempotency = Idempotency::of_request(Some(once), |group| Some(answer_with_group(group)));
    groups::create(&world.app, caller, samples::name("Spring"), idempotency).await
}

async fn create_redirect(
    world: &World,
    draft: RedirectRequest,
    once: &KeyedRequest,
) -> Result<RedirectWithPixels, AppError> {
    let idempotency = Idempotency::of_request(Some(once), |created| Some(answer_with_redirect(created)));
    links::create::<RedirectContent>(&world.app, &world.caller().await, Submitted::valid(draft), idempotency)
        .await
}

/// What was answered before.
fn replayed<T: std::fmt::Debug>(outcome: Result<T, AppError>) -> RememberedAnswer {
    match outcome {
        Err(AppError::AnsweredBefore(answer)) => *answer,
        other => panic!("not answered before: {other:?}"),
    }
}

#[tokio::test]
async fn d12_a_success_is_replayed_for_24_hours() {
    let world = World::new().await;
    let (caller, once) = (world.caller().await, once_for("a"));
    assert_eq!(recall(&world.app, &caller, &once).await.unwrap(), None);
    let group = create_group(&world, &caller, &once).await.unwrap();
    let last = ANSWERS_KEPT.checked_sub(Duration::from_millis(1)).unwrap();
    for wait in [Duration::ZERO, last] {
        world.memory.clock.advance(wait);
        assert_eq!(replayed(create_group(&world, &caller, &once).await), answer_with_group(&group));
        assert_eq!(recall(&world.app, &caller, &once).await.unwrap(), Some(answer_with_group(&group)));
    }
    assert_eq!(world.usage().await.groups, 1);
    world.memory.clock.advance(Duration::from_millis(1));
    assert_eq!(recall(&world.app, &caller, &once).await.unwrap(), None);
    assert_ne!(create_group(&world, &caller, &once).await.unwrap().id, group.id);
    assert_eq!(world.usage().await.groups, 2);
}

#[tokio::test]
async fn d12_another_request_with_the_same_key_is_invalid() {
    let world = World::new().await;
    let caller = world.caller().await;
    create_group(&world, &caller, &once_for("a")).await.unwrap();
    let expected = [violation("Idempotency-Key", ViolationCode::InvalidValue)];
    let other = once_for("b");
    assert_eq!(violations(create_group(&world, &caller, &other).await), expected);
    assert_eq!(violations(recall(&world.app, &caller, &other).await), expected);
    assert_eq!(world.usage().await.groups, 1);
}

/// D12: 409, 404 and 403 are definite answers, even if the request would succeed by now.
#[tokio::test]
async fn d12_a_refusal_is_replayed() {
    let world = World::new().await;
    let redirect = world.redirect("sale").await;
    let taken = Refusal::AddressTaken { existing: Some(redirect.id.into()) };
    let once = once_for("taken");
    assert_eq!(refusal(create_redirect(&world, draft("sale"), &once).await), taken);
    links::delete(&world.app, &world.caller().await, redirect.id.into()).await.unwrap();
    let again = create_redirect(&world, draft("sale"), &once).await;
    assert_eq!(replayed(again), answer_to(&taken));
    assert_eq!(world.usage().await.links, 0);
}

#[tokio::test]
async fn d12_a_missing_group_is_replayed() {
    let world = World::new().await;
    let ids = Batch::new(vec![samples::id::<RedirectKind>().to_string()]).unwrap();
    let (caller, once) = (world.caller().await, once_for("missing"));
    let assign = async |group| {
        let idempotency = Idempotency::of_request(Some(&once), |_| Some(answer("moved".to_owned())));
        groups::assign(&world.app, &caller, group, &ids, idempotency).await
    };
    let unknown: IdReference<GroupKind> = samples::id::<GroupKind>().into();
    assert_eq!(refusal(assign(unknown).await), Refusal::GroupNotFound);
    let recalled = recall(&world.app, &caller, &once).await.unwrap();
    assert_eq!(recalled, Some(answer_to(&Refusal::GroupNotFound)));
    let group = world.group("Spring").await.id;
    assert_eq!(replayed(assign(group.into()).await), answer_to(&Refusal::GroupNotFound));
}

#[tokio::test]
async fn d12_a_reached_limit_is_replayed() {
    let none = PlanLimits { groups: 0, ..plan(&[]).limits };
    let world = World::with_plan(Plan { limits: none, ..plan(&[]) }).await;
    let (caller, once) = (world.caller().await, once_for("a"));
    let refused = refusal(create_group(&world, &caller, &once).await);
    assert_eq!(replayed(create_group(&world, &caller, &once).await), answer_to(&refused));
    assert_eq!(recall(&world.app, &caller, &once).await.unwrap(), Some(answer_to(&refused)));
}

/// D12: a corrected request may use the same key.
#[tokio::test]
async fn d12_a_refusal_without_an_answer_is_not_remembered() {
    let world = World::new().await;
    world.redirect("sale").await;
    let once = KeyedRequest { answer_to_refusal: |_| None, ..once_for("a") };
    assert_eq!(
        refusal(create_redirect(&world, draft("sale"), &once).await).code(),
        ErrorCode::SlugAlreadyTaken
    );
    create_redirect(&world, draft("other"), &once).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn d12_one_of_twenty_concurrent_requests_is_executed() {
    let world = World::new().await;
    let (caller, once) = (world.caller().await, once_for("a"));
    let outcomes = at_once(20, async |_| create_group(&world, &caller, &once).await);
    let (created, told): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    let created: Vec<Group> = created.into_iter().flatten().collect();
    let [group] = created.as_slice() else { panic!("created: {created:?}") };
    assert_eq!(told.len(), 19);
    assert!(told.into_iter().all(|outcome| replayed(outcome) == answer_with_group(group)));
    assert_eq!(world.usage().await.groups, 1);
}

/// A refusal is stored only after its unit of work was rolled back.
#[tokio::test(flavor = "multi_thread")]
async fn d12_a_refusal_is_replayed_to_concurrent_requests() {
    let world = World::new().await;
    let taken = Refusal::AddressTaken { existing: Some(world.redirect("sale").await.id.into()) };
    let once = once_for("taken");
    let outcomes = at_once(20, async |_| create_redirect(&world, draft("sale"), &once).await);
    let (refused, told): (Vec<_>, Vec<_>) =
        outcomes.into_iter().partition(|outcome| matches!(outcome, Err(AppError::Refused(_))));
    let [_one] = refused.as_slice() else { panic!("refused: {refused:?}") };
    assert_eq!(told.len(), 19);
    assert!(told.into_iter().all(|outcome| replayed(outcome) == answer_to(&taken)));
}

/// R5: change and answer are committed together.
#[tokio::test]
async fn d12_r5_an_uncommitted_change_is_not_remembered() {
    let world = World::new().await;
    let (caller, once) = (world.caller().await, once_for("a"));
    for step in [Step::Begin, Step::Write, Step::Commit] {
        world.memory.store.faults().fail_next(step, Fault::Unavailable, 1);
        assert_internal(create_group(&world, &caller, &once).await);
        assert_eq!(recall(&world.app, &caller, &once).await.unwrap(), None);
        assert_eq!(world.usage().await.groups, 0);
    }
    world.memory.store.faults().fail_next(Step::Commit, Fault::Contended, 1);
    create_group(&world, &caller, &once).await.unwrap();
    assert_eq!(world.usage().await.groups, 1);
}

#[tokio::test]
async fn d30_a_contended_claim_of_a_key_is_retried() {
    let world = World::new().await;
    let caller = world.caller().await;
    let group = world.group("Spring").await.id;
    let missing: IdReference<GroupKind> = samples::id::<GroupKind>().into();
    let ids = Batch::new(vec![samples::id::<RedirectKind>().to_string()]).unwrap();
    for (body, group) in [("there", IdReference::from(group)), ("missing", missing)] {
        let once = KeyedRequest { key: IdempotencyKey::parse(body).unwrap(), ..once_for(body) };
        world.memory.store.faults().fail_next(Step::Write, Fault::Contended, 1);
        let idempotency = Idempotency::of_request(Some(&once), |_| Some(answer("moved".to_owned())));
        let first = groups::assign(&world.app, &caller, group, &ids, idempotency).await;
        assert_eq!(first.is_ok(), body == "there", "{first:?}");
        assert!(recall(&world.app, &caller, &once).await.unwrap().is_some());
    }
}

/// The batch was executed, whether or not it needed the store.
#[tokio::test]
async fn d12_a_batch_of_failures_is_replayed() {
    for id in [samples::id::<RedirectKind>().to_string(), "malformed".to_owned()] {
        let world = World::new().await;
        let ids = Batch::new(vec![id]).unwrap();
        let (caller, once) = (world.caller().await, once_for("bulk"));
        let delete = async || {
            let idempotency = Idempotency::of_request(Some(&once), |_| Some(answer("none".to_owned())));
            links::delete_many::<RedirectKind>(&world.app, &caller, &ids, idempotency).await
        };
        assert_eq!(delete().await.unwrap(), [Err(Refusal::RedirectNotFound.into())]);
        assert_eq!(replayed(delete().await), answer("none".to_owned()));
    }
}

#[tokio::test]
async fn d12_expired_answers_are_deleted() {
    let world = World::new().await;
    let (caller, once) = (world.caller().await, once_for("a"));
    let given_at = world.app.clock.now();
    create_group(&world, &caller, &once).await.unwrap();
    let store = &world.app.store;
    let job = ForgetAnswers::new(store.clone(), world.app.clock.clone());
    assert_eq!((job.name(), job.period()), ("forget-answers", Duration::from_hours(1)));
    for (wait, is_kept) in [(Duration::ZERO, true), (ANSWERS_KEPT, false)] {
        world.memory.clock.advance(wait);
        assert_eq!(job.step().await.unwrap(), Progress::Done);
        // Read at the time of the answer, it is missing only if it was deleted.
        let kept = store.remembered_request(world.account.id, &once.key, given_at).await.unwrap();
        assert_eq!(kept.is_some(), is_kept);
    }
}
