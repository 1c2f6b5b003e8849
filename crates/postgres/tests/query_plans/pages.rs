//! The lists of links.

use signpost_app::ports::LinkReads;
use signpost_domain::{
    AccountId, ExternalId, GroupFilter, Hostname, Id, LinkFilter, LinkKind, PageLimit, PagePosition, Site,
    Slug,
};
use signpost_test_servers::postgres::PostgresDatabase;

use super::Subject;

/// The bytes of all ids of the first account, without the last four.
const BEFORE: &str = "0100000000000000000000";

/// The start of the range in the generic plan of a page.
const LOOKS_AT_NO_VALUES: &str = "account_id = ANY (ARRAY[$1])";

/// How many links the account of the test has; another account has as many.
const LINKS: u32 = 20_000;

/// Two accounts with many links. Of the first account's links, one in a hundred is inactive, one in five is in the group,
/// every second is on a domain, and one in fifty has a password.
pub(crate) fn fill(database: &PostgresDatabase) -> AccountId {
    let hex = |number: &str| format!("('{BEFORE}' || lpad(to_hex({number}), 10, '0'))::uuid");
    let id = hex("n");
    database.run(&format!(
        "INSERT INTO accounts (id, email, email_key, plan, created_at, links_count, groups_count) \
         SELECT {}, n || '@example.com', n || '@example.com', 'agency', '2026-01-01', {LINKS}, 1 \
         FROM generate_series(1, 2) AS n; \
         INSERT INTO groups SELECT id, id, 'A', 0, {LINKS} / 5, '2026-01-01', '2026-01-01' FROM accounts; \
         INSERT INTO links (id, account_id, kind, name, host, slug, is_active, note, group_id, analytics_enabled, created_at, \
         updated_at, target_url, antibot_enabled, geo_blocklist, search_key, behaviour) SELECT {id}, {}, 1, 'a name', \
         CASE n / 2 % 2 WHEN 0 THEN '' ELSE 'links.example.net' END, 's' || n, n / 2 % 100 <> 0, NULL, \
         CASE WHEN n / 2 % 5 = 0 THEN {} END, true, '2026-01-01', '2026-01-01', 'https://example.com/', false, '', \
         'a name' || chr(31) || 's' || n || chr(31) || 'https://example.com/', \
         CASE WHEN n / 2 % 50 = 7 THEN '{{\"has_password\":true}}' END \
         FROM generate_series(10, {LINKS} * 2 + 9) AS n; \
         ANALYZE",
        hex("n"),
        hex("n % 2 + 1"),
        hex("n % 2 + 1"),
    ));
    Id::from_bytes(bytes(1))
}

pub(crate) fn bytes(number: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0] = 1;
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// Each page, the first and a late one, reads one row more of one index than it shows.
pub(crate) async fn are_ranges_of_an_index(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let limit = PageLimit::new(25).unwrap();
    let every = LinkFilter::default();
    let group = GroupFilter::In(Id::from_bytes(bytes(1)));
    let domain = Site::Custom(Hostname::parse("links.example.net").unwrap());
    let inactive = LinkFilter { is_active: Some(false), ..every.clone() };
    let on_system = LinkFilter { site: Some(Site::System), ..every.clone() };
    for (filter, index) in [
        (every.clone(), "links_of_account"),
        (inactive.clone(), "links_of_activity"),
        (LinkFilter { group, ..every.clone() }, "links_of_group"),
        (LinkFilter { group: GroupFilter::Ungrouped, ..every.clone() }, "links_without_group"),
        (LinkFilter { site: Some(domain), ..every.clone() }, "links_of_host"),
        (LinkFilter { has_password: Some(true), ..every.clone() }, "links_with_password"),
    ] {
        for after in [None, Some(PagePosition::behind(bytes(12_000)))] {
            // Repeated, because PostgreSQL may choose another plan from the sixth run on.
            for _ in 0..8 {
                let plans = subject
                    .plans(async {
                        let page = store.links(*account, LinkKind::Redirect, &filter, limit, after);
                        assert_eq!(page.await.unwrap().items.len(), 25, "{filter:?}");
                    })
                    .await;
                assert!(plans.contains(&format!("using {index} on links")), "{filter:?} {after:?}: {plans}");
                for wrong in ["Seq Scan", "Sort", "Bitmap", "Filter:"] {
                    assert!(!plans.contains(wrong), "{filter:?} {after:?}: {plans}");
                }
                let is_for_any = plans.contains(LOOKS_AT_NO_VALUES);
                assert!(is_for_any, "{filter:?} {after:?} has no generic plan: {plans}");
            }
        }
    }
    by_slug(subject).await;
    // Of several filters, the narrowest chooses the range, and the others filter its rows.
    let active = LinkFilter { is_active: Some(true), ..every.clone() };
    for (filter, index) in [
        (LinkFilter { is_active: Some(false), ..on_system.clone() }, "links_of_activity"),
        (LinkFilter { is_active: Some(true), ..on_system.clone() }, "links_of_host"),
        (LinkFilter { group, ..on_system }, "links_of_group"),
        (LinkFilter { group, ..inactive.clone() }, "links_of_group"),
        (LinkFilter { group, ..active.clone() }, "links_of_group"),
        (LinkFilter { group: GroupFilter::Ungrouped, ..active.clone() }, "links_of_activity"),
        (LinkFilter { has_password: Some(true), ..active.clone() }, "links_of_activity"),
        (LinkFilter { has_password: Some(false), ..active }, "links_of_activity"),
        (LinkFilter { has_password: Some(false), ..every }, "links_of_account"),
    ] {
        for after in [None, Some(PagePosition::behind(bytes(39_000)))] {
            for _ in 0..8 {
                let plans = subject
                    .plans(async {
                        let page = store.links(*account, LinkKind::Redirect, &filter, limit, after);
                        assert!(!page.await.unwrap().items.is_empty(), "{filter:?}");
                    })
                    .await;
                assert!(plans.contains(&format!("using {index} on links")), "{filter:?} {after:?}: {plans}");
                for wrong in ["Seq Scan", "Sort", "Bitmap"] {
                    assert!(!plans.contains(wrong), "{filter:?} {after:?}: {plans}");
                }
            }
        }
    }
}

/// A slug is a range of its index, with any other filters. With a site it is an address, which is one row, and so is an
/// external id.
async fn by_slug(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let limit = PageLimit::new(25).unwrap();
    // On the system domain, in the group, and active.
    let slug = LinkFilter { slug: Some(Slug::parse("s1041").unwrap()), ..LinkFilter::default() };
    let address = LinkFilter { site: Some(Site::System), ..slug.clone() };
    let external_id = ExternalId::parse("1").ok();
    let external = LinkFilter { external_id, ..LinkFilter::default() };
    for (filter, index) in
        [(slug, "links_of_slug"), (address, "links_address"), (external, "links_of_external_id")]
    {
        for group in [GroupFilter::Any, GroupFilter::In(Id::from_bytes(bytes(2)))] {
            for is_active in [None, Some(true)] {
                let filter = LinkFilter { group, is_active, ..filter.clone() };
                for after in [None, Some(PagePosition::behind(bytes(12_000)))] {
                    for _ in 0..8 {
                        let plans = subject
                            .plans(async {
                                let page = store.links(*account, LinkKind::Redirect, &filter, limit, after);
                                page.await.unwrap();
                            })
                            .await;
                        let uses = plans.contains(&format!("using {index} on links"));
                        assert!(uses, "{filter:?} {after:?}: {plans}");
                        for wrong in ["Seq Scan", "Sort", "Bitmap"] {
                            assert!(!plans.contains(wrong), "{filter:?} {after:?}: {plans}");
                        }
                    }
                }
            }
        }
    }
}
