//! Keys under concurrent units of work, and corrupt rows of answers.

use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::{
    ANSWERS_KEPT, AnswerReads, RememberedAnswer, RememberedRequest, RequestFingerprint, Store, StoreError,
};
use signpost_domain::{AccountId, IdempotencyKey, Timestamp};
use signpost_port_contracts::samples;
use signpost_postgres::PostgresStore;

use super::database::{migrated, open, unavailable, until_one_waits};

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
    assert_eq!(work.claim_key(account.into(), key, now).await.unwrap(), None);
    work.remember_answer(account.into(), key, request, now).await.unwrap();
    work.commit().await.unwrap();
}

/// D12: one runs, and the other waits for its answer or its rollback, also when an expired answer is taken over.
#[tokio::test(flavor = "multi_thread")]
async fn d12_second_request_with_a_key_waits_for_the_answer() {
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
        assert_eq!(first.claim_key(account.into(), &key, now).await.unwrap(), None, "{name}");
        let second = {
            let (store, key) = (store.clone(), key.clone());
            tokio::spawn(async move {
                let mut work = store.begin().await.unwrap();
                work.claim_key(account.into(), &key, now).await.unwrap()
            })
        };
        until_one_waits(&database).await;
        let answer = request("new");
        if is_answered {
            first.remember_answer(account.into(), &key, &answer, now).await.unwrap();
            first.commit().await.unwrap();
        } else {
            drop(first);
        }
        assert_eq!(second.await.unwrap(), is_answered.then_some(answer), "{name}");
    }
}

/// All requests that waited for an answer get it at once; none locks what the next one needs.
#[tokio::test(flavor = "multi_thread")]
async fn d12_request_with_a_remembered_answer_blocks_no_other() {
    let database = migrated().await;
    let store = open(&database).await;
    let (account, key, now) = (samples::id(), key("key"), samples::at(0));
    remember(&store, account, &key, &request("a"), now).await;
    let mut told = vec![];
    for _ in 0..4 {
        let mut work = store.begin().await.unwrap();
        assert_eq!(work.claim_key(account.into(), &key, now).await.unwrap(), Some(request("a")));
        told.push(work);
    }
    assert_eq!(store.forget_answers(now.plus(ANSWERS_KEPT), 9).await.unwrap(), 1);
}

/// A claim is invisible to others and cannot be committed without its answer.
#[tokio::test(flavor = "multi_thread")]
async fn d12_claim_without_an_answer_is_never_committed() {
    let database = migrated().await;
    let store = open(&database).await;
    let (account, key, now) = (samples::id(), key("key"), samples::at(0));
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.claim_key(account.into(), &key, now).await.unwrap(), None);
    assert_eq!(store.remembered_request(account.into(), &key, now).await.unwrap(), None);
    assert!(unavailable(work.commit().await).contains("not remembered"));
    remember(&store, account, &key, &request("later"), now).await;

    let mut work = store.begin().await.unwrap();
    let unclaimed = work.remember_answer(account.into(), &key, &request("other"), now).await;
    assert!(unavailable(unclaimed).contains("claimed"));
    assert_eq!(store.remembered_request(account.into(), &key, now).await.unwrap(), Some(request("later")));
}

/// D30: a claim that PostgreSQL aborts in favour of another transaction must be retried.
#[tokio::test(flavor = "multi_thread")]
async fn d30_contended_claim_is_rolled_back() {
    let database = migrated().await;
    let store = open(&database).await;
    let (account, key, now): (AccountId, _, _) = (samples::id(), key("key"), samples::at(0));
    for (number, code) in ["40001", "40P01"].into_iter().enumerate() {
        database.run(&format!(
            "CREATE SEQUENCE attempts_{number}; CREATE FUNCTION end_the_first_{number}() RETURNS trigger \
             LANGUAGE plpgsql AS $$ BEGIN IF nextval('attempts_{number}') = 1 THEN \
             RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '{code}'; END IF; RETURN NEW; END $$; \
             CREATE TRIGGER claiming_{number} BEFORE INSERT ON remembered_answers \
             FOR EACH ROW EXECUTE FUNCTION end_the_first_{number}()"
        ));
        let mut work = store.begin().await.unwrap();
        let claim = work.claim_key(account.into(), &key, now).await;
        assert!(matches!(claim, Err(StoreError::Contended)), "{code}: {claim:?}");
        drop(work);
        let mut work = store.begin().await.unwrap();
        assert_eq!(work.claim_key(account.into(), &key, now).await.unwrap(), None, "{code}");
    }
}

/// An expired answer whose key is being taken over does not block the deletion of others.
#[tokio::test(flavor = "multi_thread")]
async fn d12_deletion_skips_an_answer_being_taken_over() {
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
    assert_eq!(work.claim_key(account.into(), &key("a"), now).await.unwrap(), None);
    assert_eq!(store.forget_answers(now, 9).await.unwrap(), 1);
    work.remember_answer(account.into(), &key("a"), &request("new"), now).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(store.forget_answers(now, 9).await.unwrap(), 0);
    assert_eq!(store.remembered_request(account.into(), &key("a"), now).await.unwrap(), Some(request("new")));
}
