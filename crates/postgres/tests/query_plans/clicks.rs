//! Clicks.

use std::time::{Duration, Instant};

use signpost_app::ports::{ClickStore, Upkeep};
use signpost_domain::analytics::{
    Buckets, ClickSelection, Dimension, LinkScope, Period, Question, UtcDay, VisitorKey,
};
use signpost_port_contracts::click_samples::{ClickedLink, at};
use signpost_postgres::PostgresStore;
use signpost_test_servers::postgres::PostgresDatabase;

use super::{Subject, recorder};

/// Many accounts with many days, whose clicks nothing here asks for.
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
         ANALYZE click_days, click_segments, click_digests, last_clicks, forgotten_clicks, click_sources"
    ));
}

/// Everything that can become of clicks.
async fn exercise(store: &PostgresStore) {
    let clicked = ClickedLink::new();
    let ClickedLink { account, link } = clicked;
    let later = at(86_400_000 * 9);
    let day = UtcDay::of(later);
    let period = Period::new(at(-86_400_000), later).unwrap();
    let selection = ClickSelection { account, scope: LinkScope::One(link), period, filters: Vec::new() };
    let question = Question {
        selection: selection.clone(),
        buckets: Buckets::new(vec![period.first()]).unwrap(),
        dimensions: vec![Dimension::Country],
        limit: 10,
    };
    let deadline = || Instant::now() + Duration::from_mins(1);
    store.visitor_key(day, VisitorKey([1; 32])).await.unwrap();
    for number in 1..=4 {
        store.append(&clicked.batch(number)).await.unwrap();
        store.answer(&question, deadline()).await.unwrap();
        while store.pack(later).await.unwrap() == Upkeep::More {}
        while store.digest(later).await.unwrap() == Upkeep::More {}
        store.answer(&question, deadline()).await.unwrap();
        store.clicks(&selection, None, 10, deadline()).await.unwrap();
        store.recent_clicks(account, &[link], at(0)).await.unwrap();
    }
    while store.seal(later).await.unwrap() == Upkeep::More {}
    store.append(&clicked.batch(5)).await.unwrap();
    while store.pack(later).await.unwrap() == Upkeep::More {}
    store.accounts_with_clicks_before(day, None, 1).await.unwrap();
    while store.forget_clicks(account, Some(day)).await.unwrap() == Upkeep::More {}
    while store.forget_clicks(account, None).await.unwrap() == Upkeep::More {}
}

/// Only the inbox is read through: it holds what came within a minute. Appending is one statement.
pub(crate) async fn are_found_by_indexes(subject: &Subject) {
    let Subject { store, .. } = subject;
    let clicked = ClickedLink::new();
    let mut first = clicked.batch(1);
    first.source.0 = [7; 16];
    let (statements, appended) = recorder::recorded(store.append(&first)).await;
    appended.unwrap();
    assert_eq!(statements.len(), 1, "{statements:#?}");
    let plans = subject.plans(exercise(store)).await;
    for table in
        ["click_sources", "click_days", "click_segments", "click_digests", "last_clicks", "forgotten_clicks"]
    {
        assert!(plans.contains(table), "{table}");
        assert!(!plans.contains(&format!("Seq Scan on {table}")), "{table}: {plans}");
    }
}
