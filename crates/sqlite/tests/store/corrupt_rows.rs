//! A row that is not what it must be is reported with its table, column and key, and with nothing of its content.

use signpost_app::ports::{AccountReads, GroupReads, LinkReads, QuotaStore, Store, StoreError};
use signpost_domain::{Address, LinkFilter, PageLimit, Redirect, RequestBudget, Site};
use signpost_port_contracts::samples;
use signpost_sqlite::SqliteStore;

use super::database::{Database, account, group, insert};

#[derive(Debug, PartialEq)]
struct Report {
    place: String,
    row: String,
    reason: String,
}

fn report<T>(outcome: Result<T, StoreError>) -> Report {
    match outcome.map(drop) {
        Err(StoreError::Corrupt { table, column, row, reason }) => {
            Report { place: format!("{table}.{column}"), row, reason }
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_corrupt_link_names_its_column_and_its_id() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    let link = Redirect { group_id: Some(group(&store, account).await.id), ..samples::redirect("link") };
    insert(&store, account, &link).await;
    for (column, rubbish, fine) in [
        ("name", "''", "'link'"),
        ("target_url", "'javascript:secret()'", "'https://example.com/'"),
        ("target_url", "NULL", "'https://example.com/'"),
        ("slug", "'a b'", "'link'"),
        ("slug", "''", "'link'"),
        ("host", "'not a host'", "''"),
        ("note", "printf('%.300c', 'x')", "NULL"),
        ("group_id", "x'0011'", "NULL"),
        ("geo_blocklist", "'DE,QQ'", "''"),
        ("geo_blocklist", "'DE,,FR'", "'DE,FR'"),
        ("created_at", "-1", "0"),
        ("updated_at", "9223372036854775807", "0"),
    ] {
        database.spoil(&format!("UPDATE links SET {column} = {rubbish}"));
        let expected = (format!("links.{column}"), link.id.to_string());
        let one = report(store.redirect(account, link.id).await);
        assert_eq!((one.place.clone(), one.row.clone()), expected);
        assert!(!one.reason.is_empty() && !one.reason.contains("secret"), "{one:?}");
        let list = store.redirects(account, &LinkFilter::default(), PageLimit::default(), None).await;
        assert_eq!(report(list), one);
        let mut work = store.begin().await.unwrap();
        assert_eq!(report(work.lock_redirect(account, link.id).await), one);
        drop(work);
        database.spoil(&format!("UPDATE links SET {column} = {fine}"));
        store.redirect(account, link.id).await.unwrap();
    }
}

#[tokio::test]
async fn a_corrupt_target_is_reported_to_the_visitors_side_too() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    let link = samples::redirect("link");
    insert(&store, account, &link).await;
    database.spoil("UPDATE links SET target_url = 'x'");
    let address = Address { site: Site::System, slug: Some(samples::slug("link")) };
    let report = report(store.published_link(&address).await);
    assert_eq!((report.place.as_str(), report.row), ("links.target_url", link.id.to_string()));
}

async fn spoilt_account(store: &SqliteStore, database: &Database, sql: &str) -> (Report, String) {
    let account = account(store).await;
    database.spoil(sql);
    let id = account.to_string();
    let outcome = match store.account(account).await {
        Ok(_) => report(store.usage(account).await),
        error => report(error),
    };
    (outcome, id)
}

#[tokio::test]
async fn a_corrupt_account_names_its_column_and_its_id() {
    for (column, rubbish) in [
        ("email", "'nobody'"),
        ("name", "''"),
        ("plan", "'No Plan'"),
        ("suspended_at", "-5"),
        ("created_at", "-5"),
        ("links_count", "-5"),
        ("pixels_count", "-5"),
    ] {
        let database = Database::new();
        let store = database.open();
        let sql = format!("UPDATE accounts SET {column} = {rubbish}");
        let (report, id) = spoilt_account(&store, &database, &sql).await;
        assert_eq!((report.place, report.row), (format!("accounts.{column}"), id));
    }
}

#[tokio::test]
async fn a_corrupt_id_is_reported_in_hexadecimal() {
    let database = Database::new();
    let store = database.open();
    account(&store).await;
    database.spoil("UPDATE accounts SET id = x'00ff'");
    let report = report(store.accounts(PageLimit::default(), None).await);
    assert_eq!((report.place.as_str(), report.row.as_str()), ("accounts.id", "00ff"));
}

#[tokio::test]
async fn a_corrupt_key_names_its_column_and_never_its_hash() {
    for (column, rubbish) in
        [("name", "''"), ("hash", "x'c0ffee'"), ("created_at", "-1"), ("revoked_at", "-1")]
    {
        let database = Database::new();
        let store = database.open();
        let account = account(&store).await;
        let (key, _) = samples::key(account);
        let mut work = store.begin().await.unwrap();
        assert!(work.insert_key(&key).await.unwrap());
        work.commit().await.unwrap();
        database.spoil(&format!("UPDATE api_keys SET {column} = {rubbish}"));
        let report = report(store.keys(account).await);
        assert_eq!((report.place, report.row), (format!("api_keys.{column}"), key.id.to_string()));
        assert!(!report.reason.contains("c0ffee"), "{}", report.reason);
    }
}

#[tokio::test]
async fn a_corrupt_group_names_its_column_and_its_id() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    let group = group(&store, account).await;
    for (column, rubbish, fine) in [
        ("name", "''", "'A'"),
        ("redirects_count", "-1", "0"),
        ("landings_count", "-1", "0"),
        ("updated_at", "-1", "0"),
    ] {
        database.spoil(&format!("UPDATE groups SET {column} = {rubbish}"));
        let one = report(store.group(account, group.id).await);
        assert_eq!((one.place.clone(), one.row.clone()), (format!("groups.{column}"), group.id.to_string()));
        assert_eq!(report(store.groups(account, PageLimit::default(), None).await), one);
        database.spoil(&format!("UPDATE groups SET {column} = {fine}"));
    }
}

/// A corrupt count concerns one account; the others' requests, counted in the same moment, are not held up.
#[tokio::test]
async fn a_corrupt_count_of_requests_concerns_its_own_account() {
    let database = Database::new();
    let store = database.open();
    let budget = RequestBudget { per_minute: 5, per_day: 5 };
    let (spoilt, fine) = (samples::id(), samples::id());
    store.admit(spoilt, budget, samples::at(0)).await.unwrap();
    database.spoil("UPDATE request_counts SET admitted = 5000000000");
    let (one, other) =
        tokio::join!(store.admit(spoilt, budget, samples::at(0)), store.admit(fine, budget, samples::at(0)));
    let report = report(one);
    assert_eq!(report.place, "request_counts.admitted");
    assert!(report.row.contains(&spoilt.to_string()), "{report:?}");
    other.unwrap();
}
