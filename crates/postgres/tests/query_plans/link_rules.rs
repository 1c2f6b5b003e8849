//! The lists of links with rules (D126).

use signpost_app::ports::LinkReads;
use signpost_domain::{
    AccountId, GroupFilter, Id, LinkFilter, LinkKind, PageLimit, PagePosition, Site, TargetHost,
};
use signpost_postgres::migrate;
use signpost_test_servers::postgres::{PostgresDatabase, PostgresServer};

use super::{Subject, log_plans};

/// How many links the account has; one in two hundred has rules.
const LINKS: u32 = 20_000;

/// An id; its first byte tells the kind of thing.
fn bytes(kind: u8, number: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0] = kind;
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    bytes
}

fn fill(database: &PostgresDatabase) {
    let id = |kind: u8, number: &str| format!("('{kind:02x}' || lpad(to_hex({number}), 30, '0'))::uuid");
    let behaviour = format!(
        "{{\"rules\":{{\"key\":\"{}\",\"list\":[{{\"id\":\"rul_{}\",\"conditions\":[],\"target_url\":\"https://example.net/\"}}]}}}}",
        "0".repeat(32),
        "0".repeat(32),
    );
    database.run(&format!(
        "INSERT INTO accounts (id, email, email_key, plan, created_at) SELECT {account}, n || '@example.com', \
         n || '@example.com', 'agency', '2026-01-01' FROM generate_series(1, 1) AS n; \
         ALTER TABLE links DISABLE TRIGGER ALL; \
         INSERT INTO links (id, account_id, kind, name, host, slug, is_active, analytics_enabled, created_at, updated_at, \
         target_url, antibot_enabled, geo_blocklist, search_key, behaviour, has_rules) \
         SELECT {link}, {owner}, 1, 'a name', '', 's' || n, n % 50 <> 0, true, '2026-01-01', '2026-01-01', \
         'https://example.com/' || n, false, '', 'a name', CASE WHEN n % 200 = 0 THEN '{behaviour}' END, n % 200 = 0 \
         FROM generate_series(1, {LINKS}) AS n; ALTER TABLE links ENABLE TRIGGER ALL; ANALYZE",
        account = id(1, "n"),
        link = id(3, "n"),
        owner = id(1, "1"),
    ));
}

/// Few links have rules, so they are the range, unless a group or a slug is narrower.
pub(crate) async fn are_a_range_of_an_index(server: &'static PostgresServer) {
    let database = server.database(None);
    migrate(&database.url()).await.unwrap();
    fill(&database);
    log_plans(server, &database);
    let account: AccountId = Id::from_bytes(bytes(1, 1));
    let subject = Subject::connect(server, &database, account).await;
    let ruled = LinkFilter { has_rules: Some(true), ..LinkFilter::default() };
    let target_host = TargetHost::parse("example.com").ok();
    for (filter, index) in [
        (ruled.clone(), "links_with_rules"),
        (LinkFilter { is_active: Some(true), ..ruled.clone() }, "links_with_rules"),
        (LinkFilter { site: Some(Site::System), ..ruled.clone() }, "links_with_rules"),
        (LinkFilter { group: GroupFilter::Ungrouped, ..ruled.clone() }, "links_with_rules"),
        (LinkFilter { target_host, ..ruled.clone() }, "links_with_rules"),
        (LinkFilter { group: GroupFilter::In(Id::from_bytes(bytes(2, 1))), ..ruled }, "links_of_group"),
        (LinkFilter { has_rules: Some(false), ..LinkFilter::default() }, "links_of_account"),
    ] {
        for after in [None, Some(PagePosition::behind(bytes(3, LINKS / 2)))] {
            // PostgreSQL may choose another plan from the sixth run on.
            for _ in 0..8 {
                let list =
                    subject.store.links(account, LinkKind::Redirect, &filter, PageLimit::default(), after);
                let plans = subject.plans(async { drop(list.await.unwrap()) }).await;
                assert!(plans.contains(&format!("using {index} on links")), "{filter:?} {after:?}: {plans}");
                for wrong in ["Seq Scan", "Sort", "Bitmap"] {
                    assert!(!plans.contains(wrong), "{filter:?} {after:?}: {plans}");
                }
            }
        }
    }
}
