//! Clicks, in their own file.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use diesel::prelude::*;
use signpost_app::ports::{ClickStore, Upkeep};
use signpost_domain::analytics::{
    Buckets, ClickSelection, Dimension, LinkScope, Period, Question, UtcDay, VisitorKey,
};
use signpost_port_contracts::click_samples::{ClickedLink, at};
use signpost_sqlite::{DatabaseFile, SqliteClickStore, SqliteOptions};

use super::{plan, recorder};

/// Everything that can become of clicks.
async fn exercise(store: &SqliteClickStore) {
    let ClickedLink { account, link } = ClickedLink::new();
    let clicked = ClickedLink { account, link };
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
    store.forget_visitor_keys(day.plus(1)).await.unwrap();
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
    store.accounts_with_clicks_before(day, None, 10).await.unwrap();
    while store.forget_clicks(account, Some(day)).await.unwrap() == Upkeep::More {}
    while store.forget_clicks(account, None).await.unwrap() == Upkeep::More {}
}

/// Only the inbox is read through: it holds what came within a minute.
pub(crate) async fn are_found_by_account_and_day(folder: &Path) {
    let file = DatabaseFile::at(folder.join("other.db")).unwrap();
    let store = SqliteClickStore::open(&file, &SqliteOptions::default()).unwrap();
    let mut connection = SqliteConnection::establish(file.of_clicks().path().to_str().unwrap()).unwrap();
    let (statements, ()) = recorder::recorded(exercise(&store)).await;
    let different: BTreeSet<String> = statements.into_iter().collect();
    let mut planned = 0;
    for statement in different {
        if recorder::is_steering(&statement) || statement.starts_with("PRAGMA") {
            continue;
        }
        planned += 1;
        let plan = plan(&mut connection, &statement);
        let reads_through =
            plan.lines().any(|step| step.starts_with("SCAN") && !step.starts_with("SCAN click_batches"));
        let helps_itself = plan.contains("TEMP B-TREE") || plan.contains("AUTOMATIC");
        assert!(!reads_through && !helps_itself, "{statement}\n{plan}");
    }
    assert!(planned > 30, "{planned}");
}
