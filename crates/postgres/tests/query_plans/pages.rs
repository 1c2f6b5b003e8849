//! The lists of links.

use signpost_app::ports::LinkReads;
use signpost_domain::{
    AccountId, GroupFilter, Hostname, Id, LinkFilter, LinkKind, PageLimit, PagePosition, Site,
};
use signpost_test_servers::postgres::PostgresDatabase;

use super::Subject;

/// The bytes of all ids of the first account, but for the last four.
const BEFORE: &str = "0100000000000000000000";

/// How many links the account of the test has, and as many another.
const LINKS: u32 = 20_000;

/// Two accounts with many links. Of the first's, each hundredth is inactive, each fifth in the one group, and each second
/// on a domain of its own.
pub(crate) fn fill(database: &PostgresDatabase) -> AccountId {
    let hex = |number: &str| format!("('{BEFORE}' || lpad(to_hex({number}), 10, '0'))::uuid");
    let id = hex("n");
    database.run(&format!(
        "INSERT INTO accounts (id, email, email_key, plan, created_at, links_count, groups_count) \
         SELECT {}, n || '@example.com', n || '@example.com', 'agency', '2026-01-01', {LINKS}, 1 \
         FROM generate_series(1, 2) AS n; \
         INSERT INTO groups SELECT id, id, 'A', 0, {LINKS} / 5, '2026-01-01', '2026-01-01' FROM accounts; \
         INSERT INTO links SELECT {id}, {}, 1, 'a name', \
         CASE n / 2 % 2 WHEN 0 THEN '' ELSE 'links.example.net' END, 's' || n, n / 2 % 100 <> 0, NULL, \
         CASE WHEN n / 2 % 5 = 0 THEN {} END, true, '2026-01-01', '2026-01-01', 'https://example.com/', false, '', \
         'a name' || chr(31) || 's' || n || chr(31) || 'https://example.com/' \
         FROM generate_series(10, {LINKS} * 2 + 9) AS n; \
         ANALYZE",
        hex("n"),
        hex("n % 2 + 1"),
        hex("n % 2 + 1"),
    ));
    Id::from_bytes(bytes(1))
}

fn bytes(number: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0] = 1;
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// Each page, the first and a late one, reads as many rows of one index as it shows, and one more.
pub(crate) async fn are_ranges_of_an_index(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let limit = PageLimit::new(25).unwrap();
    let every = LinkFilter::default();
    let domain = Site::Custom(Hostname::parse("links.example.net").unwrap());
    for (filter, index) in [
        (every.clone(), "links_of_account"),
        (LinkFilter { is_active: Some(false), ..every.clone() }, "links_of_activity"),
        (LinkFilter { group: GroupFilter::In(Id::from_bytes(bytes(1))), ..every.clone() }, "links_of_group"),
        (LinkFilter { group: GroupFilter::Ungrouped, ..every.clone() }, "links_without_group"),
        (LinkFilter { site: Some(domain), ..every.clone() }, "links_of_host"),
    ] {
        for after in [None, Some(PagePosition::behind(bytes(12_000)))] {
            // From the sixth time on a plan may be one that does not look at the values.
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
            }
        }
    }
}
