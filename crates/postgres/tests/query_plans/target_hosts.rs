//! The lists of redirects to a host (D126).

use signpost_app::ports::LinkReads;
use signpost_domain::{
    AccountId, GroupFilter, Id, LinkFilter, LinkKind, PageLimit, PagePosition, Site, TargetHost,
};
use signpost_postgres::migrate;
use signpost_test_servers::postgres::{PostgresDatabase, PostgresServer};

use super::{Subject, log_plans};

/// How many links the first account has. The second one has a tenth.
pub(crate) const LINKS: u32 = 40_000;

/// The most pages of tables and indexes that a list without links may read.
pub(crate) const FEW_BUFFERS: u32 = 20;

/// An id; its first byte tells the kind of thing.
pub(crate) fn bytes(kind: u8, number: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0] = kind;
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// A quarter of the links each is to a host, to one of 500 others under a common one, to one of seven labels, and to one under the first.
fn fill(database: &PostgresDatabase) {
    let id = |kind: u8, number: &str| format!("('{kind:02x}' || lpad(to_hex({number}), 30, '0'))::uuid");
    let host = "CASE n % 4 WHEN 0 THEN 'Example.com' WHEN 1 THEN 'h' || n / 4 % 500 || '.example.org' \
        WHEN 2 THEN 'a.b.c.d.e.example.net:8443' ELSE 'www.example.com.' END";
    let links = |account: &str, from: u32, to: u32| {
        format!(
            "INSERT INTO links SELECT {}, {}, 1, 'a name', '', 's' || n, n % 50 <> 0, NULL, NULL, true, '2026-01-01', \
             '2026-01-01', 'https://' || {host} || '/' || n, false, '', 'a name' FROM generate_series({from}, {to}) AS n; ",
            id(3, "n"),
            id(1, account),
        )
    };
    database.run(&format!(
        "INSERT INTO accounts (id, email, email_key, plan, created_at) SELECT {}, n || '@example.com', n || '@example.com', \
         'agency', '2026-01-01' FROM generate_series(1, 2) AS n; \
         ALTER TABLE links DISABLE TRIGGER ALL; {} {} ALTER TABLE links ENABLE TRIGGER ALL; ANALYZE",
        id(1, "n"),
        links("1", 1, LINKS),
        links("2", LINKS + 1, LINKS + LINKS / 10),
    ));
}

pub(crate) async fn are_ranges_of_an_index(server: &'static PostgresServer) {
    let database = server.database(None);
    migrate(&database.url()).await.unwrap();
    fill(&database);
    log_plans(server, &database);
    log_buffers(server, &database);
    let account: AccountId = Id::from_bytes(bytes(1, 1));
    let mut subject = Subject::connect(server, &database, account).await;
    alone(&subject).await;
    beside_other_filters(&subject).await;
    subject.account = Id::from_bytes(bytes(1, 2));
    plan_of(&subject, &by_host("example.com"), PageLimit::default(), "links_of_target_2").await;
}

/// Makes the plans in the log tell how many buffers they used.
pub(crate) fn log_buffers(server: &PostgresServer, database: &PostgresDatabase) {
    server.run(
        "postgres",
        &format!(
            "ALTER DATABASE {0} SET auto_explain.log_analyze = on; ALTER DATABASE {0} SET auto_explain.log_buffers = on",
            database.name()
        ),
    );
}

fn by_host(text: &str) -> LinkFilter {
    LinkFilter { target_host: Some(TargetHost::parse(text).unwrap()), ..LinkFilter::default() }
}

/// Reads the first page and a later one, and asserts which index is walked. A page is read several times, because PostgreSQL may
/// choose another plan from the sixth run on. Returns the last plan.
pub(crate) async fn plan_of(subject: &Subject, filter: &LinkFilter, limit: PageLimit, index: &str) -> String {
    let Subject { store, account, .. } = subject;
    let mut last = String::new();
    for after in [None, Some(PagePosition::behind(bytes(3, LINKS / 2)))] {
        for _ in 0..8 {
            let plans = subject
                .plans(async {
                    store.links(*account, LinkKind::Redirect, filter, limit, after).await.unwrap();
                })
                .await;
            assert!(plans.contains(&format!("using {index} on links")), "{filter:?} {after:?}: {plans}");
            for wrong in ["Seq Scan", "Sort", "Bitmap"] {
                assert!(!plans.contains(wrong), "{filter:?} {after:?}: {plans}");
            }
            last = plans;
        }
    }
    last
}

/// How many buffers the plan used, with those of the steps below.
pub(crate) fn buffers(plan: &str) -> u32 {
    let (_, numbers) = plan.split_once("Buffers: shared").unwrap_or_else(|| panic!("no buffers: {plan}"));
    let numbers = numbers.lines().next().unwrap().split(' ');
    let of = |part: &str| part.strip_prefix("hit=").or_else(|| part.strip_prefix("read=")).map(str::to_owned);
    numbers.filter_map(of).map(|number| number.parse::<u32>().unwrap()).sum()
}

/// The number of labels chooses the index. A host without links costs next to nothing, whatever the account has.
async fn alone(subject: &Subject) {
    for (host, index) in [
        ("example.com", "links_of_target_2"),
        ("h7.example.org", "links_of_target_3"),
        ("d.e.example.net", "links_of_target_4"),
        ("c.d.e.example.net", "links_of_target_5"),
        ("a.b.c.d.e.example.net", "links_of_target_5"),
        ("com", "links_of_account"),
    ] {
        plan_of(subject, &by_host(host), PageLimit::default(), index).await;
    }
    let of_unit_of_work = PageLimit::OF_UNIT_OF_WORK;
    plan_of(subject, &by_host("example.com"), of_unit_of_work, "links_of_target_2").await;
    for host in ["nowhere.example", "aa.example.com", "x.d.e.example.net"] {
        let labels = TargetHost::parse(host).unwrap().indexed_end().unwrap().labels;
        let index = format!("links_of_target_{labels}");
        let plan = plan_of(subject, &by_host(host), PageLimit::default(), &index).await;
        assert!(buffers(&plan) <= FEW_BUFFERS, "{host}: {plan}");
    }
}

/// Of several filters, the narrowest chooses the range.
async fn beside_other_filters(subject: &Subject) {
    let by_host = by_host("example.com");
    for (filter, index) in [
        (LinkFilter { is_active: Some(true), ..by_host.clone() }, "links_of_target_2"),
        (LinkFilter { site: Some(Site::System), ..by_host.clone() }, "links_of_target_2"),
        (LinkFilter { group: GroupFilter::Ungrouped, ..by_host.clone() }, "links_of_target_2"),
        (LinkFilter { is_active: Some(false), ..by_host }, "links_of_activity"),
    ] {
        plan_of(subject, &filter, PageLimit::default(), index).await;
    }
}
