//! The room for the remembered answers of one account (D12), and the deletion of old ones to make room.

use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::{
    ANSWERS_KEPT, ANSWERS_KEPT_AT_LEAST, RememberedAnswer, RememberedRequest, Remembering,
    RequestFingerprint, Store, StoreError,
};
use signpost_domain::{AccountId, IdempotencyKey, Timestamp};

use super::fixture::Fresh;

use crate::run::at_once;
use crate::samples;

cases! {
    $ room_for_answers
    d12_answers_of_an_account_are_bounded_in_bytes
    answers_older_than_an_hour_make_room
    rollback_frees_the_room_of_an_answer
    deleted_answers_take_no_room
    an_answer_larger_than_the_room_is_not_remembered
    concurrent_answers_share_the_room_exactly
}

const ONE_MILLISECOND: Duration = Duration::from_millis(1);

fn key(number: usize) -> IdempotencyKey {
    IdempotencyKey::parse(&format!("key-{number}")).unwrap()
}

/// A request whose answer has more bytes than characters.
fn request(number: usize) -> RememberedRequest {
    let answer = RememberedAnswer {
        status: 201,
        location: number.is_multiple_of(2).then(|| "/v1/grüße".to_owned()),
        body: "ä€𝄞".repeat(number + 1),
    };
    RememberedRequest { fingerprint: RequestFingerprint::of("POST", "/v1/groups", b""), answer }
}

fn bytes(number: usize) -> u32 {
    request(number).bytes(&key(number))
}

/// The total size of these answers.
fn sum(numbers: impl IntoIterator<Item = usize>) -> u64 {
    numbers.into_iter().map(|number| u64::from(bytes(number))).sum()
}

/// Remembers an answer if the account has room, and returns whether it had.
async fn remember(
    store: &Arc<dyn Store>,
    account: AccountId,
    number: usize,
    most: u64,
    now: Timestamp,
) -> Remembering {
    loop {
        let attempt = async {
            let mut work = store.begin().await?;
            assert_eq!(work.claim_key(account.into(), &key(number), now).await?, None);
            let outcome =
                work.remember_within(account.into(), &key(number), &request(number), most, now).await?;
            if outcome == Remembering::Done {
                work.commit().await?;
            }
            Ok(outcome)
        };
        match attempt.await {
            Err(StoreError::Contended) => tokio::task::yield_now().await,
            outcome => break outcome.unwrap(),
        }
    }
}

/// Which of the first `first` answers are remembered.
async fn remembered(store: &Arc<dyn Store>, account: AccountId, first: usize) -> Vec<usize> {
    let mut found = vec![];
    for number in 0..first {
        // At this instant every stored answer is valid, so a missing one was deleted.
        let found_request =
            store.remembered_request(account.into(), &key(number), samples::at(0)).await.unwrap();
        if let Some(found_request) = found_request {
            assert_eq!(found_request, request(number));
            found.push(number);
        }
    }
    found
}

async fn forget_by_age(store: &Arc<dyn Store>, now: Timestamp) -> u16 {
    loop {
        match store.forget_answers(now, 1_000).await {
            Err(StoreError::Contended) => tokio::task::yield_now().await,
            forgotten => break forgotten.unwrap(),
        }
    }
}

fn minutes(minutes: u64) -> Timestamp {
    samples::at(0).plus(Duration::from_mins(minutes))
}

/// To the byte. An answer without room is not remembered, and no other answer is deleted for it.
pub(super) async fn d12_answers_of_an_account_are_bounded_in_bytes(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let most = sum(0..4);
    for number in 0..3 {
        assert_eq!(remember(&store, account, number, most, samples::at(0)).await, Remembering::Done);
    }
    let none = Remembering::NoneUntil(samples::at(0).plus(ANSWERS_KEPT_AT_LEAST));
    assert_eq!(remember(&store, account, 3, most - 1, samples::at(0)).await, none);
    assert_eq!(remembered(&store, account, 4).await, [0, 1, 2]);
    assert_eq!(remember(&store, account, 3, most, samples::at(0)).await, Remembering::Done);
    assert_eq!(remember(&store, account, 4, most, samples::at(0)).await, none);
    assert_eq!(remembered(&store, account, 5).await, [0, 1, 2, 3]);
    assert_eq!(remember(&store, other, 4, most, samples::at(0)).await, Remembering::Done, "its own room");
}

/// The oldest first, and never an answer younger than an hour, to the millisecond.
pub(super) async fn answers_older_than_an_hour_make_room(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    // The answers have equal sizes and different ages.
    let most = sum([10, 12, 14]);
    for (age, number) in [(0, 10), (20, 12), (40, 14)] {
        assert_eq!(remember(&store, account, number, most, minutes(age)).await, Remembering::Done);
    }
    let an_hour_later = minutes(0).plus(ANSWERS_KEPT_AT_LEAST);
    let early = an_hour_later.minus(ONE_MILLISECOND);
    assert_eq!(
        remember(&store, account, 8, most, early).await,
        Remembering::NoneUntil(an_hour_later),
        "it says when"
    );
    assert_eq!(remembered(&store, account, 20).await, [10, 12, 14]);
    assert_eq!(remember(&store, account, 8, most, an_hour_later).await, Remembering::Done);
    assert_eq!(remembered(&store, account, 20).await, [8, 12, 14]);
    // Larger than the next one, so two answers must make room.
    let both = Remembering::NoneUntil(minutes(40).plus(ANSWERS_KEPT_AT_LEAST));
    assert_eq!(remember(&store, account, 16, most, minutes(81)).await, both);
    assert_eq!(remember(&store, account, 16, most, minutes(101)).await, Remembering::Done);
    assert_eq!(remembered(&store, account, 20).await, [8, 16]);
}

pub(super) async fn rollback_frees_the_room_of_an_answer(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let most = sum([3]);
    for _ in 0..3 {
        let mut work = store.begin().await.unwrap();
        assert_eq!(work.claim_key(account.into(), &key(3), samples::at(0)).await.unwrap(), None);
        let outcome =
            work.remember_within(account.into(), &key(3), &request(3), most, samples::at(0)).await.unwrap();
        assert_eq!(outcome, Remembering::Done);
        drop(work);
    }
    assert_eq!(remember(&store, account, 3, most, samples::at(0)).await, Remembering::Done);
    // Also if other answers were deleted for it.
    let later = minutes(61);
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.claim_key(account.into(), &key(1), later).await.unwrap(), None);
    let outcome = work.remember_within(account.into(), &key(1), &request(1), most, later).await.unwrap();
    assert_eq!(outcome, Remembering::Done);
    drop(work);
    assert_eq!(remembered(&store, account, 4).await, [3]);
    assert_eq!(remember(&store, account, 1, most, later).await, Remembering::Done);
    assert_eq!(remembered(&store, account, 4).await, [1]);
}

/// Answers that expired, were taken over or were deleted with their account take no room any more.
pub(super) async fn deleted_answers_take_no_room(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let most = sum([0, 1, 2]);
    for number in 0..3 {
        assert_eq!(remember(&store, account, number, most, samples::at(0)).await, Remembering::Done);
    }
    let tomorrow = samples::at(0).plus(ANSWERS_KEPT);
    assert_eq!(forget_by_age(&store, tomorrow).await, 3);
    for number in 0..3 {
        assert_eq!(remember(&store, account, number, most, tomorrow).await, Remembering::Done);
    }
    let in_two_days = tomorrow.plus(ANSWERS_KEPT);
    for number in 0..3 {
        assert_eq!(remember(&store, account, number, most, in_two_days).await, Remembering::Done);
    }
    let mut work = store.begin().await.unwrap();
    assert!(work.delete_account(account).await.unwrap());
    work.commit().await.unwrap();
    for number in 0..3 {
        assert_eq!(remember(&store, account, number, most, in_two_days).await, Remembering::Done);
    }
}

/// No deletion makes enough room for an answer that is larger than the whole room.
pub(super) async fn an_answer_larger_than_the_room_is_not_remembered(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let most = sum([9]) - 1;
    for now in [samples::at(0), minutes(200)] {
        let none = Remembering::NoneUntil(now.plus(ANSWERS_KEPT_AT_LEAST));
        assert_eq!(remember(&store, account, 9, most, now).await, none);
    }
    assert_eq!(remember(&store, account, 0, most, minutes(200)).await, Remembering::Done);
    assert!(matches!(remember(&store, account, 9, most, minutes(900)).await, Remembering::NoneUntil(_)));
    assert_eq!(remembered(&store, account, 1).await, [0]);
}

/// Of many concurrent answers exactly as many are remembered as fit, also when older ones are deleted for them.
pub(super) async fn concurrent_answers_share_the_room_exactly(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let of_one = u64::from(bytes(100));
    let most = of_one * 7;
    for now in [samples::at(0), minutes(61)] {
        let granted = at_once(20, |number| {
            let store = store.clone();
            async move {
                // Equally long, with different keys.
                let text = format!("{:7}", now.unix_millis() % 100_000 + i64::try_from(number).unwrap());
                let key = IdempotencyKey::parse(&text.replace(' ', "-")).unwrap();
                let request = request(100);
                assert_eq!(u64::from(request.bytes(&key)), of_one);
                loop {
                    let attempt = async {
                        let mut work = store.begin().await?;
                        assert_eq!(work.claim_key(account.into(), &key, now).await?, None);
                        let outcome = work.remember_within(account.into(), &key, &request, most, now).await?;
                        if outcome == Remembering::Done {
                            work.commit().await?;
                        }
                        Ok(outcome == Remembering::Done)
                    };
                    match attempt.await {
                        Err(StoreError::Contended) => tokio::task::yield_now().await,
                        granted => break granted.unwrap(),
                    }
                }
            }
        });
        assert_eq!(granted.await.into_iter().filter(|granted| *granted).count(), 7, "{now}");
    }
}
