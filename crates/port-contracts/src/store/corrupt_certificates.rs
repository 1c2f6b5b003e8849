//! A corrupt row of a certificate is reported with its column and hostname (ADR 35), and neither hides nor blocks others.
//!
//! The runtime of a case that reads the log must have one thread.

use signpost_app::ports::{CertificateClaim, MAX_CLAIMS_OF_A_CERTIFICATE, Store, StoredCertificate};
use signpost_domain::{AccountId, CustomDomain, Hostname};

use super::certificate_steps::{due_at, hosts, served};
use super::corrupt_rows::{CorruptibleStore, each_is_reported, is_of, report, rubbish};
use super::domain_steps::{ACTIVE, NO_CHECKS};
use super::given::PLENTY;
use super::unreadable_rows::insert_account;
use crate::logs::Log;
use crate::samples;

const HOST: &str = "b.example.net";
const UNREADABLE: &str = "a certificate cannot be read";

/// A certificate in service for each hostname, whose work is due at 0.
async fn insert_certificates(store: &dyn Store, account: AccountId, hosts: &[&str]) {
    for host in hosts {
        let mut work = store.begin().await.unwrap();
        work.want_certificate(account, &samples::hostname(host), samples::at(0)).await.unwrap();
        work.commit().await.unwrap();
    }
    let [now, until] = [samples::at(0), samples::at(9)];
    for StoredCertificate { hostname, .. } in store.claim_due_certificates(now, until, 9).await.unwrap() {
        let mut work = store.begin().await.unwrap();
        let claim = CertificateClaim { hostname, until };
        assert!(work.write_certificate(&claim, &served(900), &due_at(0)).await.unwrap());
        work.commit().await.unwrap();
    }
}

/// Checks that each reader of the row reports the same, also a reader of its domain as far as that shows the column.
pub async fn d194_corrupt_certificate_is_reported_with_column_and_hostname(
    CorruptibleStore { store, run_sql, literals }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let domain = CustomDomain { status: ACTIVE, ..samples::custom_domain(account, HOST) };
    let mut work = store.begin().await.unwrap();
    work.insert_custom_domain(&domain, NO_CHECKS, PLENTY).await.unwrap();
    work.commit().await.unwrap();
    insert_certificates(store, account, &[HOST]).await;
    let mut columns = rubbish([
        ("claims", "-1", "0"),
        ("failures", "-1", "0"),
        ("failure_reason", "'No word'", "NULL"),
        ("validation_method", "'dns-01'", "'http-01'"),
    ]);
    columns.extend(rubbish([("failures", "5000000000", "0")]));
    let instants = ["not_before", "not_after", "renew_at", "next_attempt_at", "last_attempt_at"];
    columns.extend(literals.of_times(&instants));
    let read = async || {
        let one = report(store.certificate(&domain.hostname).await);
        assert_eq!(report(store.custom_domain(account, domain.id).await), one);
        let mut work = store.begin().await.unwrap();
        assert_eq!(report(work.lock_claims(account, &domain.hostname).await), one);
        one
    };
    each_is_reported(run_sql, "certificates", HOST, columns, read).await;
    // A domain does not show the chain.
    run_sql(&format!("UPDATE certificates SET chain = {}", literals.coffee));
    is_of(&report(store.certificate(&domain.hostname).await), "certificates.chain", &HOST);
    assert!(store.custom_domain(account, domain.id).await.unwrap().unwrap().certificate.is_some());
    let mut work = store.begin().await.unwrap();
    assert!(work.delete_certificate(&domain.hostname).await.unwrap(), "a corrupt row can be deleted");
}

/// Checks that a list goes on behind a row that it leaves out, and that the log names it without its content.
pub async fn d185_unreadable_certificate_is_left_out_but_counts(
    CorruptibleStore { store, run_sql, literals }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let all = ["a.example.net", HOST, "c.example.net"];
    insert_certificates(store, account, &all).await;
    run_sql(&format!("UPDATE certificates SET chain = {} WHERE hostname = '{HOST}'", literals.coffee));
    let log = Log::begin();
    let mut after: Option<Hostname> = None;
    for (number, expected) in [vec![all[0]], vec![], vec![all[2]]].into_iter().enumerate() {
        let (page, next) = store.certificates(after.as_ref(), 1).await.unwrap();
        assert_eq!(hosts(&page), expected);
        assert_eq!(next.as_ref().map(Hostname::as_str), all.get(number).copied().filter(|_| number < 2));
        after = next;
    }
    let (page, next) = store.certificates(None, 3).await.unwrap();
    assert_eq!((hosts(&page), next), (vec![all[0], all[2]], None));
    let logged = log.lines(UNREADABLE);
    assert_eq!(logged.len(), 2, "{logged:#?}");
    let is_named = |line: &String| line.contains("certificates.chain") && line.contains(HOST);
    assert!(logged.iter().all(|line| is_named(line) && !line.contains("c0ffee")), "{logged:#?}");
}

/// Checks that the work on a corrupt row blocks no other work, and finally rests.
pub async fn d186_unreadable_certificate_blocks_no_work_on_another(
    CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    insert_certificates(store, account, &["a.example.net", HOST, "c.example.net"]).await;
    run_sql(&format!("UPDATE certificates SET failures = -1 WHERE hostname <> '{HOST}'"));
    let log = Log::begin();
    for turn in 0..i64::from(MAX_CLAIMS_OF_A_CERTIFICATE) + 2 {
        let [now, until] = [samples::at(turn), samples::at(turn + 1)];
        let claimed = store.claim_due_certificates(now, until, 9).await.unwrap();
        let is_due = turn < i64::from(MAX_CLAIMS_OF_A_CERTIFICATE);
        assert_eq!(hosts(&claimed), [HOST][..usize::from(is_due)], "{turn}");
    }
    for host in ["a.example.net", "c.example.net"] {
        let logged = log.lines(UNREADABLE);
        let of_host =
            logged.iter().filter(|line| line.contains(host) && line.contains("certificates.failures"));
        assert_eq!(of_host.count(), usize::try_from(MAX_CLAIMS_OF_A_CERTIFICATE).unwrap(), "{logged:#?}");
    }
}
