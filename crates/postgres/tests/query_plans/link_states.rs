//! The lists of links in some states (D126).

use signpost_domain::{
    AccountId, GroupFilter, Id, LinkFilter, LinkStates, PageLimit, Site, StateFilter, TargetHost, Timestamp,
};
use signpost_postgres::migrate;
use signpost_test_servers::postgres::{PostgresDatabase, PostgresServer};

use super::target_hosts::{FEW_BUFFERS, LINKS, buffers, bytes, log_buffers, plan_of};
use super::{Subject, log_plans};

/// One link in fifty is inactive, one in forty has no domain, one in two hundred starts later, and one in three hundred has ended. The
/// second account has links of one state only.
fn fill(database: &PostgresDatabase) {
    let id = |kind: u8, number: &str| format!("('{kind:02x}' || lpad(to_hex({number}), 30, '0'))::uuid");
    let links = |account: &str, from: u32, to: u32, host: &str, start: &str, end: &str| {
        format!(
            "INSERT INTO links (id, account_id, kind, name, host, slug, is_active, analytics_enabled, created_at, updated_at, target_url, \
             search_key, starts_at, expires_at) SELECT {}, {}, 1, 'a name', {host}, 's' || n, n % 50 <> 0 OR {account} = 2, true, \
             '2026-01-01', '2026-01-01', 'https://example.com/' || n, 'a name', {start}::timestamptz, {end}::timestamptz \
             FROM generate_series({from}, {to}) AS n; ",
            id(3, "n"),
            id(1, account),
        )
    };
    database.run(&format!(
        "INSERT INTO accounts (id, email, email_key, plan, created_at) SELECT {}, n || '@example.com', n || '@example.com', \
         'agency', '2026-01-01' FROM generate_series(1, 2) AS n; \
         ALTER TABLE links DISABLE TRIGGER ALL; {} {} ALTER TABLE links ENABLE TRIGGER ALL; ANALYZE",
        id(1, "n"),
        links(
            "1",
            1,
            LINKS,
            "CASE WHEN n % 40 = 3 THEN NULL WHEN n % 3 = 0 THEN 'links.example.net' ELSE '' END",
            "CASE WHEN n % 200 = 1 THEN '2036-01-01' END",
            "CASE WHEN n % 300 = 2 THEN '2026-01-02' END",
        ),
        links("2", LINKS + 1, LINKS + LINKS / 10, "''", "NULL", "NULL"),
    ));
}

pub(crate) fn in_states(text: &str) -> LinkFilter {
    let at = Timestamp::parse("2026-06-01T00:00:00Z").unwrap();
    let state = StateFilter { states: LinkStates::parse(text).unwrap(), at };
    LinkFilter { state: Some(state), ..LinkFilter::default() }
}

/// States select the narrowest range that has all of their links, unless a narrower filter selects another one.
pub(crate) async fn are_ranges_of_an_index(server: &'static PostgresServer) {
    let database = server.database(None);
    migrate(&database.url()).await.unwrap();
    fill(&database);
    log_plans(server, &database);
    log_buffers(server, &database);
    let account: AccountId = Id::from_bytes(bytes(1, 1));
    let mut subject = Subject::connect(server, &database, account).await;
    let target_host = TargetHost::parse("example.com").ok();
    let default = PageLimit::default();
    for (filter, index) in [
        (in_states("lost"), "links_of_host"),
        (in_states("inactive"), "links_of_activity"),
        (in_states("scheduled"), "links_with_dates"),
        (in_states("expired"), "links_with_dates"),
        (in_states("expired,scheduled"), "links_with_dates"),
        (in_states("active"), "links_of_activity"),
        (in_states("exhausted,domain_inactive"), "links_of_activity"),
        (in_states("lost,active"), "links_of_account"),
        (LinkFilter { is_active: Some(true), ..in_states("lost") }, "links_of_host"),
        (LinkFilter { is_active: Some(false), ..in_states("active") }, "links_of_activity"),
        (LinkFilter { is_active: Some(true), ..in_states("expired") }, "links_with_dates"),
        (LinkFilter { site: Some(Site::System), ..in_states("expired") }, "links_with_dates"),
        (LinkFilter { group: GroupFilter::Ungrouped, ..in_states("expired") }, "links_with_dates"),
        (LinkFilter { site: Some(Site::System), ..in_states("active") }, "links_of_host"),
        (LinkFilter { target_host, ..in_states("expired") }, "links_of_target_2"),
    ] {
        plan_of(&subject, &filter, default, index).await;
    }
    plan_of(&subject, &in_states("lost"), PageLimit::OF_UNIT_OF_WORK, "links_of_host").await;
    // An account without such links reads next to nothing, however many links it has.
    subject.account = Id::from_bytes(bytes(1, 2));
    for (states, index) in [("lost", "links_of_host"), ("scheduled,expired", "links_with_dates")] {
        let plan = plan_of(&subject, &in_states(states), default, index).await;
        assert!(buffers(&plan) <= FEW_BUFFERS, "{states}: {plan}");
    }
}
