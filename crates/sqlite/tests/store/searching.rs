//! Searches in accounts with more links than a search reads one by one: the index must return what the domain's rule finds
//! (D32).

use std::fs;
use std::path::Path;

use diesel::connection::SimpleConnection;
use signpost_app::ports::{LinkReads, Store};
use signpost_domain::{
    AccountId, GroupFilter, Id, Link, LinkFilter, LinkKind, PageLimit, PagePosition, Redirect, SearchText,
    Slug,
};
use signpost_port_contracts::samples;
use signpost_sqlite::SqliteStore;

use crate::database::{self, Database, PLENTY};

/// More than a search reads before it asks the index, and several times the index's first portion.
const MANY: usize = 5_600;

/// Texts in several scripts and cases.
const WORDS: [&str; 8] =
    ["Autumn", "STRASSE", "straße", "ΟΔΟΣ", "ﬃciency", "жук", "\"quoted\"", "\u{f0001}\u{f0002}\u{f0003}"];

const SEARCHES: [&str; 16] = [
    "autumn",
    "straSSe",
    "οδος",
    "FFI",
    "ЖУК",
    "\"quo",
    "\u{f0001}\u{f0002}\u{f0003}",
    "xyz",
    "number-1",
    "NUMBER-35",
    "ab",
    "example.com",
    "mn n",
    "-1-",
    "/path?",
    "autumn number-77",
];

fn redirect(number: usize) -> Redirect {
    let word = WORDS[number % WORDS.len()];
    Redirect {
        name: samples::name(&format!("{word} number-{number}")),
        ..samples::redirect(&format!("s-{number}-{}", number % 5))
    }
    .with(|content| {
        content.target_url = samples::target(&format!("https://example.com/path?n={}", number % 17));
    })
}

async fn insert_all(store: &SqliteStore, account: AccountId, links: &[Link]) {
    for links in links.chunks(100) {
        let mut work = store.begin().await.unwrap();
        work.insert_links(account, links, PLENTY).await.unwrap();
        work.commit().await.unwrap();
    }
}

/// The ids that a search finds, page by page.
async fn found(store: &SqliteStore, account: AccountId, filter: &LinkFilter, limit: u64) -> Vec<[u8; 16]> {
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let limit = PageLimit::new(limit).unwrap();
        let page = store.links(account, LinkKind::Redirect, filter, limit, after).await.unwrap();
        ids.extend(page.items.iter().map(|link| link.id().to_bytes()));
        match page.next {
            Some(next) => after = Some(next),
            None => return ids,
        }
    }
}

/// The ids that the rule finds, in the order of the lists.
fn expected(links: &[Link], filter: &LinkFilter) -> Vec<[u8; 16]> {
    let search = filter.search.as_ref().unwrap();
    let matches = |link: &&Link| {
        let Some(redirect) = (*link).clone().into_redirect() else { return false };
        let slug = redirect.placement.slug().map(Slug::as_str);
        search.matches(redirect.name.as_str(), slug, Some(redirect.content.target_url.as_str()))
            && filter.is_active.is_none_or(|is_active| redirect.is_active == is_active)
            && match filter.group {
                GroupFilter::Any => true,
                GroupFilter::Ungrouped => redirect.group_id.is_none(),
                GroupFilter::In(group) => redirect.group_id == Some(group),
            }
    };
    let mut ids: Vec<_> = links.iter().filter(matches).map(|link| link.id().to_bytes()).collect();
    ids.sort_unstable();
    ids.reverse();
    ids
}

async fn assert_finds_what_the_rule_finds(store: &SqliteStore, account: AccountId, links: &[Link]) {
    for text in SEARCHES {
        let filter = LinkFilter { search: Some(SearchText::parse(text).unwrap()), ..LinkFilter::default() };
        let expected = expected(links, &filter);
        for limit in [7, 100] {
            // There are many pages of seven; the first ones suffice.
            if limit == 7 && expected.len() > 300 {
                continue;
            }
            assert!(found(store, account, &filter, limit).await == expected, "{text:?}, pages of {limit}");
        }
    }
}

#[tokio::test]
async fn d32_searches_of_long_lists_find_what_the_rule_finds() {
    let database = Database::new();
    let store = database.open();
    let account = database::account(&store).await;
    let stranger = database::account(&store).await;
    let group = database::group(&store, account).await;
    let mut links: Vec<Link> = (0..MANY).map(|number| redirect(number).into()).collect();
    for (number, link) in links.iter_mut().enumerate() {
        if number % 3 == 0 {
            link.move_to_group(Some(group.id), samples::at(0));
        }
    }
    insert_all(&store, account, &links).await;
    let foreign: Vec<Link> = (0..200)
        .map(|number| {
            Redirect { name: samples::name("Autumn number-77"), ..samples::redirect(&format!("f-{number}")) }
                .into()
        })
        .collect();
    insert_all(&store, stranger, &foreign).await;
    assert_finds_what_the_rule_finds(&store, account, &links).await;

    // With other filters, and from the middle of the list.
    for group in [GroupFilter::In(group.id), GroupFilter::Ungrouped] {
        let search = Some(SearchText::parse("number-12").unwrap());
        let filter = LinkFilter { group, search, is_active: Some(true), ..LinkFilter::default() };
        assert_eq!(found(&store, account, &filter, 9).await, expected(&links, &filter));
    }

    // The oldest links, which only the index finds, are renamed and deleted.
    links.sort_by_key(|link| link.id().to_bytes());
    let mut work = store.begin().await.unwrap();
    for link in &mut links[..40] {
        let before = link.clone();
        link.name = samples::name("Renamed: autumn NUMBER-351, xyz");
        work.update_link(account, &before, link).await.unwrap();
    }
    let doomed: Vec<Link> = links.drain(40..80).collect();
    let ids: Vec<_> = doomed.iter().map(Link::id).collect();
    assert_eq!(work.delete_links(account, &ids).await.unwrap().len(), 40);
    work.commit().await.unwrap();
    assert_finds_what_the_rule_finds(&store, account, &links).await;

    let indexed =
        || database.number("SELECT count(*) AS number FROM link_search WHERE link_search MATCH '\"htt\"'");
    assert_eq!(indexed(), i64::try_from(links.len() + foreign.len()).unwrap());
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.delete_some_links(stranger, 1_000).await.unwrap(), 200);
    work.commit().await.unwrap();
    assert_eq!(indexed(), i64::try_from(links.len()).unwrap());
}

/// The former text would not make a search wrong, only slower.
#[tokio::test]
async fn d32_changed_and_deleted_links_leave_the_index() {
    let database = Database::new();
    let store = database.open();
    let account = database::account(&store).await;
    let indexed = |gram: &str| {
        database.number(&format!(
            "SELECT count(*) AS number FROM link_search WHERE link_search MATCH '\"{gram}\"'"
        ))
    };
    let link: Link = Redirect { name: samples::name("Äpfel"), ..samples::redirect("fruit") }.into();
    insert_all(&store, account, std::slice::from_ref(&link)).await;
    let mut renamed = link.clone();
    renamed.name = samples::name("Birnen");
    let mut work = store.begin().await.unwrap();
    work.update_link(account, &link, &renamed).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(["äpf", "bir", "fru"].map(indexed), [0, 1, 1]);
    let mut work = store.begin().await.unwrap();
    work.delete_links(account, &[link.id()]).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(["äpf", "bir", "fru"].map(indexed), [0, 0, 0]);
}

/// Another program changes no index, so the store withdraws texts that it never added.
#[tokio::test]
async fn d32_links_that_another_program_has_changed_can_be_changed_and_deleted() {
    let database = Database::new();
    let store = database.open();
    let account = database::account(&store).await;
    let links: Vec<Link> = (0..4).map(|number| redirect(number).into()).collect();
    insert_all(&store, account, &links).await;
    // As if it had deleted them, and inserted others with longer names.
    let strange = "INSERT INTO link_search (link_search, rowid, text) \
                   SELECT 'delete', number, replace(hex(zeroblob(100)), '0', 'x') FROM links; \
                   UPDATE links SET name = replace(hex(zeroblob(100)), '0', 'y')";
    database.raw().batch_execute(strange).unwrap();
    let link = &links[0];
    let mut renamed = link.clone();
    renamed.name = samples::name("Birnen");
    let mut work = store.begin().await.unwrap();
    work.update_link(account, link, &renamed).await.unwrap();
    work.commit().await.unwrap();
    let mut work = store.begin().await.unwrap();
    assert_eq!(work.delete_some_links(account, 10).await.unwrap(), 4);
    work.commit().await.unwrap();
}

/// A link whose id was created at that millisecond.
fn made_at(millis: u64, number: usize) -> Link {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&(millis << 16).to_be_bytes());
    bytes[8..].copy_from_slice(&u64::try_from(number).unwrap().to_be_bytes());
    Redirect { id: Id::from_bytes(bytes), ..redirect(number) }.into()
}

/// The index returns links in their order of insertion. Here every third link is inserted after younger ones: slightly late
/// as with concurrent requests, very late as after a clock was set back, and not late at all.
#[tokio::test]
async fn d32_links_inserted_late_are_found_in_id_order() {
    for late_by in [0, 40, 30_000] {
        let database = Database::new();
        let store = database.open();
        let account = database::account(&store).await;
        let links: Vec<Link> = (0..MANY)
            .map(|number| {
                let time = 1_000_000 + 10 * u64::try_from(number).unwrap();
                made_at(if number % 3 == 0 { time - late_by } else { time }, number)
            })
            .collect();
        insert_all(&store, account, &links).await;
        // The link inserted just before is ten milliseconds older than the late one would be in time.
        let noted = "SELECT coalesce(max(millis), 0) AS number FROM link_lateness";
        assert_eq!(database.number(noted), i64::try_from(u64::saturating_sub(late_by, 10)).unwrap());
        assert_finds_what_the_rule_finds(&store, account, &links).await;
        let mut work = store.begin().await.unwrap();
        assert!(work.delete_account(account).await.unwrap());
        work.commit().await.unwrap();
    }
}

/// A database of an earlier version, in which every fiftieth link is 19 milliseconds older than the one before it.
#[tokio::test]
async fn d32_links_of_an_earlier_version_are_found() {
    let database = Database::new();
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/sqlite");
    let mut names: Vec<String> = fs::read_dir(&migrations)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.get(..4).is_some_and(|number| number < "0018"))
        .collect();
    names.sort();
    let mut raw = database.raw();
    raw.batch_execute(
        "CREATE TABLE __diesel_schema_migrations (version VARCHAR(50) PRIMARY KEY NOT NULL, \
                       run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)",
    )
    .unwrap();
    for name in names {
        raw.batch_execute(&fs::read_to_string(migrations.join(&name).join("up.sql")).unwrap()).unwrap();
        let done = format!("INSERT INTO __diesel_schema_migrations (version) VALUES ('{}')", &name[..4]);
        raw.batch_execute(&done).unwrap();
    }
    raw.batch_execute(
        "INSERT INTO accounts (id, email, email_key, plan, created_at) VALUES (zeroblob(16), 'a@b.example', 'a@b.example', 'agency', 0);
         WITH RECURSIVE numbers (number) AS (VALUES (1) UNION ALL SELECT number + 1 FROM numbers LIMIT 5000)
         INSERT INTO links (id, account_id, kind, name, host, slug, is_active, analytics_enabled, created_at, updated_at, target_url)
         SELECT unhex(printf('%012x%020x', iif(number % 50 = 0, number - 20, number), number)), zeroblob(16), 1, 'Straße ' || number, '', 's-' || number, 1, 1, 0, 0,
             'https://example.com/' FROM numbers",
    )
    .unwrap();
    drop(raw);
    let store = database.open();
    let search = Some(SearchText::parse("STRASSE 77").unwrap());
    let filter = LinkFilter { search, ..LinkFilter::default() };
    let ids = found(&store, AccountId::from_bytes([0; 16]), &filter, 100).await;
    let numbers: Vec<u128> = ids.into_iter().map(|id| u128::from_be_bytes(id) & 0xffff).collect();
    assert_eq!(numbers, [779, 778, 777, 776, 775, 774, 773, 772, 771, 770, 77]);
    assert_eq!(database.number("SELECT millis AS number FROM link_lateness"), 19);
    let after = Some(PagePosition::behind((100_u128 << 80).to_be_bytes()));
    let limit = PageLimit::new(5).unwrap();
    let page =
        store.links(AccountId::from_bytes([0; 16]), LinkKind::Redirect, &filter, limit, after).await.unwrap();
    assert_eq!(page.items.len(), 1);
    assert!(store.check().await.is_ok());
}

/// Links whose texts were indexed before searches compared composed texts. The migration builds the index again.
#[tokio::test]
async fn d32_links_of_older_versions_are_found_by_composed_texts() {
    let database = Database::new();
    let (account, old) = {
        let store = database.open();
        let account = database::account(&store).await;
        let name = samples::name("Cafe\u{301} number one");
        let old: Link = Redirect { name, ..samples::redirect("old") }.into();
        insert_all(&store, account, std::slice::from_ref(&old)).await;
        // More than a search reads before it asks the index.
        let others: Vec<Link> = (0..600).map(|number| redirect(number).into()).collect();
        insert_all(&store, account, &others).await;
        (account, old)
    };
    let forgotten = "INSERT INTO link_search (link_search) VALUES ('delete-all'); \
                     INSERT INTO link_search (rowid, text) \
                     VALUES ((SELECT min(number) FROM links), 'cafe' || char(769) || ' number one'); \
                     DELETE FROM __diesel_schema_migrations WHERE version = '0051'";
    database.raw().batch_execute(forgotten).unwrap();
    let store = database.open();
    for text in ["caf\u{e9} number", "CAFE\u{301} n"] {
        let filter = LinkFilter { search: Some(SearchText::parse(text).unwrap()), ..LinkFilter::default() };
        assert_eq!(found(&store, account, &filter, 7).await, [old.id().to_bytes()], "{text}");
    }
}
