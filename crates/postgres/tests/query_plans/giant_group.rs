//! Statements about groups with statistics of one giant group, as after an import into one group: all links are in it,
//! active, and on the system domain. The statistics do not cover later links.

use signpost_app::ports::{GroupReads, LinkReads, Store};
use signpost_domain::{
    AccountId, GroupFilter, GroupId, Hostname, Id, LinkFilter, LinkId, LinkKind, PageLimit, PagePosition,
    Site,
};
use signpost_port_contracts::samples;
use signpost_postgres::migrate;
use signpost_test_servers::postgres::{PostgresDatabase, PostgresServer};

use super::{PLENTY, Subject, log_plans};

/// The number of imported links.
const IMPORTED: u32 = 60_000;

/// The number of links in all small groups, and the number of small groups.
const ADDED: u32 = 4_000;
const GROUPS: u32 = 200;

/// The hostname of every second added link.
const HOST: &str = "links.example.net";

/// An id; its first byte tells the kind of thing.
fn bytes(kind: u8, number: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0] = kind;
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    bytes
}

fn group(number: u32) -> GroupId {
    Id::from_bytes(bytes(2, number))
}

/// The ids of the redirects in a small group, which are not adjacent.
fn links_of(number: u32) -> Vec<LinkId> {
    let links = (1..=ADDED).filter(|link| link % GROUPS == number % GROUPS);
    links.map(|link| LinkId::Redirect(Id::from_bytes(bytes(3, IMPORTED + link)))).collect()
}

/// A giant group and its statistics; then small groups, and links without a group.
fn fill(database: &PostgresDatabase) -> AccountId {
    let id = |kind: u8, number: &str| format!("('{kind:02x}' || lpad(to_hex({number}), 30, '0'))::uuid");
    let (account, all) = (id(1, "1"), IMPORTED + ADDED);
    let links = |from: u32, to: u32, host: &str, is_active: &str, group: &str| {
        format!(
            "INSERT INTO links SELECT {}, {account}, 1, 'a name', {host}, 's' || n, {is_active}, NULL, {group}, true, \
             '2026-01-01', '2026-01-01', 'https://example.com/', false, '', 'a name' || chr(31) || 's' || n || chr(31) || \
             'https://example.com/' FROM generate_series({from}, {to}) AS n; ",
            id(3, "n")
        )
    };
    let groups = |from: u32, to: u32| {
        format!(
            "INSERT INTO groups SELECT {account}, {}, 'A', 0, (SELECT count(*) FROM links AS l WHERE l.group_id = {}), \
             '2026-01-01', '2026-01-01' FROM generate_series({from}, {to}) AS n; ",
            id(2, "n"),
            id(2, "n")
        )
    };
    let giant = id(2, "0");
    let small = format!("CASE WHEN n % 10 < 8 THEN {} END", id(2, &format!("1 + (n - 1) % {GROUPS}")));
    database.run(&format!(
        "INSERT INTO accounts (id, email, email_key, plan, created_at, links_count, groups_count) \
         VALUES ({account}, 'a', 'a', 'agency', '2026-01-01', {all}, {GROUPS} + 1); \
         ALTER TABLE links DISABLE TRIGGER ALL; {} {} ANALYZE; {} {} ALTER TABLE links ENABLE TRIGGER ALL",
        links(1, IMPORTED, "''", "true", &giant),
        groups(0, 0),
        links(
            IMPORTED + 1,
            all,
            &format!("CASE n % 2 WHEN 0 THEN '' ELSE '{HOST}' END"),
            "n % 3 <> 0",
            &small
        ),
        groups(1, GROUPS),
    ));
    Id::from_bytes(bytes(1, 1))
}

/// Each statement uses the index for its rows, however few links elsewhere or however many links in a group the statistics
/// suggest.
pub(crate) async fn does_not_change_plans(server: &'static PostgresServer) {
    let database = server.database(None);
    migrate(&database.url()).await.unwrap();
    let account = fill(&database);
    log_plans(server, &database);
    let subject = Subject::connect(server, &database, account).await;
    lists(&subject).await;
    moves(&subject).await;
    deletions(&subject).await;
    drop(subject);
    drop(database);
}

/// All lists with a group filter, and those whose filters matched no row when the statistics were made.
async fn lists(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let every = LinkFilter::default();
    let custom = Some(Site::Custom(Hostname::parse(HOST).unwrap()));
    let limit = PageLimit::new(25).unwrap();
    for of in [GroupFilter::In(group(7)), GroupFilter::In(group(0)), GroupFilter::Ungrouped, GroupFilter::Any]
    {
        for is_active in [None, Some(true), Some(false)] {
            for site in [None, Some(Site::System), custom.clone()] {
                for after in [None, Some(PagePosition::behind(bytes(3, IMPORTED + ADDED / 2)))] {
                    let filter = LinkFilter { group: of, site: site.clone(), is_active, ..every.clone() };
                    let plans = subject
                        .plans(async {
                            store.links(*account, LinkKind::Redirect, &filter, limit, after).await.unwrap();
                        })
                        .await;
                    for wrong in ["Seq Scan", "Sort", "Bitmap"] {
                        assert!(!plans.contains(wrong), "{filter:?} {after:?}: {plans}");
                    }
                    if matches!(of, GroupFilter::In(_)) {
                        assert!(
                            plans.contains("using links_of_group on links"),
                            "{filter:?} {after:?}: {plans}"
                        );
                    }
                }
            }
        }
    }
}

/// Links enter and leave groups.
async fn moves(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let (account, now) = (*account, samples::at(1));
    let plans = subject
        .plans(async {
            let links = links_of(11);
            let mut work = store.begin().await.unwrap();
            let moved = work.assign_links(account, group(12), &links, now).await.unwrap().unwrap();
            assert_eq!(moved.len(), links.len());
            work.unassign_links(account, group(12), &links, now).await.unwrap().unwrap();
            work.expect_move();
            let before = work.lock_link(account, links[0]).await.unwrap().unwrap();
            let mut after = before.clone();
            after.move_to_group(Some(group(13)), now);
            work.update_link(account, &before, &after).await.unwrap();
            let mut new = samples::link(LinkKind::Redirect, "new");
            new.move_to_group(Some(group(13)), now);
            work.insert_links(account, &[new], PLENTY).await.unwrap();
            work.delete_links(account, &links_of(13)).await.unwrap();
            work.commit().await.unwrap();
        })
        .await;
    assert!(!plans.contains("Seq Scan on links"), "{plans}");
}

/// The deletion of a group, with everything that PostgreSQL itself runs for it.
async fn deletions(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let now = samples::at(1);
    let plans = subject
        .plans(async {
            let mut work = store.begin().await.unwrap();
            let taken = work.ungroup_some_links(*account, group(17), 1_000, now).await.unwrap();
            assert!(taken > 0 && usize::from(taken) <= links_of(17).len(), "{taken}");
            assert!(work.delete_group(*account, group(17), now).await.unwrap());
            // A group that was not emptied before.
            assert!(work.delete_group(*account, group(18), now).await.unwrap());
            work.commit().await.unwrap();
        })
        .await;
    assert!(store.group(*account, group(18)).await.unwrap().is_none());
    assert!(!plans.contains("Seq Scan on links"), "{plans}");
    for plan in plans
        .split("plan:")
        .filter(|plan| plan.contains("\"group_id\"") || plan.contains("(account_id, group_id)"))
    {
        assert!(!plan.contains("Scan") || plan.contains("using links_of_group on links"), "{plan}");
    }
}
