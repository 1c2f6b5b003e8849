//! Lists whose columns and tests cost PostgreSQL's planner more than the rows, in pages of every size (ADR 17).

use signpost_domain::{
    AccountId, GroupFilter, Id, InstantRange, LinkFilter, PageLimit, SearchText, Site, TargetHost, Timestamp,
};
use signpost_postgres::migrate;
use signpost_test_servers::postgres::{PostgresDatabase, PostgresServer};

use super::link_states::in_states;
use super::tags::filter as tagged;
use super::target_hosts::{bytes, plan_of};
use super::{Subject, log_plans};

/// How many links the account has; another one has a fifth.
const LINKS: u32 = 50_000;

/// The rows are not in the order of any index, and so wide that a page of the table has few. One link in fifty is inactive, and half have
/// the tag.
fn fill(database: &PostgresDatabase) {
    let id = |kind: u8, number: &str| format!("('{kind:02x}' || lpad(to_hex({number}), 30, '0'))::uuid");
    database.run(&format!(
        "INSERT INTO accounts (id, email, email_key, plan, created_at) SELECT {account}, n || '@example.com', n || '@example.com', \
         'agency', '2026-01-01' FROM generate_series(1, 2) AS n; \
         INSERT INTO tags SELECT {tag}, {account}, 'Half', 'half', now() FROM generate_series(1, 2) AS n; \
         ALTER TABLE links DISABLE TRIGGER ALL; ALTER TABLE link_tags DISABLE TRIGGER ALL; \
         INSERT INTO links (id, account_id, kind, name, host, slug, is_active, analytics_enabled, created_at, updated_at, target_url, \
         search_key) SELECT {link}, {owner}, 1, 'a name', '', 's' || n, n % 50 <> 0, true, '2026-01-01', '2026-01-01', \
         'https://example.com/' || n || repeat('x', 400), 'a name' || repeat('y', 400) FROM generate_series(1, {all}) AS n \
         ORDER BY md5(n::text); \
         INSERT INTO link_tags SELECT {tag_of_link}, {link} FROM generate_series(1, {all}, 2) AS n; \
         ALTER TABLE link_tags ENABLE TRIGGER ALL; ALTER TABLE links ENABLE TRIGGER ALL; ANALYZE",
        account = id(1, "n"),
        tag = id(2, "n"),
        link = id(3, "n"),
        owner = id(1, &format!("1 + n / {}", LINKS + 1)),
        tag_of_link = id(2, &format!("1 + n / {}", LINKS + 1)),
        all = LINKS + LINKS / 5,
    ));
}

/// A page walks the index of its range and sorts nothing, whatever its tests cost, for callers and for a unit of work.
pub(crate) async fn read_only_their_range(server: &'static PostgresServer) {
    let database = server.database(None);
    migrate(&database.url()).await.unwrap();
    fill(&database);
    log_plans(server, &database);
    let account: AccountId = Id::from_bytes(bytes(1, 1));
    let subject = Subject::connect(server, &database, account).await;
    let half = || tagged(&["half"], &[], &[]);
    let active = in_states("active");
    let is_active = Some(true);
    let search = SearchText::parse("a name").ok();
    let since = InstantRange { from: Timestamp::parse("2020-01-01T00:00:00Z").ok(), to: None };
    let target_host = TargetHost::parse("example.com").ok();
    for (filter, index) in [
        (active.clone(), "links_of_activity"),
        (LinkFilter { is_active, ..half() }, "links_of_activity"),
        (LinkFilter { tags: half().tags, search, created: since, ..active.clone() }, "links_of_activity"),
        (LinkFilter { site: Some(Site::System), ..active.clone() }, "links_of_host"),
        (LinkFilter { target_host, ..active }, "links_of_target_2"),
        (tagged(&["half", "other"], &[], &[]), "links_of_account"),
        (LinkFilter { group: GroupFilter::Ungrouped, ..half() }, "links_without_group"),
        (LinkFilter { is_active, ..LinkFilter::default() }, "links_of_activity"),
    ] {
        for limit in [PageLimit::MAX, PageLimit::OF_UNIT_OF_WORK] {
            plan_of(&subject, &filter, limit, index).await;
        }
    }
}
