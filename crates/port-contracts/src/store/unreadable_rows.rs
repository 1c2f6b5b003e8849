//! Behaviour of a store with unreadable rows (ADR 35), for stores whose rows a test can corrupt with SQL.
//!
//! The runtime of each test must have one thread, because the tests read its log.

use signpost_app::ports::{PublishedContent, Store, StoreError};
use signpost_domain::{
    Account, Address, GroupFilter, Landing, Link, LinkFilter, LinkKind, Page, PageLimit, PagePosition,
    PixelId, Redirect, Site,
};

use super::corrupt_rows::CorruptibleStore;
use super::given::PLENTY;
use super::resources::ResourceKind;
use crate::logs::Log;
use crate::samples;

/// Runs an SQL statement on the store's tables.
pub type RunSql<'a> = &'a dyn Fn(&str);

pub(super) const LEFT_OUT: &str = "a list leaves out a row that cannot be read";

/// Checks that lists omit unreadable links, and that only calls for such a link fail.
pub async fn lists_of_links_leave_out_what_cannot_be_read(
    CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let group = samples::group("group");
    let mut work = store.begin().await.unwrap();
    work.insert_group(account, &group, PLENTY).await.unwrap();
    let redirects = ["a", "b", "c", "d", "e"]
        .map(|slug| Redirect { group_id: Some(group.id), ..samples::redirect(slug) });
    let links = redirects.clone().map(Link::from);
    work.insert_links(account, &links, PLENTY).await.unwrap();
    work.commit().await.unwrap();
    // Including the newest and the oldest link, where pages begin and end.
    run_sql("UPDATE links SET target_url = 'javascript:secret()' WHERE slug IN ('a', 'c', 'e')");
    let [oldest, second, third, fourth, newest] = &redirects;
    let log = Log::begin();
    let all = LinkFilter::default();
    let filters = [
        all.clone(),
        LinkFilter { is_active: Some(true), ..all.clone() },
        LinkFilter { group: GroupFilter::In(group.id), site: Some(Site::System), ..all.clone() },
    ];
    for filter in &filters {
        for limit in 1..=6 {
            let list = async |after| {
                let limit = PageLimit::new(limit).unwrap();
                store.links(account, LinkKind::Redirect, filter, limit, after).await.unwrap()
            };
            assert_eq!(
                walk(list).await,
                (vec![fourth.clone().into(), second.clone().into()], 3),
                "{filter:?} by {limit}"
            );
        }
    }
    let logged = log.lines(LEFT_OUT);
    for broken in [oldest, third, newest] {
        let times = logged.iter().filter(|line| line.contains(&broken.id.to_string())).count();
        assert!(times >= 18, "{logged:#?}");
    }
    assert!(
        logged.iter().all(|line| line.contains("ERROR") && line.contains("links.target_url")),
        "{logged:#?}"
    );
    assert!(logged.iter().all(|line| !line.contains("secret")), "{logged:#?}");

    let (key, _) = samples::key(account);
    let mut work = store.begin().await.unwrap();
    work.insert_key(&key).await.unwrap();
    work.commit().await.unwrap();
    for (redirect, is_broken) in [(oldest, true), (second, false), (third, true), (fourth, false)] {
        // A corrupt link does not block the admission of a caller.
        let (holder, link) = store.key_holder_with_link(&key.hash, redirect.id.into()).await.unwrap();
        assert_eq!((holder.is_some(), link.is_none()), (true, is_broken));
        let one = store.link(account, redirect.id.into()).await;
        let visit = store.published_link(&at(redirect)).await;
        assert_eq!((is_corrupt(&one), is_corrupt(&visit)), (is_broken, is_broken));
    }
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 5);
    assert_eq!(store.group(account, group.id).await.unwrap().unwrap().redirects_count, 5);
    let mut work = store.begin().await.unwrap();
    let deleted = work.delete_links(account, &[oldest.id.into(), second.id.into()]).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(deleted.len(), 2);
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 3);
    assert_eq!(store.group(account, group.id).await.unwrap().unwrap().redirects_count, 3);
}

/// Checks that links which the current rules refuse can still be read, listed, visited and updated.
pub async fn links_outlive_the_rules_that_accepted_them(
    CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let redirect = samples::redirect("a");
    let mut work = store.begin().await.unwrap();
    work.insert_links(account, &[redirect.clone().into()], PLENTY).await.unwrap();
    work.commit().await.unwrap();
    let (long, target) = ("n".repeat(300), "https://0x7f.1/a");
    run_sql(&format!(
        "UPDATE links SET name = '{long}', note = '{long}', target_url = '{target}', geo_blocklist = 'DE,AN'"
    ));
    let link = store.link(account, redirect.id.into()).await.unwrap().unwrap();
    let read = link.clone().into_redirect().expect("a redirect");
    assert_eq!((read.name.as_str(), read.content.target_url.as_str()), (long.as_str(), target));
    let countries: Vec<&str> =
        read.content.geo_blocklist.countries().iter().map(|country| country.as_str()).collect();
    assert_eq!(countries, ["DE", "AN"]);
    let list =
        store.links(account, LinkKind::Redirect, &LinkFilter::default(), PageLimit::default(), None).await;
    assert_eq!(list.unwrap().items, std::slice::from_ref(&link));
    assert!(store.published_link(&at(&redirect)).await.unwrap().is_some());
    let changed = Link { is_active: false, ..link.clone() };
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.lock_link(account, link.id()).await.unwrap(), Some(link.clone()));
    work.update_link(account, &link, &changed).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(store.link(account, link.id()).await.unwrap(), Some(changed));
}

/// Checks that the other lists omit unreadable rows.
pub async fn other_lists_leave_out_what_cannot_be_read(
    CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>,
) {
    let (unreadable, account) = (insert_account(store).await, insert_account(store).await.id);
    let mut broken = vec![unreadable.id.to_string()];
    let log = Log::begin();
    let mut work = store.begin().await.unwrap();
    for text in ["a", "b", "c"] {
        let (mut key, _) = samples::key(account);
        key.name = Some(samples::name(text));
        assert!(work.insert_key(&key).await.unwrap());
        for kind in ResourceKind::ALL {
            let resource = kind.sample(account, text);
            resource.insert(work.as_mut(), account, PLENTY).await.unwrap();
            if text == "b" {
                broken.push(resource.id_text());
            }
        }
        if text == "b" {
            broken.push(key.id.to_string());
        }
    }
    work.commit().await.unwrap();
    for kind in ResourceKind::ALL {
        run_sql(&kind.corrupt_b());
    }
    run_sql("UPDATE api_keys SET name = '' WHERE name = 'b'");
    run_sql(&format!("UPDATE accounts SET plan = '' WHERE email = '{}'", unreadable.email));
    for limit in 1..=4 {
        for kind in ResourceKind::ALL {
            let (found, left_out) = walk(async |after| kind.page(store, account, limit, after).await).await;
            assert_eq!((found.len(), left_out), (2, 1), "{kind:?}");
        }
        let limit = PageLimit::new(limit).unwrap();
        let (accounts, left_out) = walk(async |after| store.accounts(limit, after).await.unwrap()).await;
        assert_eq!((accounts.len(), left_out), (1, 1));
    }
    assert_eq!(store.keys(account).await.unwrap().len(), 2);
    let logged = log.lines(LEFT_OUT);
    for id in &broken {
        assert!(logged.iter().any(|line| line.contains(id)), "{id}: {logged:#?}");
    }
}

/// Checks that a visit fails if it needs an unreadable row, that the error names the row, and that other links work. A
/// visit to a link that may not be opened reads neither page nor pixels, so a guess costs no more than other guesses (R30).
pub async fn visits_name_the_row_that_cannot_be_read(
    CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let [whole, broken] = ["whole", "broken"].map(samples::pixel);
    let with = |slug: &str, ids: &[PixelId]| {
        samples::redirect(slug).with(|content| content.pixel_ids = samples::pixel_ids(ids.to_vec()))
    };
    let links: [Link; 8] = [
        with("of-whole", &[whole.id]).into(),
        with("of-broken", &[whole.id, broken.id]).into(),
        samples::redirect("served").into(),
        samples::redirect("blocked").into(),
        samples::landing("page").into(),
        samples::landing("broken-page").into(),
        Redirect { is_active: false, ..with("inactive", &[broken.id]) }.into(),
        Landing { is_active: false, ..samples::landing("inactive-page") }.into(),
    ];
    let mut work = store.begin().await.unwrap();
    for pixel in [&whole, &broken] {
        work.insert_pixel(account, pixel, PLENTY).await.unwrap();
    }
    work.insert_links(account, &links, PLENTY).await.unwrap();
    work.commit().await.unwrap();
    run_sql("UPDATE pixels SET code = 'not a secret code' WHERE name = 'broken'");
    run_sql("UPDATE links SET geo_blocklist = 'secret' WHERE slug = 'blocked'");
    run_sql("UPDATE links SET page = 'secret' WHERE slug IN ('broken-page', 'inactive-page')");
    for (link, corrupt) in [
        (&links[0], None),
        (&links[1], Some(("pixels", "code", broken.id.to_string()))),
        (&links[2], None),
        (&links[3], Some(("links", "geo_blocklist", links[3].id().to_string()))),
        (&links[4], None),
        (&links[5], Some(("links", "page", links[5].id().to_string()))),
        (&links[6], None),
        (&links[7], None),
    ] {
        let visit = store.published_link(&link.placement.address().expect("on the system domain")).await;
        match (visit, corrupt) {
            (Ok(Some(found)), None) => assert_eq!(found.id, link.id()),
            (Err(StoreError::Corrupt { table, column, row, reason }), Some(expected)) => {
                assert_eq!((table, column, row), expected);
                assert!(!reason.contains("secret"), "{reason}");
            }
            (visit, _) => panic!("{link:?}: {visit:?}"),
        }
    }
    let mut work = store.begin().await.unwrap();
    assert!(work.set_suspended(account, Some(samples::at(1))).await.unwrap());
    work.commit().await.unwrap();
    for link in [&links[1], &links[5]] {
        let visit = store.published_link(&link.placement.address().expect("on the system domain")).await;
        assert_eq!(visit.unwrap().unwrap().content, PublishedContent::Suspended, "{link:?}");
    }
}

pub(super) async fn insert_account(store: &dyn Store) -> Account {
    let account = samples::account();
    let mut work = store.begin().await.unwrap();
    work.insert_account(&account).await.unwrap();
    work.commit().await.unwrap();
    account
}

/// All items of a list, read page by page, and the number of omitted rows.
async fn walk<T>(page: impl AsyncFn(Option<PagePosition>) -> Page<T>) -> (Vec<T>, usize) {
    let (mut all, mut missing, mut after) = (Vec::new(), 0, None);
    loop {
        let Page { items, next, left_out } = page(after).await;
        all.extend(items);
        missing += left_out;
        after = next;
        if after.is_none() {
            return (all, missing);
        }
    }
}

fn at(redirect: &Redirect) -> Address {
    redirect.placement.address().expect("it is on the system domain")
}

const fn is_corrupt<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Corrupt { .. }))
}
