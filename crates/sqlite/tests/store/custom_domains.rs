//! Custom domains: corrupt rows, and what waits for the writer.

use std::time::Duration;

use signpost_app::ports::{
    Affected, ChangeLog, CustomDomainReads, DomainChecks, LinksOf, ReadChanges, Store,
};
use signpost_domain::{AccountId, PageLimit};
use signpost_port_contracts::logs::Log;
use signpost_port_contracts::samples;
use signpost_port_contracts::store::corrupt_rows::report;

use super::database::{Database, account, domain, insert};

#[tokio::test]
async fn corrupt_id_of_a_domain_or_its_account_is_reported() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    let domain = domain(&store, account, "go.example.net").await;
    database.run_sql("UPDATE custom_domains SET account_id = x'0011'");
    let one = report(store.holder_of(&domain.hostname).await);
    assert_eq!(
        (one.place.as_str(), one.row.as_str()),
        ("custom_domains.account_id", &*domain.id.to_string())
    );
    let mut work = store.begin().await.unwrap();
    assert_eq!(report(work.lock_claims(samples::id(), &domain.hostname).await), one);
    drop(work);
    database.run_sql("UPDATE custom_domains SET account_id = (SELECT id FROM accounts), id = x'00ff'");
    let log = Log::begin();
    assert_eq!(store.custom_domains(account, PageLimit::default(), None).await.unwrap().items, []);
    assert_eq!(log.count("custom_domains.id is corrupt in row 00ff"), 1);
}

/// There is one writer. The job that looks for work every two seconds must not wait for it.
#[tokio::test]
async fn looking_for_due_checks_does_not_wait_for_the_writer() {
    let database = Database::new();
    let store = database.open();
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
    database.run_sql("UPDATE links SET target_url = 'rubbish' WHERE slug = 'a'");
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
    database.run_sql("INSERT INTO changes (account_id) SELECT id FROM accounts");
    let ReadChanges::These { changes, .. } = store.changes_since(start, 10).await.unwrap() else {
        panic!("three changes");
    };
    let affected: Vec<_> = changes.into_iter().map(|change| change.change.affected).collect();
    assert!(matches!(affected.as_slice(), [Affected::Addresses(_), Affected::Domain(_), Affected::Account]));
    for (rubbish, fine) in
        [("addresses = '/a'", "addresses = NULL"), ("hostname = 'a b'", "hostname = 'a.b'")]
    {
        database.run_sql(&format!("UPDATE changes SET {rubbish} WHERE hostname IS NOT NULL"));
        assert_eq!(report(store.changes_since(start, 10).await).place, "changes.hostname");
        database.run_sql(&format!("UPDATE changes SET {fine} WHERE hostname IS NOT NULL"));
    }
}
