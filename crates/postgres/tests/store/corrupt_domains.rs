//! A custom domain that is not what it must be.

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
async fn a_corrupt_domain_names_its_column_and_its_id() {
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

/// Contract D65: rows of versions before, of newer ones, and damaged ones. What explains a domain must not hide it.
#[tokio::test(flavor = "multi_thread")]
async fn d65_what_cannot_be_read_explains_nothing_and_hides_nothing() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let active = active_domain(&store, account, HOST).await;
    let read = async || store.custom_domain(account, active.id).await.unwrap().unwrap().domain;
    // A node of an older version has brought it back, and left the reason.
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

/// Contract D41: what another account has failed with is nobody else's affair.
#[tokio::test(flavor = "multi_thread")]
async fn d41_a_corrupt_domain_that_has_failed_is_in_nobodys_way() {
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

/// Contract D44: only the exact word serves links.
#[tokio::test(flavor = "multi_thread")]
async fn d44_a_domain_of_no_known_status_serves_nothing() {
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

/// Contract D42: domains that cannot be read keep no other from being checked, also where no other is due, and are left alone at
/// last. What is wrong with each is said in the log.
#[tokio::test]
async fn d42_a_corrupt_domain_keeps_no_other_from_being_checked() {
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
        let errors = log.lines("a custom domain cannot be checked");
        for domain in &domains {
            let (place, row) = (format!("custom_domains.{column}"), domain.id.to_string());
            let told = errors.iter().filter(|line| line.contains(&place) && line.contains(&row));
            assert_eq!(told.count(), usize::try_from(MAX_CLAIMS_OF_A_CHECK).unwrap(), "{errors:#?}");
        }
        assert!(errors.iter().all(|line| !line.contains("secret")), "{errors:#?}");
        assert_eq!(store.claim_due_checks(samples::at(99), samples::at(100), 9).await.unwrap(), []);
    }
}
