//! Remembered answers of requests with an idempotency key (D12).

use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::{
    ANSWERS_KEPT, AnswerOwner, RememberedAnswer, RememberedRequest, RequestFingerprint, Store, StoreError,
};
use signpost_domain::{IdempotencyKey, Timestamp, UserId};
use tokio::sync::oneshot;

use super::fixture::Fresh;
use super::given::{self, PLENTY, unit};
use crate::run::at_once;
use crate::samples;

cases! {
    $ remembered_answers
    a_remembered_answer_reads_back
    an_answer_is_committed_with_its_change
    a_dropped_claim_leaves_the_key_free
    keys_of_different_accounts_are_independent
    keys_of_users_and_accounts_are_independent
    keys_are_compared_byte_for_byte
    d12_an_answer_is_remembered_for_24_hours
    a_reused_key_returns_its_first_request
    long_keys_and_answers_are_remembered
    a_claim_waits_for_a_concurrent_claim
    d12_one_of_many_requests_with_a_key_is_executed
    different_keys_do_not_wait_for_each_other
    old_answers_are_deleted_oldest_first
    a_reclaimed_key_is_not_deleted
    deleting_an_account_deletes_its_answers
    answers_survive_reopening
}

/// Long enough to show that a call waits.
const A_WHILE: Duration = Duration::from_millis(100);

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

/// A request for `what`, with an answer that contains it.
fn request(what: &str) -> RememberedRequest {
    let answer = RememberedAnswer {
        status: 201,
        location: Some(format!("/v1/groups/{what}")),
        body: format!("{{\"name\":\"{what}\"}}"),
    };
    RememberedRequest { fingerprint: RequestFingerprint::of("POST", "/v1/groups", what.as_bytes()), answer }
}

/// The instant until which an answer from `since` is remembered.
fn end(since: Timestamp) -> Timestamp {
    since.plus(ANSWERS_KEPT)
}

const ONE_MILLISECOND: Duration = Duration::from_millis(1);

/// Executes a request, or returns the remembered one if its key was used.
async fn carry_out(
    store: &Arc<dyn Store>,
    owner: impl Into<AnswerOwner>,
    key: &IdempotencyKey,
    request: &RememberedRequest,
    now: Timestamp,
) -> Option<RememberedRequest> {
    let owner = owner.into();
    let outcome = unit!(store, async |work| {
        let before = work.claim_key(owner, key, now).await?;
        if before.is_none() {
            work.remember_answer(owner, key, request, now).await?;
        }
        Ok(before)
    });
    outcome.await.unwrap()
}

/// The answer to a unit of work that claims the key and is dropped.
async fn claimed(
    store: &Arc<dyn Store>,
    owner: impl Into<AnswerOwner>,
    key: &IdempotencyKey,
    now: Timestamp,
) -> Option<RememberedRequest> {
    let owner = owner.into();
    loop {
        let mut work = store.begin().await.unwrap();
        match work.claim_key(owner, key, now).await {
            Err(StoreError::Contended) => {}
            claim => return claim.unwrap(),
        }
    }
}

/// The remembered request. Readers and units of work must agree on it.
async fn remembered(
    store: &Arc<dyn Store>,
    owner: impl Into<AnswerOwner>,
    key: &IdempotencyKey,
    now: Timestamp,
) -> Option<RememberedRequest> {
    let owner = owner.into();
    let read = store.remembered_request(owner, key, now).await.unwrap();
    assert_eq!(claimed(store, owner, key, now).await, read);
    read
}

async fn forget(store: &Arc<dyn Store>, now: Timestamp, at_most: u16) -> u16 {
    loop {
        match store.forget_answers(now, at_most).await {
            Err(StoreError::Contended) => {}
            forgotten => return forgotten.unwrap(),
        }
    }
}

pub(super) async fn a_remembered_answer_reads_back(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    assert_eq!(remembered(&store, account, &key("none"), samples::at(0)).await, None);
    for (status, location, body) in [
        (200, None, "{}"),
        (201, Some("/v1/redirects/red_1?a=b"), "{\"name\":\"Grüße \\u0000 '\"}"),
        (404, None, ""),
        (599, Some(""), " \r\n\t"),
    ] {
        let (key, location) = (key(&format!("key-{status}")), location.map(str::to_owned));
        let answer = RememberedAnswer { status, location, body: body.to_owned() };
        let request = RememberedRequest { answer, ..request(body) };
        assert_eq!(carry_out(&store, account, &key, &request, samples::at(0)).await, None);
        assert_eq!(remembered(&store, account, &key, samples::at(0)).await, Some(request));
    }
}

/// The answer and its change are committed or rolled back together, and neither is visible before.
pub(super) async fn an_answer_is_committed_with_its_change(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let (key, request, now) = (key("once"), request("a"), samples::at(0));
    for is_committed in [false, true] {
        let mut work = store.begin().await.unwrap();
        assert_eq!(work.claim_key(account.into(), &key, now).await.unwrap(), None);
        work.insert_group(account, &samples::group("New"), PLENTY).await.unwrap();
        work.remember_answer(account.into(), &key, &request, now).await.unwrap();
        assert_eq!(store.remembered_request(account.into(), &key, now).await.unwrap(), None);
        if is_committed {
            work.commit().await.unwrap();
        } else {
            drop(work);
        }
        let expected = is_committed.then(|| request.clone());
        assert_eq!(remembered(&store, account, &key, now).await, expected);
        assert_eq!(store.usage(account).await.unwrap().unwrap().groups, u64::from(is_committed));
    }
}

pub(super) async fn a_dropped_claim_leaves_the_key_free(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let (key, now) = (key("once"), samples::at(0));
    for _ in 0..2 {
        assert_eq!(claimed(&store, account, &key, now).await, None);
        assert_eq!(store.remembered_request(account.into(), &key, now).await.unwrap(), None);
    }
    assert_eq!(carry_out(&store, account, &key, &request("a"), now).await, None);
    // A claim of an expired key takes it over, and restores it when it is dropped.
    assert_eq!(claimed(&store, account, &key, end(now)).await, None);
    assert_eq!(remembered(&store, account, &key, now).await, Some(request("a")));
}

/// This also holds for accounts that do not exist.
pub(super) async fn keys_of_different_accounts_are_independent(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = [given::account(&store).await, given::account(&store).await, samples::id()];
    let (key, now) = (key("once"), samples::at(0));
    for (number, account) in accounts.into_iter().enumerate() {
        assert_eq!(remembered(&store, account, &key, now).await, None);
        assert_eq!(carry_out(&store, account, &key, &request(&number.to_string()), now).await, None);
    }
    for (number, account) in accounts.into_iter().enumerate() {
        assert_eq!(remembered(&store, account, &key, now).await, Some(request(&number.to_string())));
    }
}

/// Operators act for no account, so their keys belong to the user.
pub(super) async fn keys_of_users_and_accounts_are_independent(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let user: UserId = samples::id();
    let (key, now) = (key("once"), samples::at(0));
    assert_eq!(carry_out(&store, account, &key, &request("a"), now).await, None);
    assert_eq!(carry_out(&store, user, &key, &request("b"), now).await, None);
    assert_eq!(remembered(&store, account, &key, now).await, Some(request("a")));
    let deleted = unit!(&store, async |work| Ok(work.delete_account(account).await?));
    assert!(deleted.await.unwrap());
    assert_eq!(remembered(&store, user, &key, now).await, Some(request("b")));
    assert_eq!(forget(&store, end(now), 10).await, 1);
}

pub(super) async fn keys_are_compared_byte_for_byte(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let texts = ["key", "Key", "KEY", "key.", "ke", "k%", "k_y", "'key'", "\\key"];
    for text in texts {
        assert_eq!(
            carry_out(&store, account, &key(text), &request(text), samples::at(0)).await,
            None,
            "{text}"
        );
    }
    for text in texts {
        assert_eq!(remembered(&store, account, &key(text), samples::at(0)).await, Some(request(text)));
    }
}

/// D12: to the millisecond. Then the key is free for any request, which is remembered for another 24 hours.
pub(super) async fn d12_an_answer_is_remembered_for_24_hours(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let key = key("once");
    let mut since = samples::at(17);
    for what in ["a", "b", "b"] {
        assert_eq!(carry_out(&store, account, &key, &request(what), since).await, None);
        let last = end(since).minus(ONE_MILLISECOND);
        for now in [since.minus(ONE_MILLISECOND), since, last] {
            assert_eq!(remembered(&store, account, &key, now).await, Some(request(what)));
        }
        // A look-up does not extend the time.
        let before = carry_out(&store, account, &key, &request("late"), last).await;
        assert_eq!(before, Some(request(what)));
        since = end(since);
        assert_eq!(remembered(&store, account, &key, since).await, None);
    }
}

/// The application decides what a different request with the same key means.
pub(super) async fn a_reused_key_returns_its_first_request(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let (key, now) = (key("once"), samples::at(0));
    assert_eq!(carry_out(&store, account, &key, &request("first"), now).await, None);
    for what in ["second", "first", "third"] {
        let before = carry_out(&store, account, &key, &request(what), now).await;
        assert_eq!(before, Some(request("first")));
    }
}

pub(super) async fn long_keys_and_answers_are_remembered(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let visible: String = (b'!'..=b'~').map(char::from).collect();
    let keys = ["k".repeat(IdempotencyKey::MAX_CHARS), format!("{}z", "k".repeat(254)), visible];
    for (number, text) in keys.iter().enumerate() {
        let long = RememberedAnswer {
            status: 201,
            location: Some("l".repeat(2_000)),
            body: format!("{number}{}", "ä€𝄞 ".repeat(30_000)),
        };
        assert!(long.body.len() >= 300_000);
        let long = RememberedRequest { answer: long, ..request(text) };
        assert_eq!(carry_out(&store, account, &key(text), &long, samples::at(0)).await, None);
        assert_eq!(remembered(&store, account, &key(text), samples::at(0)).await, Some(long));
    }
}

/// When two units of work claim one key at the same time, one waits and then learns the outcome of the other.
pub(super) async fn a_claim_waits_for_a_concurrent_claim(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let now = samples::at(0);
    for is_committed in [true, false] {
        let key = key(if is_committed { "committed" } else { "dropped" });
        let mut first = store.begin().await.unwrap();
        assert_eq!(first.claim_key(account.into(), &key, now).await.unwrap(), None);

        let (starting, started) = oneshot::channel();
        let (store_of_second, key_of_second) = (store.clone(), key.clone());
        let mut second = tokio::spawn(async move {
            starting.send(()).unwrap();
            claimed(&store_of_second, account, &key_of_second, now).await
        });
        started.await.unwrap();
        let early = tokio::time::timeout(A_WHILE, &mut second).await;
        assert!(early.is_err(), "the claim did not wait: {early:?}");

        if is_committed {
            first.remember_answer(account.into(), &key, &request("a"), now).await.unwrap();
            first.commit().await.unwrap();
        } else {
            drop(first);
        }
        assert_eq!(second.await.unwrap(), is_committed.then(|| request("a")));
    }
}

/// D12: two requests never create two resources, with a new key or with an expired one.
pub(super) async fn d12_one_of_many_requests_with_a_key_is_executed(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for (round, now) in (1..).zip([samples::at(0), end(samples::at(0)), end(end(samples::at(0)))]) {
        let outcomes = at_once(20, |number| {
            let store = store.clone();
            async move {
                let request = request(&format!("{round}-{number}"));
                let outcome = unit!(&store, async |work| {
                    let before = work.claim_key(account.into(), &key("once"), now).await?;
                    if before.is_none() {
                        work.insert_group(account, &samples::group("New"), PLENTY).await?;
                        work.remember_answer(account.into(), &key("once"), &request, now).await?;
                    }
                    Ok(before)
                });
                outcome.await.unwrap().ok_or(request)
            }
        });
        let (replayed, executed): (Vec<_>, Vec<_>) = outcomes.await.into_iter().partition(Result::is_ok);
        let executed: Vec<_> = executed.into_iter().filter_map(Result::err).collect();
        let [one] = executed.as_slice() else { panic!("not exactly one was executed: {executed:?}") };
        assert_eq!(replayed.len(), 19);
        assert!(replayed.iter().flatten().all(|before| before == one), "{replayed:?}");
        assert_eq!(store.usage(account).await.unwrap().unwrap().groups, round);
    }
}

pub(super) async fn different_keys_do_not_wait_for_each_other(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = [given::account(&store).await, given::account(&store).await];
    let now = samples::at(0);
    let outcomes = at_once(40, |number| {
        let store = store.clone();
        async move {
            let account = accounts[usize::from(number % 2 == 0)];
            let text = (number / 2).to_string();
            assert_eq!(carry_out(&store, account, &key(&text), &request(&text), now).await, None);
            (account, text)
        }
    });
    for (account, text) in outcomes.await {
        assert_eq!(remembered(&store, account, &key(&text), now).await, Some(request(&text)));
    }
}

/// Each call deletes at most the requested number, oldest first and of all accounts. Answers that are still valid stay.
pub(super) async fn old_answers_are_deleted_oldest_first(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = [given::account(&store).await, given::account(&store).await];
    assert_eq!(forget(&store, end(samples::at(0)), 10).await, 0);
    let given_at = [30, 10, 50, 20, 40];
    let owner = |millis: i64| accounts[usize::from(millis % 20 == 0)];
    for millis in given_at {
        let text = millis.to_string();
        carry_out(&store, owner(millis), &key(&text), &request(&text), samples::at(millis)).await;
    }
    let assert_kept = async |expected: &[i64]| {
        let mut kept = vec![];
        for millis in [10, 20, 30, 40, 50] {
            let (key, given_at) = (key(&millis.to_string()), samples::at(millis));
            // At this instant every stored answer is valid, so a missing one was deleted.
            kept.extend(remembered(&store, owner(millis), &key, given_at).await.map(|_| millis));
        }
        assert_eq!(kept, expected);
    };
    assert_eq!(forget(&store, end(samples::at(10)).minus(ONE_MILLISECOND), 10).await, 0);
    assert_kept(&[10, 20, 30, 40, 50]).await;
    assert_eq!(forget(&store, end(samples::at(40)), 0).await, 0);
    assert_eq!(forget(&store, end(samples::at(40)), 2).await, 2);
    assert_kept(&[30, 40, 50]).await;
    assert_eq!(forget(&store, end(samples::at(40)), u16::MAX).await, 2);
    assert_kept(&[50]).await;
    assert_eq!(forget(&store, end(samples::at(50)).minus(ONE_MILLISECOND), 10).await, 0);
    assert_eq!(forget(&store, end(samples::at(50)), 1).await, 1);
    assert_kept(&[]).await;
}

pub(super) async fn a_reclaimed_key_is_not_deleted(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let (key, first) = (key("once"), samples::at(0));
    assert_eq!(carry_out(&store, account, &key, &request("a"), first).await, None);
    assert_eq!(carry_out(&store, account, &key, &request("b"), end(first)).await, None);
    assert_eq!(forget(&store, end(first), 10).await, 0);
    assert_eq!(remembered(&store, account, &key, end(first)).await, Some(request("b")));
    assert_eq!(forget(&store, end(end(first)), 10).await, 1);
}

pub(super) async fn deleting_an_account_deletes_its_answers(fresh: Fresh) {
    let (store, [leaving, staying]) = fresh.store_with_accounts().await;
    let now = samples::at(0);
    for (account, text) in [(leaving, "a"), (leaving, "b"), (staying, "a")] {
        assert_eq!(carry_out(&store, account, &key(text), &request(text), now).await, None);
    }
    let deleted = unit!(&store, async |work| Ok(work.delete_account(leaving).await?));
    assert!(deleted.await.unwrap());
    for text in ["a", "b"] {
        assert_eq!(remembered(&store, leaving, &key(text), now).await, None);
    }
    assert_eq!(remembered(&store, staying, &key("a"), now).await, Some(request("a")));
    assert_eq!(forget(&store, end(now), 10).await, 1);
}

pub(super) async fn answers_survive_reopening(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let (key, now) = (key("once"), samples::at(0));
    assert_eq!(carry_out(&store, account, &key, &request("a"), now).await, None);
    let store = store.reopened().await;
    assert_eq!(remembered(&store, account, &key, now).await, Some(request("a")));
    let other = carry_out(&store, account, &key, &request("b"), now).await;
    assert_eq!(other, Some(request("a")));
}
