//! Clicks, in their own file.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use diesel::prelude::*;
use signpost_app::ports::{ClickStore, LinkReads, Upkeep};
use signpost_domain::analytics::{
    Buckets, ClickSelection, Dimension, LinkScope, Period, PlannedDeletion, Question, UtcDay, VisitorKey,
};
use signpost_domain::{GroupFilter, LinkKind, Site};
use signpost_port_contracts::click_samples::{ClickedLink, at};
use signpost_port_contracts::samples;
use signpost_sqlite::{DatabaseFile, SqliteClickStore};

use super::{Subject, options, plan, recorder};

/// A question and an export of each selection.
async fn ask(store: &SqliteClickStore, selections: &[ClickSelection]) {
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
async fn exercise(store: &SqliteClickStore) {
    let ClickedLink { account, link } = ClickedLink::new();
    let clicked = ClickedLink { account, link };
    let later = at(86_400_000 * 9);
    let day = UtcDay::of(later);
    let period = Period::new(at(-86_400_000), later).unwrap();
    let several = BTreeSet::from([link, samples::link(LinkKind::Landing, "other").id()]);
    let scopes = [LinkScope::One(link), LinkScope::Some(several), LinkScope::All];
    let selections = scopes.map(|scope| ClickSelection { account, scope, period, filters: Vec::new() });
    store.visitor_key(day, VisitorKey([1; 32])).await.unwrap();
    store.forget_visitor_keys(day.plus(1)).await.unwrap();
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
    store.accounts_with_clicks_before(day, None, 10).await.unwrap();
    store.old_clicks(account, day).await.unwrap();
    for planned in [None, Some(PlannedDeletion::new(day)), None] {
        store.plan_deletion(account, planned).await.unwrap();
        assert_eq!(store.planned_deletion(account).await.unwrap(), planned);
    }
    store.today(later).await.unwrap();
    while store.forget_clicks(account, Some(day)).await.unwrap() == Upkeep::More {}
    while store.forget_clicks(account, None).await.unwrap() == Upkeep::More {}
}

/// Only the inbox is scanned: it holds the clicks of about a minute.
pub(crate) async fn are_found_by_account_and_day(folder: &Path) {
    let file = DatabaseFile::at(folder.join("other.db")).unwrap();
    let store = SqliteClickStore::open(&file, &options()).unwrap();
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

/// The links of a group or a domain that a question covers.
pub(crate) async fn links_of_a_question_are_a_range_of_an_index(subject: &mut Subject) {
    let groups = [GroupFilter::Ungrouped, GroupFilter::In(samples::id())];
    let sites = [None, Some(Site::System), Some(Site::Custom(samples::hostname("a.example.net")))];
    let of_groups = groups.into_iter().flat_map(|group| sites.iter().map(move |site| (group, site)));
    let of_sites = sites.iter().skip(1).map(|site| (GroupFilter::Any, site));
    for (group, site) in of_groups.chain(of_sites) {
        let plans = subject
            .plans_of(async |store, account| {
                store.link_ids(account, group, site.as_ref(), 1_000_000).await.unwrap();
            })
            .await;
        let [plan] = plans.as_slice() else { panic!("one statement: {plans:?}") };
        let expected = match (group, site) {
            (GroupFilter::Any, _) => "links_of_host (account_id=? AND host=?)",
            _ => "links_of_group (account_id=? AND group_id=?)",
        };
        assert!(plan.contains(expected), "{group:?} {site:?}\n{plan}");
    }
}
