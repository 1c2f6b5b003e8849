//! The statements about remembered answers (D12).

use diesel::prelude::*;
use signpost_app::ports::{
    ANSWERS_KEPT, AnswerReads, RememberedAnswer, RememberedRequest, RequestFingerprint, Store,
};
use signpost_domain::IdempotencyKey;
use signpost_port_contracts::samples;

use super::{Subject, commit, recorder};

pub(crate) async fn are_found_by_key_and_by_age(subject: &mut Subject) {
    let key = IdempotencyKey::parse("key").unwrap();
    let answer = RememberedAnswer { status: 201, location: None, body: "{}".to_owned() };
    let request = RememberedRequest { fingerprint: RequestFingerprint::from_bytes([1; 32]), answer };
    let then = samples::at(0);
    let plans = subject
        .plans_of(async |store, account| {
            let mut work = store.begin().await.unwrap();
            assert_eq!(work.claim_key(account.into(), &key, then).await.unwrap(), None);
            work.remember_answer(account.into(), &key, &request, then).await.unwrap();
            commit(work).await;
            assert_eq!(
                store.remembered_request(account.into(), &key, then).await.unwrap(),
                Some(request.clone())
            );
            assert_eq!(store.forget_answers(then.plus(ANSWERS_KEPT), 10).await.unwrap(), 1);
        })
        .await;
    // The search for expired answers does not read bodies.
    assert!(plans.iter().any(|plan| plan.contains("COVERING INDEX remembered_answers_age")), "{plans:#?}");
    // A claim and a read are one statement. The others write the answer, find expired ones, and delete them.
    assert_eq!(plans.len(), 4, "{plans:#?}");
    // More than SQLite allows bind values in one statement.
    let many = "WITH RECURSIVE numbers (number) AS (VALUES (1) UNION ALL SELECT number + 1 FROM numbers LIMIT 40000) \
        INSERT INTO remembered_answers SELECT randomblob(16), 'key', zeroblob(32), 201, NULL, '{}', 0 FROM numbers";
    diesel::sql_query(many).execute(&mut subject.connection).unwrap();
    assert_eq!(subject.store.forget_answers(then, u16::MAX).await.unwrap(), 40_000);
    let (statements, forgotten) = recorder::recorded(subject.store.forget_answers(then, 10)).await;
    assert_eq!(forgotten.unwrap(), 0);
    let statements: Vec<_> =
        statements.iter().filter(|statement| !recorder::is_steering(statement)).collect();
    assert_eq!(statements.len(), 1, "without work there is more than one read: {statements:#?}");
}
