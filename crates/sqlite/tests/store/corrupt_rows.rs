//! A corrupt row is reported with its table, column and key, and without its content.

use signpost_app::ports::{
    AccountReads, AnswerReads, GroupReads, InsertLinksError, LinkReads, PixelReads, QuotaStore,
    RememberedAnswer, RememberedRequest, RequestFingerprint, Store, StoreError,
};
use signpost_domain::{
    AccountId, Address, Group, IdempotencyKey, LinkFilter, LinkId, LinkKind, PageLimit, Redirect,
    RequestBudget, Site,
};
use signpost_port_contracts::logs::Log;
use signpost_port_contracts::samples;
use signpost_sqlite::SqliteStore;

use super::database::{Database, PLENTY, account, group, insert, pixel};

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

/// Every method that reads the link by its id reports the same.
async fn report_of_link(store: &SqliteStore, account: AccountId, id: LinkId) -> Report {
    let one = report(store.link(account, id).await);
    let mut work = store.begin().await.unwrap();
    assert_eq!(report(work.lock_link(account, id).await), one);
    one
}

#[tokio::test]
async fn corrupt_link_is_reported_with_column_and_id() {
    let of_both = [
        ("name", "''", "'link'"),
        ("slug", "'a b'", "'link'"),
        ("slug", "''", "'link'"),
        ("host", "'not a host'", "''"),
        ("note", "printf('%.20000c', 'x')", "NULL"),
        ("group_id", "x'0011'", "NULL"),
        ("created_at", "-1", "0"),
        ("updated_at", "9223372036854775807", "0"),
    ];
    let of_redirects = [
        ("target_url", "'javascript:secret()'", "'https://example.com/'"),
        ("target_url", "NULL", "'https://example.com/'"),
        ("geo_blocklist", "'DE,secret'", "''"),
        ("geo_blocklist", "'DE,,FR'", "'DE,FR'"),
        ("pixel_ids", "x'0011'", "x''"),
        ("pixel_ids", "randomblob(1001 * 16)", "randomblob(11 * 16)"),
    ];
    let of_landings = [
        ("target_url", "'https://secret.example/'", "NULL"),
        ("antibot_enabled", "1", "0"),
        ("geo_blocklist", "'DE'", "''"),
        ("pixel_ids", "randomblob(16)", "x''"),
    ];
    for (kind, own) in [(LinkKind::Redirect, &of_redirects[..]), (LinkKind::Landing, &of_landings[..])] {
        let database = Database::new();
        let store = database.open();
        let account = account(&store).await;
        let mut link = samples::link(kind, "link");
        link.move_to_group(Some(group(&store, account).await.id), samples::at(0));
        insert(&store, account, link.clone()).await;
        for (column, rubbish, fine) in of_both.iter().chain(own) {
            database.spoil(&format!("UPDATE links SET {column} = {rubbish}"));
            let one = report_of_link(&store, account, link.id()).await;
            assert_eq!((one.place, one.row), (format!("links.{column}"), link.id().to_string()));
            assert!(!one.reason.is_empty() && !one.reason.contains("secret"), "{}", one.reason);
            database.spoil(&format!("UPDATE links SET {column} = {fine}"));
            store.link(account, link.id()).await.unwrap();
        }
    }
}

/// Only readers of the content validate it, visitors included.
#[tokio::test]
async fn corrupt_page_content_is_reported_to_its_readers_only() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    let landing = samples::landing("page");
    insert(&store, account, landing.clone()).await;
    for rubbish in ["''", "'secret'", "'{\"secret\"'", "'[]'"] {
        database.spoil(&format!("UPDATE links SET page = {rubbish}"));
        let one = report(store.landing_page(account, landing.id).await);
        assert_eq!(
            (one.place.as_str(), one.row.clone()),
            ("links.page", landing.id.to_string()),
            "{rubbish}"
        );
        assert!(!one.reason.is_empty() && !one.reason.contains("secret"), "{}", one.reason);
        let mut work = store.begin().await.unwrap();
        let locked = work.lock_link(account, landing.id.into()).await.unwrap();
        assert_eq!(locked, Some(landing.clone().into()));
        assert_eq!(report(work.page_content(account, landing.id).await), one);
        drop(work);
        let link = Some(landing.clone().into());
        assert_eq!(store.link(account, landing.id.into()).await.unwrap(), link);
        let filter = LinkFilter::default();
        let list = store.links(account, LinkKind::Landing, &filter, PageLimit::default(), None).await;
        assert_eq!(list.unwrap().items.into_iter().next(), link);
        let address = Address { site: Site::System, slug: Some(samples::slug("page")) };
        assert_eq!(report(store.published_link(&address).await), one);
    }
    database.spoil("UPDATE links SET page = NULL, name = ''");
    assert_eq!(report(store.landing_page(account, landing.id).await).place, "links.name");
}

/// A row of the other kind, with its own kind's columns, is found by the other kind's id and is corrupt.
#[tokio::test]
async fn link_whose_kind_and_columns_disagree_is_corrupt() {
    for (kind, other) in [(LinkKind::Redirect, 0), (LinkKind::Landing, 1)] {
        let database = Database::new();
        let store = database.open();
        let account = account(&store).await;
        let link = samples::link(kind, "link");
        insert(&store, account, link.clone()).await;
        database.spoil(&format!("UPDATE links SET kind = {other}"));
        assert_eq!(store.link(account, link.id()).await.unwrap(), None);
        let other = [LinkKind::Landing, LinkKind::Redirect].into_iter().find(|other| *other != kind).unwrap();
        let id = LinkId::from_bytes(other, link.id().to_bytes());
        let one = report_of_link(&store, account, id).await;
        assert_eq!((one.place.as_str(), one.row), ("links.target_url", id.to_string()));
        let address = Address { site: Site::System, slug: Some(samples::slug("link")) };
        assert_eq!(report(store.published_link(&address).await).place, "links.target_url");
    }
}

/// Methods that read both kinds report an unknown kind, with the bytes of the row's id.
#[tokio::test]
async fn link_of_unknown_kind_is_corrupt_and_can_be_deleted() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    let link = samples::redirect("link");
    insert(&store, account, link.clone()).await;
    database.spoil("UPDATE links SET kind = 7");
    let address = Address { site: Site::System, slug: Some(samples::slug("link")) };
    let report = report(store.published_link(&address).await);
    assert_eq!(report.place, "links.kind");
    assert_eq!(Some(report.row.as_str()), link.id.to_string().strip_prefix("rdr_"));
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.delete_some_links(account, 10).await.unwrap(), 1);
    work.commit().await.unwrap();
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 0);
}

/// Rows that are assigned or unassigned are validated like any other, and the change is rolled back.
#[tokio::test]
async fn corrupt_link_is_not_regrouped() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    let [from, to] = [group(&store, account).await.id, group(&store, account).await.id];
    let link = Redirect { group_id: Some(from), ..samples::redirect("link") };
    insert(&store, account, link.clone()).await;
    database.spoil("UPDATE links SET target_url = 'x'");
    for into in [Some(to), None] {
        let mut work = store.begin().await.unwrap();
        let outcome = match into {
            Some(to) => work.assign_links(account, to, &[link.id.into()], samples::at(1)).await,
            None => work.unassign_links(account, from, &[link.id.into()], samples::at(1)).await,
        };
        assert_eq!(report(outcome).place, "links.target_url");
        assert!(work.commit().await.is_err());
    }
    let counts = [from, to].map(|group| store.group(account, group));
    let [from, to] = futures_util::future::join_all(counts).await.try_into().unwrap();
    let count = |group: Result<Option<Group>, StoreError>| group.unwrap().unwrap().redirects_count;
    assert_eq!((count(from), count(to)), (1, 0));
}

/// A negative count is not taken for room.
#[tokio::test]
async fn corrupt_link_count_stops_an_insertion() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    database.spoil("UPDATE accounts SET links_count = -5");
    let mut work = store.begin().await.unwrap();
    match work.insert_links(account, &[samples::redirect("link").into()], PLENTY).await {
        Err(InsertLinksError::Store(error)) => {
            assert_eq!(report::<()>(Err(error)).place, "accounts.links_count");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn corrupt_link_is_reported_to_look_ups_of_visitors() {
    for (link, column) in [
        (samples::redirect("link").into_any(), "target_url"),
        (samples::landing("link").into_any(), "name"),
        (samples::landing("link").into_any(), "target_url"),
    ] {
        let database = Database::new();
        let store = database.open();
        let account = account(&store).await;
        insert(&store, account, link.clone()).await;
        database.spoil(&format!("UPDATE links SET {column} = ''"));
        let address = Address { site: Site::System, slug: Some(samples::slug("link")) };
        let report = report(store.published_link(&address).await);
        assert_eq!((report.place, report.row), (format!("links.{column}"), link.id().to_string()));
    }
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
async fn corrupt_account_is_reported_with_column_and_id() {
    for (column, rubbish) in [
        ("email", "''"),
        ("name", "''"),
        ("plan", "''"),
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
async fn corrupt_id_is_reported_in_hexadecimal_and_skipped() {
    let (log, database) = (Log::begin(), Database::new());
    let store = database.open();
    account(&store).await;
    let fine = account(&store).await;
    database.spoil("UPDATE accounts SET id = x'ff00ff' WHERE id = (SELECT min(id) FROM accounts)");
    let limit = PageLimit::new(1).unwrap();
    let first = store.accounts(limit, None).await.unwrap();
    assert_eq!((first.items.len(), first.left_out), (0, 1));
    let second = store.accounts(limit, first.next).await.unwrap();
    assert_eq!((second.items[0].id, second.next), (fine, None));
    assert_eq!(log.count("accounts.id is corrupt in row ff00ff"), 1);
}

#[tokio::test]
async fn corrupt_key_is_reported_with_column_and_without_hash() {
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
        let log = Log::begin();
        assert_eq!(store.keys(account).await.unwrap(), []);
        let told = log.lines("a list leaves out a row that cannot be read");
        let [line] = told.as_slice() else { panic!("{told:?}") };
        assert!(line.contains(&format!("api_keys.{column}")) && line.contains(&key.id.to_string()), "{line}");
        assert!(!line.contains("c0ffee"), "{line}");
    }
}

#[tokio::test]
async fn corrupt_group_is_reported_with_column_and_id() {
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
        database.spoil(&format!("UPDATE groups SET {column} = {fine}"));
    }
}

#[tokio::test]
async fn corrupt_pixel_is_reported_with_column_and_id() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    let pixel = pixel(&store, account).await;
    for (column, rubbish, fine) in [
        ("type", "'secret'", "'meta'"),
        ("code", "'</script>secret'", "'123456789012345'"),
        ("name", "''", "NULL"),
        ("created_at", "-1", "0"),
    ] {
        database.spoil(&format!("UPDATE pixels SET {column} = {rubbish}"));
        let one = report(store.pixel(account, pixel.id).await);
        assert_eq!((one.place.clone(), one.row.clone()), (format!("pixels.{column}"), pixel.id.to_string()));
        assert!(!one.reason.is_empty() && !one.reason.contains("secret"), "{}", one.reason);
        assert_eq!(report(store.pixels_with_ids(account, &[pixel.id]).await), one);
        database.spoil(&format!("UPDATE pixels SET {column} = {fine}"));
        store.pixel(account, pixel.id).await.unwrap();
    }
}

/// D12: a corrupt answer is neither returned nor taken for a free key.
#[tokio::test]
async fn d12_corrupt_answer_is_reported_with_column_account_and_key() {
    let database = Database::new();
    let store = database.open();
    let (account, now) = (samples::id(), samples::at(0));
    let key = IdempotencyKey::parse("order-4711").unwrap();
    let answer = RememberedAnswer { status: 201, location: None, body: "secret".to_owned() };
    let request = RememberedRequest { fingerprint: RequestFingerprint::from_bytes([7; 32]), answer };
    let mut work = store.begin().await.unwrap();
    work.remember_answer(account, &key, &request, now).await.unwrap();
    work.commit().await.unwrap();
    for (column, rubbish, fine) in [
        ("fingerprint", "x'c0ffee'", "unhex(printf('%.64c', '0'))"),
        ("status", "-1", "201"),
        ("status", "65536", "201"),
    ] {
        database.spoil(&format!("UPDATE remembered_answers SET {column} = {rubbish}"));
        let one = report(store.remembered_request(account, &key, now).await);
        let row = format!("{account} order-4711");
        assert_eq!((one.place.clone(), one.row.clone()), (format!("remembered_answers.{column}"), row));
        assert!(!one.reason.is_empty() && !one.reason.contains("secret"), "{}", one.reason);
        let mut work = store.begin().await.unwrap();
        assert_eq!(report(work.claim_key(account, &key, now).await), one);
        drop(work);
        database.spoil(&format!("UPDATE remembered_answers SET {column} = {fine}"));
        assert!(store.remembered_request(account, &key, now).await.unwrap().is_some());
    }
}

/// A corrupt count affects one account; the others' requests in the same batch succeed.
#[tokio::test]
async fn corrupt_request_count_affects_only_its_account() {
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
