//! Idempotent requests (D12).

use std::sync::Arc;
use std::time::Duration;

use signpost_app::background::{ForgetAnswers, Job, Progress};
use signpost_app::idempotency::{Idempotency, KeyedRequest, recall};
use signpost_app::ports::{ANSWERS_KEPT, ANSWERS_KEPT_AT_LEAST, RememberedAnswer, RequestFingerprint};
use signpost_app::redirects::RedirectWithPixels;
use signpost_app::{AppError, Application, Caller, groups, links};
use signpost_domain::id::{GroupKind, RedirectKind};
use signpost_domain::{
    Batch, ErrorCode, Group, IdReference, IdempotencyKey, Precondition, RedirectContent, RedirectRequest,
    Refusal, Submitted, ViolationCode,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::world::{World, assert_internal, at_once, draft, refusal, violation, violations};

/// The stored answer to a refusal.
fn answer_to(refusal: &Refusal) -> RememberedAnswer {
    RememberedAnswer { status: 409, location: None, body: refusal.to_string() }
}

fn once_for(body: &str) -> KeyedRequest {
    once_with("once", body)
}

fn once_with(key: &str, body: &str) -> KeyedRequest {
    KeyedRequest {
        key: IdempotencyKey::parse(key).unwrap(),
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

/// D12: whatever the refusal, even if the request would succeed by now.
#[tokio::test]
async fn d12_a_refusal_is_replayed() {
    let world = World::new().await;
    let redirect = world.redirect("sale").await;
    let taken = Refusal::AddressTaken { existing: Some(redirect.id.into()) };
    let once = once_for("taken");
    assert_eq!(refusal(create_redirect(&world, draft("sale"), &once).await), taken);
    links::delete(&world.app, &world.caller().await, redirect.id.into(), &Precondition::None).await.unwrap();
    let again = create_redirect(&world, draft("sale"), &once).await;
    assert_eq!(replayed(again), answer_to(&taken));
    let recalled = recall(&world.app, &world.caller().await, &once).await.unwrap();
    assert_eq!(recalled, Some(answer_to(&taken)));
    assert_eq!(world.usage().await.links, 0);
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
    // The deletion waits until a later reading of the clock confirms the first (R22).
    for (wait, is_kept) in [(Duration::ZERO, true), (ANSWERS_KEPT, true), (Duration::from_hours(1), false)] {
        world.memory.clock.advance(wait);
        assert_eq!(job.step().await.unwrap(), Progress::Done);
        // Read at the time of the answer, it is missing only if it was deleted.
        let kept = store.remembered_request(world.account.id.into(), &once.key, given_at).await.unwrap();
        assert_eq!(kept.is_some(), is_kept);
    }
}

/// A repeated request would take effect twice.
#[tokio::test]
async fn r22_a_clock_that_is_ahead_for_a_moment_deletes_no_answers() {
    let world = World::new().await;
    let (caller, once) = (world.caller().await, once_for("a"));
    let given_at = world.app.clock.now();
    create_group(&world, &caller, &once).await.unwrap();
    let job = ForgetAnswers::new(world.app.store.clone(), world.app.clock.clone());
    let ahead = ANSWERS_KEPT * 40;
    for _ in 0..5 {
        job.step().await.unwrap();
        world.memory.clock.jump_ahead(ahead);
        job.step().await.unwrap();
        world.memory.clock.advance(Duration::from_mins(10));
        job.step().await.unwrap();
        world.memory.clock.step_back(ahead);
        job.step().await.unwrap();
        world.memory.clock.advance(Duration::from_hours(1));
    }
    let kept =
        world.app.store.remembered_request(world.account.id.into(), &once.key, given_at).await.unwrap();
    assert!(kept.is_some());
}

/// Room for one of the answers below, and not for two.
async fn world_with_little_room() -> World {
    let mut world = World::new().await;
    world.app = Arc::new(Application { room_for_answers: 1_000, ..world.memory.application() });
    world
}

async fn create_with(world: &World, key: &str) -> Result<Group, AppError> {
    create_group(world, &world.caller().await, &once_with(key, "{}")).await
}

fn seconds_to_wait<T: std::fmt::Debug>(outcome: Result<T, AppError>) -> u32 {
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RateLimitExceeded);
    match error {
        AppError::NoRoomForAnswer { retry_after_seconds } => retry_after_seconds,
        other => panic!("{other:?}"),
    }
}

/// D12: without room for the stored answers of an account, no request is executed.
#[tokio::test]
async fn d12_a_request_without_room_for_its_answer_is_not_executed() {
    let world = world_with_little_room().await;
    create_with(&world, "first").await.unwrap();
    world.memory.clock.advance(Duration::from_millis(600));
    for key in ["second", "third"] {
        // Rounded up, because an earlier request would fail.
        assert_eq!(seconds_to_wait(create_with(&world, key).await), 3_600);
    }
    assert_eq!(world.usage().await.groups, 1);
    let again = create_with(&world, "first").await.unwrap_err();
    assert!(matches!(again, AppError::AnsweredBefore(_)), "the promise holds: {again:?}");
    // A request without a key needs no room.
    let caller = world.caller().await;
    groups::create(&world.app, &caller, samples::name("Autumn"), Idempotency::disabled()).await.unwrap();

    world.memory.clock.advance(ANSWERS_KEPT_AT_LEAST);
    create_with(&world, "second").await.unwrap();
    assert_eq!(world.usage().await.groups, 3);
}

/// D12: a repetition of the request might succeed.
#[tokio::test]
async fn d12_a_refusal_without_room_is_not_returned() {
    let world = world_with_little_room().await;
    create_with(&world, "first").await.unwrap();
    let (once, caller) = (once_with("second", "{}"), world.caller().await);
    let unknown = [samples::id::<RedirectKind>().to_string()];
    let ids = Batch::new(unknown.to_vec()).unwrap();
    let idempotency = Idempotency::of_request(Some(&once), |_| Some(answer(String::new())));
    let deletion = links::delete_many::<RedirectKind>(&world.app, &caller, &ids, idempotency);
    assert_eq!(seconds_to_wait(deletion.await), 3_600);
    let idempotency = Idempotency::of_request(Some(&once), |_| Some(answer(String::new())));
    let assigned = groups::assign(&world.app, &caller, IdReference::Malformed, &ids, idempotency);
    assert_eq!(seconds_to_wait(assigned.await), 3_600);
}
