//! A corrupt row is reported with its table, column and key, and without its content.

use signpost_app::ports::{
    ANSWERS_KEPT, AccountReads, AnswerReads, GroupReads, InsertLinksError, LinkReads, PixelReads, QuotaStore,
    Store, StoreError,
};
use signpost_domain::{AccountId, Address, LinkFilter, LinkId, LinkKind, PageLimit, RequestBudget, Site};
use signpost_port_contracts::logs::Log;
use signpost_port_contracts::samples;
use signpost_postgres::PostgresStore;
use signpost_test_servers::postgres::PostgresDatabase;

use super::database::{PLENTY, account, group, insert, migrated, open, pixel};
use super::remembered_answers;

/// A database whose tables have no constraints.
pub(crate) async fn lenient() -> PostgresDatabase {
    let database = migrated().await;
    database.run(
        "DO $$ DECLARE c record; BEGIN FOR c IN SELECT conrelid::regclass AS of_table, conname FROM pg_constraint \
         WHERE contype = 'c' AND connamespace = 'public'::regnamespace \
         LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.of_table, c.conname); END LOOP; END $$",
    );
    database
}

#[derive(Debug, PartialEq)]
pub(crate) struct Report {
    pub(crate) place: String,
    pub(crate) row: String,
    pub(crate) reason: String,
}

pub(crate) fn report<T>(outcome: Result<T, StoreError>) -> Report {
    match outcome.map(drop) {
        Err(StoreError::Corrupt { table, column, row, reason }) => {
            Report { place: format!("{table}.{column}"), row, reason }
        }
        other => panic!("{other:?}"),
    }
}

/// Every method that reads the link by its id reports the same.
async fn report_of_link(store: &PostgresStore, account: AccountId, id: LinkId) -> Report {
    let one = report(store.link(account, id).await);
    let mut work = store.begin().await.unwrap();
    assert_eq!(report(work.lock_link(account, id).await), one);
    one
}

#[tokio::test(flavor = "multi_thread")]
async fn corrupt_link_is_reported_with_column_and_id() {
    let of_both = [
        ("name", "''", "'link'"),
        ("slug", "'a b'", "'link'"),
        ("slug", "''", "'link'"),
        ("host", "'not a host'", "''"),
        ("note", "repeat('x', 20000)", "NULL"),
        ("created_at", "'1969-12-31T23:59:59Z'", "'2026-01-01T00:00:00Z'"),
        ("updated_at", "'infinity'", "'2026-01-01T00:00:00Z'"),
    ];
    let of_redirects = [
        ("target_url", "'javascript:secret()'", "'https://example.com/'"),
        ("target_url", "NULL", "'https://example.com/'"),
        ("geo_blocklist", "'DE,secret'", "''"),
        ("geo_blocklist", "'DE,,FR'", "'DE,FR'"),
        ("pixel_ids", "ARRAY(SELECT gen_random_uuid() FROM generate_series(1, 1001))", "'{}'"),
    ];
    let of_landings = [
        ("target_url", "'https://secret.example/'", "NULL"),
        ("antibot_enabled", "true", "false"),
        ("geo_blocklist", "'DE'", "''"),
        ("pixel_ids", "ARRAY[gen_random_uuid()]", "'{}'"),
    ];
    for (kind, own) in [(LinkKind::Redirect, &of_redirects[..]), (LinkKind::Landing, &of_landings[..])] {
        let database = lenient().await;
        let store = open(&database).await;
        let account = account(&store).await;
        let link = samples::link(kind, "link");
        insert(&store, account, link.clone()).await;
        for (column, rubbish, fine) in of_both.iter().chain(own) {
            database.run(&format!("UPDATE links SET {column} = {rubbish}"));
            let one = report_of_link(&store, account, link.id()).await;
            assert_eq!((one.place, one.row), (format!("links.{column}"), link.id().to_string()));
            assert!(!one.reason.is_empty() && !one.reason.contains("secret"), "{}", one.reason);
            database.run(&format!("UPDATE links SET {column} = {fine}"));
            store.link(account, link.id()).await.unwrap();
        }
    }
}

/// Only readers of the content validate it. A page with corrupt content can be found, listed, changed and deleted.
#[tokio::test(flavor = "multi_thread")]
async fn corrupt_page_content_is_reported_with_column_and_id() {
    let database = lenient().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let landing = samples::landing("link");
    insert(&store, account, landing.clone()).await;
    let id = LinkId::Landing(landing.id);
    for rubbish in ["secret", "[]", r#"{"widgets":"secret"}"#] {
        database.run(&format!("UPDATE links SET page = '{rubbish}'"));
        let one = report(store.landing_page(account, landing.id).await);
        assert_eq!((one.place.as_str(), one.row.as_str()), ("links.page", landing.id.to_string().as_str()));
        assert!(!one.reason.is_empty() && !one.reason.contains("secret"), "{}", one.reason);
        let mut work = store.begin().await.unwrap();
        let link = work.lock_link(account, id).await.unwrap().unwrap();
        work.update_link(account, &link, &link).await.unwrap();
        assert_eq!(report(work.page_content(account, landing.id).await), one);
    }
    store.link(account, id).await.unwrap().unwrap();
    let list = store.links(account, id.kind(), &LinkFilter::default(), PageLimit::default(), None).await;
    assert_eq!(list.unwrap().items.len(), 1);
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.delete_links(account, &[id]).await.unwrap(), [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn corrupt_pixel_is_reported_with_column_and_id() {
    let database = lenient().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let pixel = pixel();
    let mut work = store.begin().await.unwrap();
    work.insert_pixel(account, &pixel, PLENTY).await.unwrap();
    work.commit().await.unwrap();
    for (column, rubbish, fine) in [
        ("type", "'secret'", "'meta'"),
        ("code", "'</script>secret'", "'1234567890'"),
        ("name", "''", "NULL"),
        ("created_at", "'infinity'", "'2026-01-01'"),
    ] {
        database.run(&format!("UPDATE pixels SET {column} = {rubbish}"));
        let one = report(store.pixel(account, pixel.id).await);
        assert_eq!((one.place.clone(), one.row.clone()), (format!("pixels.{column}"), pixel.id.to_string()));
        assert!(!one.reason.contains("secret"), "{}", one.reason);
        assert_eq!(report(store.pixels_with_ids(account, &[pixel.id]).await), one);
        database.run(&format!("UPDATE pixels SET {column} = {fine}"));
    }
    store.pixel(account, pixel.id).await.unwrap().unwrap();
    let mut work = store.begin().await.unwrap();
    assert!(work.delete_pixel(account, pixel.id).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn corrupt_answer_is_reported_with_column_account_and_key() {
    let database = lenient().await;
    let store = open(&database).await;
    let (account, key, now) = (samples::id(), remembered_answers::key("order-1"), samples::at(0));
    let request = remembered_answers::request("secret");
    remembered_answers::remember(&store, account, &key, &request, now).await;
    for (column, rubbish, fine) in [
        ("status", "0", "201"),
        ("status", "1000", "201"),
        ("status", "-1", "201"),
        ("fingerprint", r"'\xc0ffee'", "sha256('')"),
    ] {
        database.run(&format!("UPDATE remembered_answers SET {column} = {rubbish}"));
        let one = report(store.remembered_request(account, &key, now).await);
        assert_eq!(one.place, format!("remembered_answers.{column}"));
        assert_eq!(one.row, format!("{account} order-1"));
        assert!(!one.reason.contains("secret") && !one.reason.contains("c0ffee"), "{}", one.reason);
        let mut work = store.begin().await.unwrap();
        assert_eq!(report(work.claim_key(account, &key, now).await), one);
        // It has locked the row.
        drop(work);
        database.run(&format!("UPDATE remembered_answers SET {column} = {fine}"));
    }
    store.remembered_request(account, &key, now).await.unwrap().unwrap();
    assert_eq!(store.forget_answers(now.plus(ANSWERS_KEPT), 1).await.unwrap(), 1);
}

/// Methods that read both kinds report an unknown kind, with the bare id of the row.
#[tokio::test(flavor = "multi_thread")]
async fn link_of_unknown_kind_is_corrupt_and_can_be_deleted() {
    let database = lenient().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let link = samples::redirect("link");
    insert(&store, account, link.clone()).await;
    database.run("UPDATE links SET kind = 7");
    let address = Address { site: Site::System, slug: Some(samples::slug("link")) };
    let report = report(store.published_link(&address).await);
    assert_eq!(report.place, "links.kind");
    assert_eq!(Some(report.row.as_str()), link.id.to_string().strip_prefix("rdr_"));
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.delete_some_links(account, 10).await.unwrap(), 1);
    work.commit().await.unwrap();
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 0);
}

/// A regrouped row is validated like any other, and the change is rolled back.
#[tokio::test(flavor = "multi_thread")]
async fn corrupt_link_is_not_regrouped() {
    let database = lenient().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let [from, to] = [group(&store, account).await.id, group(&store, account).await.id];
    let mut link = samples::link(LinkKind::Redirect, "link");
    link.move_to_group(Some(from), samples::at(0));
    insert(&store, account, link.clone()).await;
    database.run("UPDATE links SET target_url = 'x'");
    for into in [Some(to), None] {
        let mut work = store.begin().await.unwrap();
        let outcome = match into {
            Some(to) => work.assign_links(account, to, &[link.id()], samples::at(1)).await,
            None => work.unassign_links(account, from, &[link.id()], samples::at(1)).await,
        };
        assert_eq!(report(outcome).place, "links.target_url");
        assert!(work.commit().await.is_err());
    }
    for (id, count) in [(from, 1), (to, 0)] {
        assert_eq!(store.group(account, id).await.unwrap().unwrap().redirects_count, count);
    }
}

/// A negative count is not taken for room.
#[tokio::test(flavor = "multi_thread")]
async fn corrupt_link_count_stops_an_insertion() {
    let database = lenient().await;
    let store = open(&database).await;
    let account = account(&store).await;
    database.run("UPDATE accounts SET links_count = -5");
    let mut work = store.begin().await.unwrap();
    match work.insert_links(account, &[samples::redirect("link").into()], PLENTY).await {
        Err(InsertLinksError::Store(error)) => {
            assert_eq!(report::<()>(Err(error)).place, "accounts.links_count");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn corrupt_link_is_reported_to_look_ups_of_visitors() {
    for (link, column) in [
        (samples::redirect("link").into_any(), "target_url"),
        (samples::landing("link").into_any(), "name"),
        (samples::landing("link").into_any(), "target_url"),
    ] {
        let database = lenient().await;
        let store = open(&database).await;
        let account = account(&store).await;
        insert(&store, account, link.clone()).await;
        database.run(&format!("UPDATE links SET {column} = ''"));
        let address = Address { site: Site::System, slug: Some(samples::slug("link")) };
        let report = report(store.published_link(&address).await);
        assert_eq!((report.place, report.row), (format!("links.{column}"), link.id().to_string()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn corrupt_account_is_reported_with_column_and_id() {
    let database = lenient().await;
    let store = open(&database).await;
    let account = account(&store).await;
    for (column, rubbish, fine) in [
        ("email", "''", "'a@example.com'"),
        ("name", "''", "NULL"),
        ("plan", "''", "'agency'"),
        ("suspended_at", "'-infinity'", "NULL"),
        ("created_at", "'1969-12-31'", "'2026-01-01'"),
        ("links_count", "-5", "0"),
        ("pixels_count", "-5", "0"),
        ("domains_count", "-5", "0"),
    ] {
        database.run(&format!("UPDATE accounts SET {column} = {rubbish}"));
        let report = match store.account(account).await {
            Ok(_) => report(store.usage(account).await),
            error => report(error),
        };
        assert_eq!((report.place, report.row), (format!("accounts.{column}"), account.to_string()));
        database.run(&format!("UPDATE accounts SET {column} = {fine}"));
    }
}

#[tokio::test]
async fn corrupt_key_is_reported_with_column_and_without_hash() {
    let database = lenient().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let (key, _) = samples::key(account);
    let mut work = store.begin().await.unwrap();
    assert!(work.insert_key(&key).await.unwrap());
    work.commit().await.unwrap();
    for (column, rubbish, fine) in [
        ("name", "''", "NULL"),
        ("created_at", "'1969-12-31'", "'2026-01-01'"),
        ("revoked_at", "'infinity'", "NULL"),
        ("hash", r"'\xc0ffee'", r"'\xc0ffee'"),
    ] {
        database.run(&format!("UPDATE api_keys SET {column} = {rubbish}"));
        let log = Log::begin();
        assert_eq!(store.keys(account).await.unwrap(), []);
        let told = log.lines("a list leaves out a row that cannot be read");
        let [line] = told.as_slice() else { panic!("{told:?}") };
        assert!(line.contains(&format!("api_keys.{column}")) && line.contains(&key.id.to_string()), "{line}");
        assert!(!line.contains("c0ffee"), "{line}");
        database.run(&format!("UPDATE api_keys SET {column} = {fine}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn corrupt_group_is_reported_with_column_and_id() {
    let database = lenient().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let group = group(&store, account).await;
    for (column, rubbish, fine) in [
        ("name", "''", "'A'"),
        ("redirects_count", "-1", "0"),
        ("landings_count", "-1", "0"),
        ("updated_at", "'-infinity'", "'2026-01-01'"),
    ] {
        database.run(&format!("UPDATE groups SET {column} = {rubbish}"));
        let one = report(store.group(account, group.id).await);
        assert_eq!((one.place.clone(), one.row.clone()), (format!("groups.{column}"), group.id.to_string()));
        database.run(&format!("UPDATE groups SET {column} = {fine}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn corrupt_request_count_affects_only_its_account() {
    let database = lenient().await;
    let store = open(&database).await;
    let budget = RequestBudget { per_minute: 5, per_day: 5 };
    let (spoilt, fine) = (samples::id(), samples::id());
    store.admit(spoilt, budget, samples::at(0)).await.unwrap();
    database.run("UPDATE request_counts SET admitted = 5000000000");
    for report in [
        report(store.admit(spoilt, budget, samples::at(0)).await),
        report(store.remaining(spoilt, budget, samples::at(0)).await),
    ] {
        assert_eq!(report.place, "request_counts.admitted");
        assert!(report.row.contains(&spoilt.to_string()), "{report:?}");
    }
    store.admit(fine, budget, samples::at(0)).await.unwrap();
}
