//! Remembered answers.

use signpost_app::ports::{
    ANSWERS_KEPT, AnswerReads, RememberedAnswer, RememberedRequest, RequestFingerprint, Store,
};
use signpost_domain::IdempotencyKey;
use signpost_port_contracts::samples;
use signpost_test_servers::postgres::PostgresDatabase;

use super::{Subject, own, recorder};

/// How many answers exist before the test, over all accounts.
const ANSWERS: u32 = 40_000;

/// How many answers are deleted at once.
const AT_ONCE: u16 = 500;

/// Answers of all accounts in turn, half of them expired, in random order.
pub(crate) fn fill(database: &PostgresDatabase) {
    let now = samples::at(0);
    database.run(&format!(
        "INSERT INTO remembered_answers SELECT a.id, 'key-' || n, sha256(n::text::bytea), 201, NULL, '{{}}', \
         timestamptz '{now}' - (n % 2) * interval '30 hours' + (n * 7919 % {ANSWERS}) * interval '1 ms' \
         FROM generate_series(1, {ANSWERS}) AS n \
         JOIN (SELECT id, row_number() OVER (ORDER BY id) AS turn, count(*) OVER () AS turns FROM accounts) AS a \
         ON a.turn = (n / 2) % a.turns + 1; \
         ANALYZE remembered_answers"
    ));
}

fn request() -> RememberedRequest {
    let answer = RememberedAnswer { status: 201, location: None, body: "{}".to_owned() };
    RememberedRequest { fingerprint: RequestFingerprint::of("POST", "/", b""), answer }
}

/// A key is found, claimed and answered in one statement each. A used key is looked up in another one, and an expired one
/// taken over in a third. One statement finds the oldest answers by age among any number, and only reads if none has
/// expired.
pub(crate) async fn are_found_by_indexes(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let now = samples::at(0);
    // Repeated, because PostgreSQL may choose another plan from the sixth run on.
    for number in 0..8 {
        let key = IdempotencyKey::parse(&format!("new-{number}")).unwrap();
        let old = IdempotencyKey::parse(&format!("old-{number}")).unwrap();
        let plans = subject
            .plans(async {
                let mut work = store.begin().await.unwrap();
                let (statements, claimed) =
                    recorder::recorded(work.claim_key((*account).into(), &key, now)).await;
                assert_eq!(own(&statements), 1, "{statements:#?}");
                assert_eq!(claimed.unwrap(), None);
                let remembering = request();
                let remembering = work.remember_answer((*account).into(), &key, &remembering, now);
                let (statements, remembered) = recorder::recorded(remembering).await;
                remembered.unwrap();
                assert_eq!(statements.len(), 1, "{statements:#?}");
                work.commit().await.unwrap();

                let reading = store.remembered_request((*account).into(), &key, now);
                let (statements, found) = recorder::recorded(reading).await;
                assert_eq!(statements.len(), 1, "{statements:#?}");
                assert_eq!(found.unwrap(), Some(request()));

                let mut work = store.begin().await.unwrap();
                let long_ago = now.minus(ANSWERS_KEPT);
                assert_eq!(work.claim_key((*account).into(), &old, long_ago).await.unwrap(), None);
                work.remember_answer((*account).into(), &old, &request(), long_ago).await.unwrap();
                work.commit().await.unwrap();
                let mut work = store.begin().await.unwrap();
                let (statements, claimed) =
                    recorder::recorded(work.claim_key((*account).into(), &old, now)).await;
                assert_eq!(own(&statements), 3, "{statements:#?}");
                assert_eq!(claimed.unwrap(), None);
                work.remember_answer((*account).into(), &old, &request(), now).await.unwrap();
                work.commit().await.unwrap();

                let mut work = store.begin().await.unwrap();
                let (statements, found) =
                    recorder::recorded(work.claim_key((*account).into(), &key, now)).await;
                assert_eq!(own(&statements), 2, "{statements:#?}");
                assert_eq!(found.unwrap(), Some(request()));
                // Rolled back explicitly: a rollback in the background would run beside the next recorded statements.
                work.commit().await.unwrap();
            })
            .await;
        assert!(!plans.contains("Seq Scan"), "{plans}");
        let plans = subject
            .plans(async {
                let (statements, forgotten) = recorder::recorded(store.forget_answers(now, AT_ONCE)).await;
                assert_eq!(statements.len(), 1, "{statements:#?}");
                assert_eq!(forgotten.unwrap(), AT_ONCE);
            })
            .await;
        for index in ["remembered_answers_age", "remembered_answers_pkey"] {
            assert!(plans.contains(&format!("using {index} on remembered_answers")), "{plans}");
        }
        for wrong in ["Seq Scan", "Sort", "Bitmap"] {
            assert!(!plans.contains(wrong), "{plans}");
        }
    }
    let long_ago = samples::at(0).minus(ANSWERS_KEPT * 3);
    let (statements, forgotten) = recorder::recorded(store.forget_answers(long_ago, AT_ONCE)).await;
    assert_eq!(statements.len(), 1, "{statements:#?}");
    assert_eq!(forgotten.unwrap(), 0);
}
