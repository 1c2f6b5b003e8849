//! Keys that several units of work want at once, and what the rows of their answers are worth.

use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::{
    ANSWERS_KEPT, AnswerReads, RememberedAnswer, RememberedRequest, RequestFingerprint, Store, StoreError,
};
use signpost_domain::{AccountId, IdempotencyKey, Timestamp};
use signpost_port_contracts::samples;
use signpost_postgres::PostgresStore;

use super::database::{migrated, open, unavailable, until_somebody_waits};

pub(crate) fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

pub(crate) fn request(body: &str) -> RememberedRequest {
    let location = Some(format!("/v1/{body}"));
    let answer = RememberedAnswer { status: 201, location, body: body.to_owned() };
    RememberedRequest { fingerprint: RequestFingerprint::of("POST", "/v1", body.as_bytes()), answer }
}

/// Commits the answer to a request.
pub(crate) async fn remember(
    store: &PostgresStore,
    account: AccountId,
    key: &IdempotencyKey,
    request: &RememberedRequest,
    now: Timestamp,
) {
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.claim_key(account, key, now).await.unwrap(), None);
    work.remember_answer(account, key, request, now).await.unwrap();
    work.commit().await.unwrap();
}

/// Contract D12: one runs, the other waits for its answer, or for it to be undone; also where an old answer is taken over.
#[tokio::test(flavor = "multi_thread")]
async fn d12_who_wants_a_claimed_key_waits_for_its_answer() {
    let database = migrated().await;
    let store = Arc::new(open(&database).await);
    let now = samples::at(0).plus(ANSWERS_KEPT);
    for (name, was_used, is_answered) in
        [("a", false, true), ("b", false, false), ("c", true, true), ("d", true, false)]
    {
        let (account, key) = (samples::id(), key(name));
        if was_used {
            remember(&store, account, &key, &request("old"), samples::at(0)).await;
        }
        let mut first = store.begin().await.unwrap();
        assert_eq!(first.claim_key(account, &key, now).await.unwrap(), None, "{name}");
        let second = {
            let (store, key) = (store.clone(), key.clone());
            tokio::spawn(async move {
                let mut work = store.begin().await.unwrap();
                work.claim_key(account, &key, now).await.unwrap()
            })
        };
        until_somebody_waits(&database).await;
        let answer = request("new");
        if is_answered {
            first.remember_answer(account, &key, &answer, now).await.unwrap();
            first.commit().await.unwrap();
        } else {
            drop(first);
        }
        assert_eq!(second.await.unwrap(), is_answered.then_some(answer), "{name}");
    }
}

/// All who have waited for an answer get it at once: none of them holds what the next one wants.
#[tokio::test(flavor = "multi_thread")]
async fn d12_who_is_told_an_answer_holds_up_nobody() {
    let database = migrated().await;
    let store = open(&database).await;
    let (account, key, now) = (samples::id(), key("key"), samples::at(0));
    remember(&store, account, &key, &request("a"), now).await;
    let mut told = vec![];
    for _ in 0..4 {
        let mut work = store.begin().await.unwrap();
        assert_eq!(work.claim_key(account, &key, now).await.unwrap(), Some(request("a")));
        told.push(work);
    }
    assert_eq!(store.forget_answers(now.plus(ANSWERS_KEPT), 9).await.unwrap(), 1);
}

/// A claim is seen by nobody, and cannot be committed without its answer.
#[tokio::test(flavor = "multi_thread")]
async fn d12_a_claim_without_an_answer_is_never_kept() {
    let database = migrated().await;
    let store = open(&database).await;
    let (account, key, now) = (samples::id(), key("key"), samples::at(0));
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.claim_key(account, &key, now).await.unwrap(), None);
    assert_eq!(store.remembered_request(account, &key, now).await.unwrap(), None);
    assert!(unavailable(work.commit().await).contains("not remembered"));
    remember(&store, account, &key, &request("later"), now).await;

    let mut work = store.begin().await.unwrap();
    let unclaimed = work.remember_answer(account, &key, &request("other"), now).await;
    assert!(unavailable(unclaimed).contains("claimed"));
    assert_eq!(store.remembered_request(account, &key, now).await.unwrap(), Some(request("later")));
}

/// Contract D30: a claim that PostgreSQL ends for the sake of another transaction is to be made again.
#[tokio::test(flavor = "multi_thread")]
async fn d30_a_claim_may_be_contended_and_leaves_nothing() {
    let database = migrated().await;
    let store = open(&database).await;
    let (account, key, now) = (samples::id(), key("key"), samples::at(0));
    for (number, code) in ["40001", "40P01"].into_iter().enumerate() {
        database.run(&format!(
            "CREATE SEQUENCE attempts_{number}; CREATE FUNCTION end_the_first_{number}() RETURNS trigger \
             LANGUAGE plpgsql AS $$ BEGIN IF nextval('attempts_{number}') = 1 THEN \
             RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '{code}'; END IF; RETURN NEW; END $$; \
             CREATE TRIGGER claiming_{number} BEFORE INSERT ON remembered_answers \
             FOR EACH ROW EXECUTE FUNCTION end_the_first_{number}()"
        ));
        let mut work = store.begin().await.unwrap();
        let claim = work.claim_key(account, &key, now).await;
        assert!(matches!(claim, Err(StoreError::Contended)), "{code}: {claim:?}");
        drop(work);
        let mut work = store.begin().await.unwrap();
        assert_eq!(work.claim_key(account, &key, now).await.unwrap(), None, "{code}");
    }
}

/// An old answer whose key is being taken over stops nobody from forgetting the others.
#[tokio::test(flavor = "multi_thread")]
async fn d12_an_answer_that_is_taken_over_is_not_waited_for() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = samples::id();
    let (now, a_moment_before) = (
        samples::at(0).plus(ANSWERS_KEPT),
        samples::at(0).plus(ANSWERS_KEPT).minus(Duration::from_millis(1)),
    );
    for name in ["a", "b"] {
        remember(&store, account, &key(name), &request(name), samples::at(0)).await;
    }
    assert_eq!(store.forget_answers(a_moment_before, 9).await.unwrap(), 0);
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.claim_key(account, &key("a"), now).await.unwrap(), None);
    assert_eq!(store.forget_answers(now, 9).await.unwrap(), 1);
    work.remember_answer(account, &key("a"), &request("new"), now).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(store.forget_answers(now, 9).await.unwrap(), 0);
    assert_eq!(store.remembered_request(account, &key("a"), now).await.unwrap(), Some(request("new")));
}
