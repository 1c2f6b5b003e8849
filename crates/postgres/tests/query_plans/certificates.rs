//! Certificates, the work on them, and the budgets of orders.

use signpost_app::ports::{
    CertificateClaim, CertificateReads, CertificateWork, KeepOrder, ServedCertificate, Store,
    StoredChallenge, WorkPlan,
};
use signpost_domain::{BudgetDecision, Hostname, OrderKind, SealedSecret, Validity};
use signpost_port_contracts::samples;
use signpost_test_servers::postgres::PostgresDatabase;

use super::{Subject, own, recorder};

/// How many names of the installation have a row, beside the proven domains, and how many events are kept.
const ROWS: u32 = 20_000;

/// How many rows are claimed or read at once.
const AT_ONCE: u16 = 64;

/// A row for each proven domain and for many names of the installation, with instants around now and one certificate of 640 bytes.
/// A tenth was given up. A challenge for each tenth row, and events of a week.
pub(crate) fn fill(database: &PostgresDatabase) {
    let now = samples::at(0);
    let at = format!("timestamptz '{now}' + (hashtext(hostname) % {ROWS}) * interval '1 s'");
    let names = format!(
        "SELECT hostname, account_id FROM custom_domains WHERE status IN ('ssl_pending', 'active') UNION ALL \
         SELECT 'own-' || n || '.example.org', NULL FROM generate_series(1, {ROWS}) AS n"
    );
    database.run(&format!(
        "INSERT INTO certificates (hostname, account_id, authority, chain, sealed_key, not_before, not_after, issuer, \
         renew_at, next_attempt_at, claims) SELECT hostname, account_id, 'https://acme.example', \
         decode('00000280' || repeat(md5(hostname), 40), 'hex'), sha256(hostname::bytea), '{now}', '{now}', 'Example', {at}, {at}, \
         CASE WHEN hashtext(hostname) % 10 = 0 THEN 5 ELSE 0 END FROM ({names}) AS n; \
         INSERT INTO certificate_challenges SELECT hostname, hostname, 'answer', {at} FROM certificates \
         WHERE hashtext(hostname) % 10 = 0; \
         INSERT INTO order_events (at, kind, hostname, registered_domain) SELECT timestamptz '{now}' - n * interval '30 s', \
         (ARRAY['new', 'renewal', 'plain_renewal', 'failure'])[1 + n % 4], 'h' || n % 5000 || '.example.com', \
         'd' || n % 500 || '.com' FROM generate_series(1, {ROWS}) AS n"
    ));
    database.run("VACUUM ANALYZE certificates, certificate_challenges, order_events, custom_domains");
}

/// Each is one statement that finds its rows through an index.
pub(crate) async fn are_found_by_indexes(subject: &Subject) {
    missing_rows(subject).await;
    pages(subject).await;
    claims(subject).await;
    budgets(subject).await;
    old_rows(subject).await;
}

fn assert_indexed(plans: &str) {
    for table in ["certificates", "certificate_challenges", "order_events", "custom_domains"] {
        assert!(!plans.contains(&format!("Seq Scan on {table}")), "{plans}");
    }
}

/// If nothing is missing, one statement reads the index of proven domains beside that of the rows, and writes nothing.
async fn missing_rows(subject: &Subject) {
    let Subject { store, server, database, .. } = subject;
    let names = [samples::hostname("own-1.example.org"), samples::hostname("own-2.example.org")];
    let now = samples::at(0);
    // Other tests have changed domains.
    while store.want_certificates(&names, now, 500).await.unwrap() > 0 {}
    server.run(database, "VACUUM ANALYZE certificates, custom_domains");
    for _ in 0..8 {
        let plans = subject
            .plans(async {
                let wanting = store.want_certificates(&names, now, 500);
                let (statements, inserted) = recorder::recorded(wanting).await;
                assert_eq!((statements.len(), inserted.unwrap()), (1, 0), "{statements:#?}");
            })
            .await;
        assert_indexed(&plans);
        assert!(plans.contains("Index Only Scan using custom_domains_proven"), "{plans}");
        for wrong in ["Sort  (", "Insert on"] {
            assert!(!plans.contains(wrong), "{plans}");
        }
    }
    let another = [samples::hostname("another.example.org")];
    let plans = subject
        .plans(async {
            let (statements, inserted) =
                recorder::recorded(store.want_certificates(&another, now, 500)).await;
            assert_eq!((statements.len(), inserted.unwrap()), (2, 1), "{statements:#?}");
        })
        .await;
    assert_indexed(&plans);
}

async fn pages(subject: &Subject) {
    let Subject { store, .. } = subject;
    let middle = samples::hostname("own-5000.example.org");
    for after in [None, Some(&middle)] {
        for _ in 0..8 {
            let plans = subject
                .plans(async {
                    let (statements, page) = recorder::recorded(store.certificates(after, AT_ONCE)).await;
                    let (page, next) = page.unwrap();
                    assert_eq!((statements.len(), page.len()), (1, AT_ONCE.into()), "{statements:#?}");
                    assert!(next.is_some());
                    let (statements, _) = recorder::recorded(store.certificate(&middle)).await;
                    assert_eq!(statements.len(), 1, "{statements:#?}");
                    let (statements, _) = recorder::recorded(store.challenge("token", samples::at(0))).await;
                    assert_eq!(statements.len(), 1, "{statements:#?}");
                    let of_hostname = store.challenge_of(&middle, samples::at(0));
                    let (statements, _) = recorder::recorded(of_hostname).await;
                    assert_eq!(statements.len(), 1, "{statements:#?}");
                })
                .await;
            assert_indexed(&plans);
            assert!(plans.contains("using certificates_pkey on certificates"), "{plans}");
            assert!(!plans.contains("Sort"), "{plans}");
        }
    }
}

/// D186: one statement finds due work by its instants among any number of rows, and each step of the work finds its row.
async fn claims(subject: &Subject) {
    let Subject { store, .. } = subject;
    let (now, until) = (samples::at(0), samples::at(120_000));
    let mut hostnames = Vec::new();
    for _ in 0..8 {
        let plans = subject
            .plans(async {
                let claiming = store.claim_due_certificates(now, until, AT_ONCE);
                let (statements, claimed) = recorder::recorded(claiming).await;
                let claimed = claimed.unwrap();
                assert_eq!((statements.len(), claimed.len()), (1, AT_ONCE.into()), "{statements:#?}");
                hostnames.extend(claimed.into_iter().map(|row| row.hostname));
            })
            .await;
        assert_indexed(&plans);
        for index in ["certificates_due", "certificates_given_up"] {
            assert!(plans.contains(&format!("using {index} on certificates")), "{plans}");
        }
        assert!(!plans.contains("Bitmap"), "{plans}");
    }
    let long_ago = samples::at(-1_000_000_000);
    let (statements, claimed) =
        recorder::recorded(store.claim_due_certificates(long_ago, now, AT_ONCE)).await;
    assert_eq!((statements.len(), claimed.unwrap().len()), (1, 0), "{statements:#?}");
    for hostname in hostnames.drain(..8) {
        let plans = subject.plans(steps(subject, hostname)).await;
        assert_indexed(&plans);
    }
}

/// The steps of the work on a claimed certificate.
async fn steps(subject: &Subject, hostname: Hostname) {
    let Subject { store, .. } = subject;
    let (now, until) = (samples::at(0), samples::at(120_000));
    let claim = CertificateClaim { hostname, until };
    let challenge = StoredChallenge {
        token: format!("token of {}", claim.hostname),
        hostname: claim.hostname.clone(),
        key_authorization: "answer".to_owned(),
        expires_at: until,
    };
    let plan = WorkPlan { next_attempt_at: Some(now), ..WorkPlan::default() };
    let (statements, written) = recorder::recorded(async {
        store.write_order(&claim, None).await.unwrap()
            && store.write_challenge(&claim, &challenge).await.unwrap()
            && store.conclude_certificate(&claim, &plan, None, KeepOrder::Yes).await.unwrap()
            && store.hasten_certificate(&claim.hostname, until).await.unwrap()
            && !store.conclude_certificate(&claim, &plan, None, KeepOrder::No).await.unwrap()
    })
    .await;
    assert!(written);
    assert_eq!(statements.len(), 5, "{statements:#?}");
    let served = ServedCertificate {
        authority: "https://acme.example".to_owned(),
        chain: vec![vec![1]],
        key: SealedSecret(vec![2]),
        validity: Validity { not_before: now, not_after: until },
        issuer: "Example".to_owned(),
        renewal_id: None,
        renew_at: until,
    };
    let mut work = store.begin().await.unwrap();
    let (statements, written) = recorder::recorded(work.write_certificate(&claim, &served, &plan)).await;
    assert!(!written.unwrap(), "the claim has ended");
    assert_eq!(own(&statements), 1, "{statements:#?}");
    let (statements, deleted) = recorder::recorded(work.delete_certificate(&claim.hostname)).await;
    assert!(deleted.unwrap());
    assert_eq!(own(&statements), 1, "{statements:#?}");
    work.commit().await.unwrap();
}

/// D190: an order locks one row, and then counts through indexes only.
async fn budgets(subject: &Subject) {
    let Subject { store, .. } = subject;
    for number in 0..8 {
        let hostname = samples::hostname(&format!("h{number}.example.com"));
        let domain = format!("d{number}.com");
        for (kind, most) in [(OrderKind::New, 3), (OrderKind::Renewal { names_predecessor: false }, 3)] {
            let plans = subject
                .plans(async {
                    let spending = store.spend_on_order(&hostname, &domain, kind, samples::at(1));
                    let (statements, decision) = recorder::recorded(spending).await;
                    let written = usize::from(decision.unwrap() == BudgetDecision::Allowed);
                    assert_eq!(own(&statements), most - 1 + written, "{statements:#?}");
                })
                .await;
            assert_indexed(&plans);
            for index in ["order_events_of_kind", "order_events_of_domain", "order_events_of_hostname"] {
                assert!(plans.contains(&format!("{index} ")), "no {index} in {plans}");
            }
        }
        let noting = store.note_failed_order(&hostname, &domain, OrderKind::New, samples::at(1));
        let (statements, noted) = recorder::recorded(noting).await;
        noted.unwrap();
        assert_eq!(statements.len(), 1, "{statements:#?}");
    }
}

/// Two statements, whether anything is old or not.
async fn old_rows(subject: &Subject) {
    let Subject { store, .. } = subject;
    let later = samples::at(7 * 24 * 3_600_000);
    for now in [samples::at(-1_000_000_000), later, later, later, later, later, later, later] {
        let plans = subject
            .plans(async {
                let (statements, is_more) = recorder::recorded(store.forget_order_events(now, AT_ONCE)).await;
                assert_eq!((statements.len(), is_more.unwrap()), (2, now == later), "{statements:#?}");
            })
            .await;
        assert_indexed(&plans);
        for index in ["order_events_age", "certificate_challenges_age"] {
            assert!(plans.contains(&format!("using {index} on")), "{plans}");
        }
    }
}
