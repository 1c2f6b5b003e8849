//! Clicks.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use signpost_app::ports::{ClickStore, LinkReads, Upkeep};
use signpost_domain::analytics::{
    Buckets, ClickSelection, Dimension, LinkScope, Period, PlannedDeletion, Question, UtcDay, VisitorKey,
};
use signpost_domain::{GroupFilter, Hostname, Id, LinkKind, Site};
use signpost_port_contracts::click_samples::{ClickedLink, at};
use signpost_port_contracts::samples;
use signpost_postgres::PostgresStore;
use signpost_test_servers::postgres::PostgresDatabase;

use super::{Subject, own, pages, recorder};

/// Many accounts with many days, whose clicks no test asks for.
pub(crate) fn fill(database: &PostgresDatabase) {
    let days = UtcDay::of(at(0)).number();
    database.run(&format!(
        "CREATE TEMP TABLE others AS SELECT gen_random_uuid() AS id FROM generate_series(1, 200); \
         INSERT INTO click_days SELECT id, day, 0, true, true FROM others, generate_series({days} - 200, {days}) AS day; \
         INSERT INTO click_segments (account_id, day, sealed, first_link, last_link, clicks, data) \
         SELECT id, day, true, id, id, 1, '' FROM others, generate_series({days} - 200, {days}) AS day; \
         INSERT INTO click_digests SELECT id, day, id, '' FROM others, generate_series({days} - 200, {days}) AS day; \
         INSERT INTO last_clicks SELECT id, gen_random_uuid(), now() FROM others, generate_series(1, 200); \
         INSERT INTO forgotten_clicks SELECT gen_random_uuid(), 0 FROM generate_series(1, 20000); \
         INSERT INTO click_sources SELECT gen_random_uuid(), 1, now() FROM generate_series(1, 20000); \
         INSERT INTO planned_click_deletions SELECT gen_random_uuid(), 0, 0 FROM generate_series(1, 20000); \
         ANALYZE click_days, click_segments, click_digests, last_clicks, forgotten_clicks, click_sources, \
         planned_click_deletions"
    ));
    // As autovacuum does: index-only scans need pages that are marked visible to all transactions.
    database.run("VACUUM links");
}

/// A question and an export of each selection.
async fn ask(store: &PostgresStore, selections: &[ClickSelection]) {
    let deadline = || Instant::now() + Duration::from_mins(1);
    for selection in selections {
        let question = Question {
            selection: selection.clone(),
            buckets: Buckets::new(vec![selection.period.first()]).unwrap(),
            dimensions: vec![Dimension::Country],
            limit: 10,
        };
        store.answer(&question, deadline()).await.unwrap();
        store.clicks(selection, None, 10, deadline()).await.unwrap();
    }
}

/// Every operation on clicks.
async fn exercise(store: &PostgresStore) {
    let clicked = ClickedLink::new();
    let ClickedLink { account, link } = clicked;
    let later = at(86_400_000 * 9);
    let day = UtcDay::of(later);
    let period = Period::new(at(-86_400_000), later).unwrap();
    let several = BTreeSet::from([link, samples::link(LinkKind::Landing, "other").id()]);
    let scopes = [LinkScope::One(link), LinkScope::Some(several), LinkScope::All];
    let selections = scopes.map(|scope| ClickSelection { account, scope, period, filters: Vec::new() });
    store.visitor_key(day, VisitorKey([1; 32])).await.unwrap();
    for number in 1..=4 {
        store.append(&clicked.batch(number)).await.unwrap();
        ask(store, &selections).await;
        while store.pack(later).await.unwrap().upkeep == Upkeep::More {}
        while store.digest(later).await.unwrap() == Upkeep::More {}
        ask(store, &selections).await;
        store.recent_clicks(account, &[link], at(0)).await.unwrap();
    }
    while store.seal(later).await.unwrap() == Upkeep::More {}
    store.append(&clicked.batch(5)).await.unwrap();
    while store.pack(later).await.unwrap().upkeep == Upkeep::More {}
    store.accounts_with_clicks_before(day, None, 1).await.unwrap();
    store.old_clicks(account, day).await.unwrap();
    for planned in [None, Some(PlannedDeletion::new(day)), None] {
        store.plan_deletion(account, planned).await.unwrap();
        assert_eq!(store.planned_deletion(account).await.unwrap(), planned);
    }
    store.today(later).await.unwrap();
    while store.forget_clicks(account, Some(day)).await.unwrap() == Upkeep::More {}
    while store.forget_clicks(account, None).await.unwrap() == Upkeep::More {}
}

/// Only the inbox is scanned: it holds the clicks of about a minute. Appending is one statement.
pub(crate) async fn are_found_by_indexes(subject: &Subject) {
    let Subject { store, .. } = subject;
    let clicked = ClickedLink::new();
    let mut first = clicked.batch(1);
    first.source.0 = [7; 16];
    let (statements, appended) = recorder::recorded(store.append(&first)).await;
    appended.unwrap();
    assert_eq!(statements.len(), 1, "{statements:#?}");
    let plans = subject.plans(exercise(store)).await;
    for table in [
        "click_sources",
        "click_days",
        "click_segments",
        "click_digests",
        "last_clicks",
        "forgotten_clicks",
        "planned_click_deletions",
    ] {
        assert!(plans.contains(table), "{table}");
        assert!(!plans.contains(&format!("Seq Scan on {table}")), "{table}: {plans}");
    }
}

/// A question may cover many links of a group or a domain. An index-only scan finds them.
pub(crate) async fn links_of_a_question_are_a_range_of_an_index(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let group = GroupFilter::In(Id::from_bytes(pages::bytes(1)));
    let domain = Site::Custom(Hostname::parse("links.example.net").unwrap());
    for (group, site, links, index) in [
        (group, None, 4_000, "links_of_group"),
        (GroupFilter::Any, Some(&domain), 10_000, "links_of_host"),
        (group, Some(&domain), 2_000, "links_of_group"),
    ] {
        // Repeated, because PostgreSQL may choose another plan from the sixth run on.
        for _ in 0..8 {
            let plans = subject
                .plans(async {
                    let (statements, ids) =
                        recorder::recorded(store.link_ids(*account, group, site, 1_000_000)).await;
                    assert!(own(&statements) == 1 && ids.unwrap().len() >= links, "{group:?} {site:?}");
                })
                .await;
            assert!(plans.contains(&format!("{index} ")), "{group:?} {site:?}: {plans}");
            for wrong in ["Seq Scan on links", "Sort"] {
                assert!(!plans.contains(wrong), "{group:?} {site:?}: {plans}");
            }
        }
    }
}
