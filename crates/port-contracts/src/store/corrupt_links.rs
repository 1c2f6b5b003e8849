//! Corrupt rows of links; see `corrupt_rows.rs`.

use signpost_app::ports::{InsertLinksError, Store};
use signpost_domain::{AccountId, Address, Link, LinkFilter, LinkKind, PageLimit, Redirect, Site};

use super::corrupt_rows::{CorruptibleStore, each_is_reported, is_of, report, rubbish};
use super::given::PLENTY;
use super::unreadable_rows::insert_account;
use crate::samples;

fn address() -> Address {
    Address { site: Site::System, slug: Some(samples::slug("link")) }
}

async fn insert(store: &dyn Store, account: AccountId, link: &Link) {
    let mut work = store.begin().await.unwrap();
    work.insert_links(account, std::slice::from_ref(link), PLENTY).await.unwrap();
    work.commit().await.unwrap();
}

/// Checks that every method that reads a link by its id reports the same.
pub async fn corrupt_link_is_reported_with_column_and_id(
    CorruptibleStore { store, run_sql, literals }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let pixels = literals.pixel_ids;
    // A condition of another version must not be left out: the rule would be for everybody.
    let rules = |kind: &str| {
        format!(
            "'{{\"rules\":{{\"key\":\"{}\",\"list\":[{{\"id\":\"rul_{}\",\"conditions\":[{{\"type\":\"{kind}\",\"in\":[\"DE\"]}}],\
             \"target_url\":\"https://secret.example/\"}}]}}}}'",
            "0".repeat(32),
            "0".repeat(32),
        )
    };
    let long = format!("'{}'", "x".repeat(20_000));
    let mut of_both = rubbish([
        ("name", "''", "'link'"),
        ("slug", "'a b'", "'link'"),
        ("slug", "''", "'link'"),
        ("host", "'not a host'", "''"),
        ("note", &long, "NULL"),
        ("external_id", "''", "NULL"),
        ("behaviour", "'secret'", "NULL"),
        ("behaviour", "'{\"has_password\":\"secret\"}'", "NULL"),
        ("behaviour", "'{\"fallback_url\":\"javascript:secret()\"}'", "NULL"),
    ]);
    of_both.extend(literals.of_times(&["created_at", "updated_at", "starts_at", "expires_at"]));
    let mut of_redirects = rubbish([
        ("target_url", "'javascript:secret()'", "'https://example.com/'"),
        ("target_url", "NULL", "'https://example.com/'"),
        ("geo_blocklist", "'DE,secret'", "''"),
        ("geo_blocklist", "'DE,,FR'", "'DE,FR'"),
        ("pixel_ids", &pixels(1_001), &pixels(11)),
        ("behaviour", "'{\"redirect_status\":200}'", "'{\"redirect_status\":308}'"),
        ("behaviour", "'{\"utm\":{\"secret\":\"x\"}}'", "'{\"utm\":{\"source\":\"x\"}}'"),
        ("behaviour", "'{\"rules\":{\"key\":\"secret\",\"list\":[]}}'", "NULL"),
        ("behaviour", &rules("moon"), &rules("country")),
        (
            "behaviour",
            "'{\"preview\":{\"title\":\"x\",\"secret\":\"x\"}}'",
            "'{\"preview\":{\"title\":\"x\"}}'",
        ),
        // D130: the limit itself is missing.
        ("behaviour", "'{\"is_limited\":true}'", "NULL"),
    ]);
    let of_landings = rubbish([
        ("target_url", "'https://secret.example/'", "NULL"),
        ("antibot_enabled", "'1'", "'0'"),
        ("geo_blocklist", "'DE'", "''"),
        ("pixel_ids", &pixels(1), &pixels(0)),
        ("behaviour", "'{\"forward_query\":true}'", "NULL"),
        ("behaviour", "'{\"is_limited\":true}'", "NULL"),
        ("behaviour", &rules("country"), "NULL"),
        ("behaviour", "'{\"preview\":{\"title\":\"secret\"}}'", "NULL"),
    ]);
    for (column, bad, fine) in literals.of_links {
        of_redirects.push(((*column).to_owned(), (*bad).to_owned(), (*fine).to_owned()));
    }
    for (kind, own) in [(LinkKind::Redirect, of_redirects), (LinkKind::Landing, of_landings)] {
        let link = samples::link(kind, "link");
        insert(store, account, &link).await;
        let read = async || {
            let one = report(store.link(account, link.id()).await);
            let mut work = store.begin().await.unwrap();
            assert_eq!(report(work.lock_link(account, link.id()).await), one);
            one
        };
        for one in of_both.iter().cloned().chain(own) {
            each_is_reported(run_sql, "links", link.id(), vec![one], read).await;
            store.link(account, link.id()).await.unwrap();
        }
        run_sql("DELETE FROM links");
    }
}

/// Checks that only readers of a page's content validate it, visitors included. The page can be found, listed, changed and
/// deleted.
pub async fn corrupt_page_content_is_reported_to_its_readers_only(
    CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let landing = samples::landing("link");
    let (link, id) = (landing.clone().into_any(), landing.id.into());
    insert(store, account, &link).await;
    for bad in ["", "secret", "{\"secret\"", "[]", r#"{"widgets":"secret"}"#] {
        run_sql(&format!("UPDATE links SET page = '{bad}'"));
        let one = report(store.landing_page(account, landing.id).await);
        is_of(&one, "links.page", &landing.id);
        let mut work = store.begin().await.unwrap();
        assert_eq!(work.lock_link(account, id).await.unwrap().as_ref(), Some(&link));
        work.update_link(account, &link, &link).await.unwrap();
        assert_eq!(report(work.page_content(account, landing.id).await), one);
        drop(work);
        assert_eq!(store.link(account, id).await.unwrap().as_ref(), Some(&link));
        let filter = LinkFilter::default();
        let list = store.links(account, LinkKind::Landing, &filter, PageLimit::default(), None).await;
        assert_eq!(list.unwrap().items, std::slice::from_ref(&link));
        assert_eq!(report(store.published_link(&address()).await), one);
    }
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.delete_links(account, &[id]).await.unwrap(), [id]);
    drop(work);
    run_sql("UPDATE links SET page = NULL, name = ''");
    assert_eq!(report(store.landing_page(account, landing.id).await).place, "links.name");
}

/// Checks that methods that read both kinds report an unknown kind, with the bare id of the row.
pub async fn link_of_unknown_kind_is_corrupt_and_can_be_deleted(
    CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let link = samples::redirect("link").into_any();
    insert(store, account, &link).await;
    run_sql("UPDATE links SET kind = 7");
    let one = report(store.published_link(&address()).await);
    assert_eq!(one.place, "links.kind");
    assert_eq!(Some(one.row.as_str()), link.id().to_string().strip_prefix("rdr_"));
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.delete_some_links(account, 10).await.unwrap(), 1);
    work.commit().await.unwrap();
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 0);
}

/// Checks that a regrouped row is validated like any other, and the change rolled back.
pub async fn corrupt_link_is_not_regrouped(CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>) {
    let account = insert_account(store).await.id;
    let [from, to] = ["from", "to"].map(samples::group);
    let link = Redirect { group_id: Some(from.id), ..samples::redirect("link") };
    let mut work = store.begin().await.unwrap();
    for group in [&from, &to] {
        work.insert_group(account, group, PLENTY).await.unwrap();
    }
    work.insert_links(account, &[link.clone().into()], PLENTY).await.unwrap();
    work.commit().await.unwrap();
    run_sql("UPDATE links SET target_url = 'x'");
    let ids = [link.id.into()];
    for is_assigned in [true, false] {
        let mut work = store.begin().await.unwrap();
        let outcome = if is_assigned {
            work.assign_links(account, to.id, &ids, samples::at(1)).await
        } else {
            work.unassign_links(account, from.id, &ids, samples::at(1)).await
        };
        assert_eq!(report(outcome).place, "links.target_url");
        assert!(work.commit().await.is_err());
    }
    for (group, count) in [(&from, 1), (&to, 0)] {
        assert_eq!(store.group(account, group.id).await.unwrap().unwrap().redirects_count, count);
    }
}

/// Checks that a negative count is not taken for room.
pub async fn corrupt_link_count_stops_an_insertion(
    CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    run_sql("UPDATE accounts SET links_count = -5");
    let mut work = store.begin().await.unwrap();
    match work.insert_links(account, &[samples::redirect("link").into()], PLENTY).await {
        Err(InsertLinksError::Store(error)) => {
            assert_eq!(report::<()>(Err(error)).place, "accounts.links_count");
        }
        other => panic!("{other:?}"),
    }
}

/// Checks that visitors of a corrupt link get an error that names it.
pub async fn corrupt_link_is_reported_to_look_ups_of_visitors(
    CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    for (link, column) in [
        (samples::redirect("link").into_any(), "target_url"),
        (samples::redirect("link").into_any(), "behaviour"),
        (samples::landing("link").into_any(), "behaviour"),
        (samples::landing("link").into_any(), "name"),
        (samples::landing("link").into_any(), "target_url"),
    ] {
        insert(store, account, &link).await;
        run_sql(&format!("UPDATE links SET {column} = ''"));
        is_of(&report(store.published_link(&address()).await), &format!("links.{column}"), &link.id());
        run_sql("DELETE FROM links");
    }
}
