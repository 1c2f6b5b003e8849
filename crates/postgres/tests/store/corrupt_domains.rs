//! Corrupt rows of custom domains.

use signpost_app::ports::{
    CustomDomainReads, DomainChecks, DueCheck, LinkReads, MAX_CLAIMS_OF_A_CHECK, Store,
};
use signpost_domain::{Address, FailureReason, Site};
use signpost_port_contracts::logs::Log;
use signpost_port_contracts::samples;

use super::corrupt_rows::{lenient, report};
use super::database::{account, active_domain, insert, migrated, open};

const HOST: &str = "go.example.com";

#[tokio::test(flavor = "multi_thread")]
async fn corrupt_domain_is_reported_with_column_and_id() {
    let database = lenient().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let domain = active_domain(&store, account, HOST).await;
    let hostname = samples::hostname(HOST);
    for (column, status, rubbish, fine) in [
        ("status", "active", "'secret'", "'active'"),
        ("deadline", "active", "now()", "NULL"),
        ("deadline", "pending", "NULL", "now()"),
        ("deadline", "pending", "'infinity'", "now()"),
        ("deadline", "ssl_pending", "NULL", "now()"),
        ("deadline", "failed", "now()", "NULL"),
        ("misdirected_since", "active", "'-infinity'", "NULL"),
        ("misdirected_since", "pending", "now()", "NULL"),
        ("misdirected_since", "ssl_pending", "now()", "NULL"),
        ("misdirected_since", "failed", "now()", "NULL"),
        ("created_at", "active", "'1969-12-31'", "'2026-01-01'"),
        ("checked_at", "active", "'infinity'", "NULL"),
    ] {
        let deadline = if status.contains("pending") { "now()" } else { "NULL" };
        database.run(&format!("UPDATE custom_domains SET status = '{status}', deadline = {deadline}"));
        database.run(&format!("UPDATE custom_domains SET {column} = {rubbish}"));
        let one = report(store.custom_domain(account, domain.id).await);
        let place = format!("custom_domains.{column}");
        assert_eq!(
            (one.place.as_str(), one.row.clone()),
            (place.as_str(), domain.id.to_string()),
            "{status}"
        );
        assert!(!one.reason.contains("secret"), "{}", one.reason);
        assert_eq!(report(store.custom_domains_named(account, std::slice::from_ref(&hostname)).await), one);
        if status != "failed" {
            assert_eq!(report(store.holder_of(&hostname).await), one);
        }
        let mut work = store.begin().await.unwrap();
        assert_eq!(report(work.lock_custom_domain(account, domain.id).await), one);
        drop(work);
        let mut work = store.begin().await.unwrap();
        assert_eq!(report(work.lock_claims(account, &hostname).await), one);
        drop(work);
        let mut work = store.begin().await.unwrap();
        let held = work.hold_custom_domains(account, std::slice::from_ref(&hostname)).await;
        assert_eq!(report(held), one);
        drop(work);
        database.run(&format!("UPDATE custom_domains SET {column} = {fine}"));
        store.custom_domain(account, domain.id).await.unwrap().unwrap();
    }
    database.run("UPDATE custom_domains SET status = 'active', hostname = 'no host'");
    let one = report(store.custom_domain(account, domain.id).await);
    assert_eq!((one.place.as_str(), one.row), ("custom_domains.hostname", domain.id.to_string()));
    let mut work = store.begin().await.unwrap();
    assert!(work.delete_custom_domain(account, domain.id).await.unwrap());
    assert_eq!(work.changes(), []);
    work.commit().await.unwrap();
}

/// D65: rows of older versions, of newer ones, and damaged ones. An unreadable explanation must not hide its domain.
#[tokio::test(flavor = "multi_thread")]
async fn d65_unreadable_explanation_is_left_out_and_hides_no_domain() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let active = active_domain(&store, account, HOST).await;
    let read = async || store.custom_domain(account, active.id).await.unwrap().unwrap().domain;
    // A node of an older version has reactivated it and left the reason.
    database.run("UPDATE custom_domains SET failure_reason = 'deadline_passed', observed = 'rubbish'");
    assert_eq!(read().await, active);
    database.run("UPDATE custom_domains SET checked_at = '2026-01-01'");
    let observation = read().await.observation.unwrap();
    assert_eq!(
        (observation.checked_at.to_string().as_str(), observation.records),
        ("2026-01-01T00:00:00.000Z", vec![])
    );
    for (stored, shown) in [
        ("'points_elsewhere'", Some("points_elsewhere")),
        ("'of_tomorrow'", Some("of_tomorrow")),
        ("'\n'", None),
        ("NULL", None),
    ] {
        database.run(&format!("UPDATE custom_domains SET status = 'failed', failure_reason = {stored}"));
        assert_eq!(read().await.failure_reason.as_ref().map(FailureReason::as_str), shown);
    }
}

/// D41: a failed domain of another account does not matter.
#[tokio::test(flavor = "multi_thread")]
async fn d41_corrupt_failed_domain_blocks_no_account() {
    let database = lenient().await;
    let store = open(&database).await;
    let (spoilt, fine) = (account(&store).await, account(&store).await);
    active_domain(&store, spoilt, HOST).await;
    database.run("UPDATE custom_domains SET status = 'failed', created_at = 'infinity'");
    let domain = active_domain(&store, fine, HOST).await;
    let mut work = store.begin().await.unwrap();
    let claims = work.lock_claims(fine, &samples::hostname(HOST)).await.unwrap();
    assert_eq!((claims.own.map(|own| own.domain), claims.holder), (Some(domain), None));
}

/// D44: only the exact status serves links.
#[tokio::test(flavor = "multi_thread")]
async fn d44_domain_of_unknown_status_serves_no_link() {
    let database = lenient().await;
    let store = open(&database).await;
    let account = account(&store).await;
    active_domain(&store, account, HOST).await;
    insert(&store, account, samples::redirect_at(samples::on_custom(HOST, None))).await;
    let address = Address { site: Site::Custom(samples::hostname(HOST)), slug: None };
    assert!(store.published_link(&address).await.unwrap().is_some());
    database.run("UPDATE custom_domains SET status = 'Active'");
    assert_eq!(store.published_link(&address).await.unwrap(), None);
}

/// D42: corrupt domains block no check of another domain, even if no other is due, and finally rest. The log names each
/// problem.
#[tokio::test]
async fn d42_corrupt_domain_blocks_no_check_of_another() {
    for (column, rubbish) in [("status", "'secret'"), ("checks_made", "-1"), ("checks_made", "5000000000")] {
        let log = Log::begin();
        let database = lenient().await;
        let store = open(&database).await;
        let account = account(&store).await;
        let mut domains = Vec::new();
        for host in ["a.example.com", "b.example.com", "fine.example.com"] {
            domains.push(active_domain(&store, account, host).await);
        }
        database.run(&format!("UPDATE custom_domains SET {column} = {rubbish} WHERE hostname LIKE '_.%'"));
        let claimed = store.claim_due_checks(samples::at(0), samples::at(1), 9).await.unwrap();
        let fine = DueCheck { domain: domains.remove(2), checks_made: 0, claims: 1 };
        assert_eq!(claimed, [fine]);
        database.run("DELETE FROM custom_domains WHERE hostname = 'fine.example.com'");
        for claims in 1..i64::from(MAX_CLAIMS_OF_A_CHECK) {
            let claimed = store.claim_due_checks(samples::at(claims), samples::at(claims + 1), 9).await;
            assert_eq!(claimed.unwrap(), []);
            let count = database.query("SELECT DISTINCT claims FROM custom_domains");
            assert_eq!(count.trim(), (claims + 1).to_string());
        }
        let errors = log.lines("cannot check a custom domain: its row is corrupt");
        for domain in &domains {
            let (place, row) = (format!("custom_domains.{column}"), domain.id.to_string());
            let told = errors.iter().filter(|line| line.contains(&place) && line.contains(&row));
            assert_eq!(told.count(), usize::try_from(MAX_CLAIMS_OF_A_CHECK).unwrap(), "{errors:#?}");
        }
        assert!(errors.iter().all(|line| !line.contains("secret")), "{errors:#?}");
        assert_eq!(store.claim_due_checks(samples::at(99), samples::at(100), 9).await.unwrap(), []);
    }
}
