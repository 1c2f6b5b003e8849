//! Custom domains: corrupt rows, and what waits for the writer.

use std::time::Duration;

use signpost_app::ports::{
    Affected, ChangeLog, ConcludedCheck, CustomDomainReads, DomainChecks, DueCheck, LinksOf, ReadChanges,
    Store, StoreError,
};
use signpost_domain::{AccountId, CheckPlan, CustomDomain, FailureReason, PageLimit};
use signpost_port_contracts::logs::Log;
use signpost_port_contracts::samples;
use signpost_sqlite::SqliteStore;

use super::database::{Database, account, domain, insert};

/// Table and column, row, and reason.
type Report = (String, String, String);

fn report<T>(outcome: Result<T, StoreError>) -> Report {
    match outcome.map(drop) {
        Err(StoreError::Corrupt { table, column, row, reason }) => (format!("{table}.{column}"), row, reason),
        other => panic!("{other:?}"),
    }
}

/// Every method that reads the domain without its hostname reports the same.
async fn report_by_id(store: &SqliteStore, domain: &CustomDomain) -> Report {
    let CustomDomain { id, account_id: account, .. } = *domain;
    let one = report(store.custom_domain(account, id).await);
    let mut work = store.begin().await.unwrap();
    assert_eq!(report(work.lock_custom_domain(account, id).await), one);
    one
}

/// Every method that reads the domain by account and hostname reports the same.
async fn report_by_name(store: &SqliteStore, domain: &CustomDomain) -> Report {
    let (account, names) = (domain.account_id, std::slice::from_ref(&domain.hostname));
    let one = report(store.custom_domains_named(account, names).await);
    let mut work = store.begin().await.unwrap();
    assert_eq!(report(work.hold_custom_domains(account, names).await), one);
    drop(work);
    let mut work = store.begin().await.unwrap();
    assert_eq!(report(work.lock_claims(account, &domain.hostname).await), one);
    one
}

/// Every method that reads the domain by hostname alone reports the same.
async fn report_by_hostname(store: &SqliteStore, domain: &CustomDomain) -> Report {
    let one = report(store.holder_of(&domain.hostname).await);
    let mut work = store.begin().await.unwrap();
    assert_eq!(report(work.lock_claims(samples::id(), &domain.hostname).await), one);
    one
}

#[tokio::test]
async fn corrupt_domain_is_reported_with_column_and_id() {
    const PENDING: &str = "status = 'pending', deadline = 5, misdirected_since = NULL";
    const PROVEN: &str = "status = 'ssl_pending', deadline = 5, misdirected_since = NULL";
    const ACTIVE: &str = "status = 'active', deadline = NULL, misdirected_since = NULL";
    const FAILED: &str = "status = 'failed', deadline = NULL, misdirected_since = NULL";
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    let domain = domain(&store, account, "go.example.net").await;
    for (fine, column, rubbish) in [
        (PENDING, "status", "'secret'"),
        (PENDING, "deadline", "NULL"),
        (PENDING, "deadline", "-1"),
        (PENDING, "misdirected_since", "5"),
        (PENDING, "created_at", "-1"),
        (PROVEN, "deadline", "NULL"),
        (PROVEN, "deadline", "9223372036854775807"),
        (PROVEN, "misdirected_since", "5"),
        (ACTIVE, "deadline", "5"),
        (ACTIVE, "misdirected_since", "-1"),
        (FAILED, "deadline", "5"),
        (FAILED, "misdirected_since", "5"),
        (ACTIVE, "checked_at", "-1"),
    ] {
        database.spoil(&format!("UPDATE custom_domains SET created_at = 0, {fine}"));
        store.custom_domain(account, domain.id).await.unwrap().unwrap();
        database.spoil(&format!("UPDATE custom_domains SET {column} = {rubbish}"));
        let one = report_by_id(&store, &domain).await;
        let (place, row, reason) = &one;
        assert_eq!((place.clone(), row.clone()), (format!("custom_domains.{column}"), domain.id.to_string()));
        assert!(!reason.is_empty() && !reason.contains("secret"), "{reason}");
        assert_eq!(report_by_name(&store, &domain).await, one);
        if fine != FAILED {
            assert_eq!(report_by_hostname(&store, &domain).await, one);
        }
    }
    let fine = format!("created_at = 0, checked_at = NULL, {ACTIVE}");
    database.spoil(&format!("UPDATE custom_domains SET {fine}, account_id = x'0011'"));
    let (place, row, _) = report_by_hostname(&store, &domain).await;
    assert_eq!((place.as_str(), row), ("custom_domains.account_id", domain.id.to_string()));
    database
        .spoil("UPDATE custom_domains SET account_id = (SELECT id FROM accounts), hostname = 'no secret'");
    let (place, row, reason) = report_by_id(&store, &domain).await;
    assert_eq!((place.as_str(), row), ("custom_domains.hostname", domain.id.to_string()));
    assert!(!reason.contains("secret"), "{reason}");
    database.spoil("UPDATE custom_domains SET id = x'00ff'");
    let log = Log::begin();
    assert_eq!(store.custom_domains(account, PageLimit::default(), None).await.unwrap().items, []);
    assert_eq!(log.count("custom_domains.id is corrupt in row 00ff"), 1);
}

/// D65: rows of older versions, of newer ones, and damaged ones. An unreadable explanation must not hide its domain.
#[tokio::test]
async fn d65_unreadable_explanation_is_left_out_and_hides_no_domain() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    let pending = domain(&store, account, "go.example.net").await;
    let read = async || store.custom_domain(account, pending.id).await.unwrap().unwrap().domain;
    database.spoil("UPDATE custom_domains SET failure_reason = 'deadline_passed', observed = 'rubbish'");
    assert_eq!(read().await, pending);
    database.spoil("UPDATE custom_domains SET checked_at = 5");
    let observation = read().await.observation.unwrap();
    assert_eq!((observation.checked_at.unix_millis(), observation.records), (5, vec![]));
    for (stored, shown) in [
        ("'points_elsewhere'", Some("points_elsewhere")),
        ("'of_tomorrow'", Some("of_tomorrow")),
        ("'\n'", None),
        ("NULL", None),
    ] {
        database.spoil(&format!(
            "UPDATE custom_domains SET status = 'failed', deadline = NULL, failure_reason = {stored}"
        ));
        assert_eq!(read().await.failure_reason.as_ref().map(FailureReason::as_str), shown);
    }
}

/// A domain with a corrupt hostname can still be deleted.
#[tokio::test]
async fn domain_with_a_corrupt_hostname_can_be_deleted() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    let domain = domain(&store, account, "go.example.net").await;
    database.spoil("UPDATE custom_domains SET hostname = 'no host'");
    let mut work = store.begin().await.unwrap();
    assert!(work.delete_custom_domain(account, domain.id).await.unwrap());
    assert_eq!(work.changes(), []);
    work.commit().await.unwrap();
    assert_eq!(store.custom_domain(account, domain.id).await.unwrap(), None);
}

/// A corrupt domain affects only its own account: the others are checked, and it soon rests. The log names the problem.
#[tokio::test]
async fn corrupt_domain_blocks_no_check_of_another() {
    for rubbish in ["status = 'secret'", "checks_made = -1", "checks_made = 4294967296"] {
        let log = Log::begin();
        let database = Database::new();
        let store = database.open();
        let account = account(&store).await;
        let corrupt = domain(&store, account, "corrupt.example.net").await;
        let fine = domain(&store, account, "fine.example.net").await;
        database.spoil(&format!("UPDATE custom_domains SET {rubbish} WHERE hostname LIKE 'corrupt%'"));
        for turn in 0..7 {
            let (now, until) = (samples::at(turn), samples::at(turn + 1));
            let claimed = store.claim_due_checks(now, until, 10).await.unwrap();
            assert_eq!(claimed, [DueCheck { domain: fine.clone(), checks_made: 0, claims: 1 }], "{rubbish}");
            let next = CheckPlan { next_check_at: Some(until), checks_made: 0 };
            store
                .plan_checks(until, &[ConcludedCheck { id: fine.id, plan: next, observation: None }])
                .await
                .unwrap();
        }
        let claims = "SELECT max(claims) AS number FROM custom_domains";
        assert_eq!(database.number(claims), 5);
        let errors = log.lines("cannot check a custom domain: its row is corrupt");
        let row = corrupt.id.to_string();
        assert_eq!(errors.iter().filter(|line| line.contains(&row)).count(), 5, "{errors:#?}");
        assert!(errors.iter().all(|line| !line.contains("secret")), "{errors:#?}");
    }
}

/// There is one writer. The job that looks for work every two seconds must not wait for it.
#[tokio::test]
async fn looking_for_due_checks_does_not_wait_for_the_writer() {
    let database = Database::new();
    let store = database.open_with_time_limit(Duration::from_secs(20));
    let account = account(&store).await;
    let domain = domain(&store, account, "go.example.net").await;
    let work = store.begin().await.unwrap();
    let before = samples::at(0).minus(Duration::from_millis(1));
    assert_eq!(store.claim_due_checks(before, samples::at(9), 10).await.unwrap(), []);
    let almost = domain.status.deadline().unwrap().minus(Duration::from_millis(1));
    assert_eq!(store.expire_domains(almost, 10).await.unwrap(), 0);
    assert_eq!(store.release_checks(almost, 10).await.unwrap(), 0);
    drop(work);
}

/// D43: a link with a corrupt row loses its address too, and keeps its slug (D22).
#[tokio::test]
async fn d43_corrupt_link_loses_its_address_like_any_other() {
    let database = Database::new();
    let store = database.open();
    let [mine, other]: [AccountId; 2] = [account(&store).await, account(&store).await];
    for (account, slug) in [(mine, "a"), (other, "b"), (mine, "c")] {
        insert(&store, account, samples::redirect_at(samples::on_custom("go.example.net", Some(slug)))).await;
    }
    database.spoil("UPDATE links SET target_url = 'rubbish' WHERE slug = 'a'");
    let hostname = samples::hostname("go.example.net");
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.lose_some_links(LinksOf::Account(mine), &hostname, 9, samples::at(7)).await.unwrap(), 2);
    work.commit().await.unwrap();
    let lost =
        "SELECT count(*) AS number FROM links WHERE host IS NULL AND slug IN ('a', 'c') AND updated_at";
    let lost = format!("{lost} = {}", samples::at(7).unix_millis());
    assert_eq!(database.number(&lost), 2);
    let rest = "SELECT count(*) AS number FROM links WHERE host = 'go.example.net' AND slug = 'b'";
    assert_eq!(database.number(rest), 1);
}

/// An ambiguous row of the change log is corrupt; a row of an older program is understood (D58).
#[tokio::test]
async fn d58_changes_of_domains_are_distinguished() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    let start = store.end_of_changes().await.unwrap();
    insert(&store, account, samples::redirect_at(samples::on_custom("go.example.net", Some("a")))).await;
    let hostname = samples::hostname("go.example.net");
    let mut work = store.begin().await.unwrap();
    work.lose_some_links(LinksOf::Account(account), &hostname, 9, samples::at(7)).await.unwrap();
    work.commit().await.unwrap();
    database.spoil("INSERT INTO changes (account_id) SELECT id FROM accounts");
    let ReadChanges::These { changes, .. } = store.changes_since(start, 10).await.unwrap() else {
        panic!("three changes");
    };
    let affected: Vec<_> = changes.into_iter().map(|change| change.change.affected).collect();
    assert!(matches!(affected.as_slice(), [Affected::Addresses(_), Affected::Domain(_), Affected::Account]));
    for (rubbish, fine) in
        [("addresses = '/a'", "addresses = NULL"), ("hostname = 'a b'", "hostname = 'a.b'")]
    {
        database.spoil(&format!("UPDATE changes SET {rubbish} WHERE hostname IS NOT NULL"));
        assert_eq!(report(store.changes_since(start, 10).await).0, "changes.hostname");
        database.spoil(&format!("UPDATE changes SET {fine} WHERE hostname IS NOT NULL"));
    }
}
