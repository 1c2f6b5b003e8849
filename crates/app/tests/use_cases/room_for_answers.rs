//! The room for stored answers of an account (D12): without room, no request is executed.

use std::sync::Arc;
use std::time::Duration;

use signpost_app::idempotency::{Idempotency, KeyedRequest};
use signpost_app::ports::{ANSWERS_KEPT_AT_LEAST, RememberedAnswer, RequestFingerprint};
use signpost_app::{AppError, Application, groups, links};
use signpost_domain::id::RedirectKind;
use signpost_domain::{ErrorCode, Group, IdReference, IdempotencyKey, Refusal};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::world::World;

/// Room for one of the answers below, and not for two.
const ROOM: u64 = 1_000;

async fn world() -> World {
    let memory = InMemory::default();
    let mut world = World::on(memory.clone(), "agency").await;
    world.app = Arc::new(Application { room_for_answers: ROOM, ..memory.application() });
    world
}

fn once(key: &str) -> KeyedRequest {
    KeyedRequest {
        key: IdempotencyKey::parse(key).unwrap(),
        fingerprint: RequestFingerprint::of("POST", "/v1/groups", b"{}"),
        answer_to_refusal: |refusal: &Refusal| Some(answer(refusal.to_string())),
    }
}

fn answer(body: String) -> RememberedAnswer {
    RememberedAnswer { status: 201, location: None, body }
}

async fn create_group(world: &World, key: &str) -> Result<Group, AppError> {
    let once = once(key);
    let idempotency =
        Idempotency::of_request(Some(&once), |group: &Group| Some(answer(group.id.to_string())));
    groups::create(&world.app, &world.caller().await, samples::name("Spring"), idempotency).await
}

fn seconds_to_wait<T: std::fmt::Debug>(outcome: Result<T, AppError>) -> u32 {
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RateLimitExceeded);
    match error {
        AppError::NoRoomForAnswer { retry_after_seconds } => retry_after_seconds,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn d12_a_request_without_room_for_its_answer_is_not_executed() {
    let world = world().await;
    create_group(&world, "first").await.unwrap();
    world.memory.clock.advance(Duration::from_millis(600));
    for key in ["second", "third"] {
        // Rounded up, because an earlier request would fail.
        assert_eq!(seconds_to_wait(create_group(&world, key).await), 3_600);
    }
    assert_eq!(world.usage().await.groups, 1);
    let again = create_group(&world, "first").await.unwrap_err();
    assert!(matches!(again, AppError::AnsweredBefore(_)), "the promise holds: {again:?}");
    // A request without a key needs no room.
    let caller = world.caller().await;
    groups::create(&world.app, &caller, samples::name("Autumn"), Idempotency::disabled()).await.unwrap();

    world.memory.clock.advance(ANSWERS_KEPT_AT_LEAST);
    create_group(&world, "second").await.unwrap();
    assert_eq!(world.usage().await.groups, 3);
}

/// A repetition of the request might succeed.
#[tokio::test]
async fn d12_a_refusal_without_room_is_not_returned() {
    let world = world().await;
    create_group(&world, "first").await.unwrap();
    let (once, caller) = (once("second"), world.caller().await);
    let unknown = [samples::id::<RedirectKind>().to_string()];
    let ids = signpost_domain::Batch::new(unknown.to_vec()).unwrap();
    let idempotency = Idempotency::of_request(Some(&once), |_| Some(answer(String::new())));
    let deletion = links::delete_many::<RedirectKind>(&world.app, &caller, &ids, idempotency);
    assert_eq!(seconds_to_wait(deletion.await), 3_600);
    let idempotency = Idempotency::of_request(Some(&once), |_| Some(answer(String::new())));
    let assigned = groups::assign(&world.app, &caller, IdReference::Malformed, &ids, idempotency);
    assert_eq!(seconds_to_wait(assigned.await), 3_600);
}
