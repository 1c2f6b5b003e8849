//! How SQLite finds the rows of every statement that the store runs: by an index, never by reading a table through, and
//! in order, never by sorting.
//!
//! The statements are those that diesel reports while the whole port is exercised, not copies of them. The recorder is
//! one for the whole process, so this is a test program of its own with one test.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeSet;
use std::sync::Mutex;

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use signpost_app::ports::{
    AccountReads, GroupReads, InsertRedirectError, LinkReads, QuotaStore, Store, UnitOfWork,
    UpdateRedirectError,
};
use signpost_domain::{
    AccountId, Address, GroupFilter, LinkFilter, PageLimit, PagePosition, Redirect, RequestBudget,
    SearchText, Site,
};
use signpost_port_contracts::samples;
use signpost_sqlite::{DatabaseFile, SqliteOptions, SqliteStore};

/// What has run since it was last emptied; nothing is recorded while it is `None`.
static RECORD: Mutex<Option<BTreeSet<String>>> = Mutex::new(None);

#[expect(clippy::unnecessary_wraps, reason = "diesel asks for a function of this form")]
fn recorder() -> Option<Box<dyn Instrumentation>> {
    Some(Box::new(|event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::StartQuery { query, .. } = event
            && let Some(record) = RECORD.lock().unwrap().as_mut()
        {
            let text = query.to_string();
            record.insert(text.split(" -- binds: ").next().unwrap().to_owned());
        }
    }))
}

/// The statements that `work` ran, without those that only steer transactions.
async fn recorded(work: impl Future<Output = ()>) -> BTreeSet<String> {
    *RECORD.lock().unwrap() = Some(BTreeSet::new());
    work.await;
    let mut statements = RECORD.lock().unwrap().take().unwrap();
    let steering = ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA synchronous"];
    statements.retain(|statement| !steering.iter().any(|word| statement.starts_with(word)));
    assert!(!statements.is_empty(), "nothing was recorded");
    statements
}

#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    detail: String,
}

#[diesel::declare_sql_function]
extern "SQL" {
    /// Stands in for the store's function of this name.
    fn link_matches(folded: Text, name: Text, slug: Text, target_url: Nullable<Text>) -> Bool;
}

/// SQLite's plan of a statement, one step a line.
fn plan(connection: &mut SqliteConnection, statement: &str) -> String {
    let steps: Vec<Step> = diesel::sql_query(format!("EXPLAIN QUERY PLAN {statement}"))
        .load(connection)
        .unwrap_or_else(|error| {
            panic!("{statement}: {error}");
        });
    steps.into_iter().map(|step| step.detail).collect::<Vec<_>>().join("\n")
}

/// Reading rows that a statement brings along costs nothing.
fn is_of_no_table(step: &str) -> bool {
    step.ends_with("CONSTANT ROW") || step.ends_with("VALUES CLAUSE")
}

struct Subject {
    store: SqliteStore,
    account: AccountId,
    connection: SqliteConnection,
}

impl Subject {
    /// The plans of all that `work` runs, each of which must do without reading through and sorting.
    async fn plans_of(&mut self, work: impl AsyncFnOnce(&SqliteStore, AccountId)) -> Vec<String> {
        let statements = recorded(work(&self.store, self.account)).await;
        let mut plans = Vec::new();
        for statement in statements {
            let plan = plan(&mut self.connection, &statement);
            let reads_through = plan.lines().any(|step| step.starts_with("SCAN") && !is_of_no_table(step));
            let sorts = plan.contains("TEMP B-TREE");
            let finds = plan.contains("SEARCH") || statement.starts_with("INSERT");
            assert!(finds && !reads_through && !sorts, "{statement}\n{plan}");
            plans.push(plan);
        }
        plans
    }
}

fn subject(folder: &std::path::Path) -> (DatabaseFile, SqliteConnection, SqliteStore) {
    set_default_instrumentation(recorder).unwrap();
    let file = DatabaseFile::at(folder.join("test.db")).unwrap();
    let store = SqliteStore::open(&file, &SqliteOptions::default()).unwrap();
    let mut connection = SqliteConnection::establish(file.path().to_str().unwrap()).unwrap();
    let never = |_: String, _: String, _: String, _: Option<String>| false;
    link_matches_utils::register_impl(&mut connection, never).unwrap();
    (file, connection, store)
}

#[tokio::test]
async fn every_statement_finds_its_rows_by_an_index_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let (_file, connection, store) = subject(folder.path());
    let mut subject = Subject { store, account: samples::id(), connection };
    writes(&mut subject).await;
    reads(&mut subject).await;
    lists_of_links(&mut subject).await;
    counts_of_requests(&mut subject).await;
}

async fn counts_of_requests(subject: &mut Subject) {
    // Enough old rows for a sweep.
    let old = "WITH RECURSIVE numbers (number) AS (VALUES (1) UNION ALL SELECT number + 1 FROM numbers LIMIT 2000) \
        INSERT INTO request_counts SELECT randomblob(16), 0, number, 1 FROM numbers";
    diesel::sql_query(old).execute(&mut subject.connection).unwrap();
    let plans = subject
        .plans_of(async |store, account| {
            let budget = RequestBudget { per_minute: 10, per_day: 10 };
            store.admit(account, budget, samples::at(0)).await.unwrap();
            store.remaining(account, budget, samples::at(0)).await.unwrap();
        })
        .await;
    assert_eq!(plans.iter().filter(|plan| plan.contains("request_counts_age")).count(), 2, "{plans:#?}");
}

async fn commit(work: Box<dyn UnitOfWork>) {
    work.commit().await.unwrap();
}

/// Every method of a unit of work, and every way through it.
async fn writes(subject: &mut Subject) {
    let owner = samples::account();
    subject.account = owner.id;
    let plans = subject
        .plans_of(async |store, account| {
            let mut work = store.begin().await.unwrap();
            assert!(!work.any_account().await.unwrap());
            work.insert_account(&owner).await.unwrap();
            work.set_plan(account, &samples::plan("free")).await.unwrap();
            for since in [Some(samples::at(0)), Some(samples::at(1)), None] {
                work.set_suspended(account, since).await.unwrap();
            }
            let (key, _) = samples::key(account);
            work.insert_key(&key).await.unwrap();
            work.revoke_key(key.id, samples::at(0)).await.unwrap();
            let (group, doomed) = (samples::group("a"), samples::group("b"));
            for group in [&group, &doomed] {
                work.insert_group(account, group, 2).await.unwrap();
            }
            assert!(work.insert_group(account, &samples::group("c"), 2).await.is_err());
            work.lock_group(account, group.id).await.unwrap().unwrap();
            work.update_group(account, &group).await.unwrap();
            let link = Redirect { group_id: Some(group.id), ..samples::redirect("a") };
            work.insert_redirect(account, &link, 1).await.unwrap();
            let beyond = work.insert_redirect(account, &samples::redirect("b"), 1).await;
            assert!(matches!(beyond, Err(InsertRedirectError::LimitReached)));
            work.lock_redirect(account, link.id).await.unwrap().unwrap();
            let moved = Redirect { group_id: Some(doomed.id), ..link.clone() };
            work.update_redirect(account, &link, &moved).await.unwrap();
            let other = samples::redirect("b");
            work.insert_redirect(account, &other, 2).await.unwrap();
            let taken = Redirect { placement: samples::on_system("a"), ..other.clone() };
            let taken = work.update_redirect(account, &other, &taken).await;
            assert!(matches!(taken, Err(UpdateRedirectError::AddressTaken)));
            assert!(work.delete_redirect(account, link.id).await.unwrap());
            assert!(work.delete_group(account, doomed.id, samples::at(0)).await.unwrap());
            commit(work).await;
            // Another account, to be deleted.
            let doomed = samples::account();
            let mut work = store.begin().await.unwrap();
            work.insert_account(&doomed).await.unwrap();
            work.delete_account(doomed.id).await.unwrap();
            commit(work).await;
        })
        .await;
    assert!(plans.len() > 20, "{plans:#?}");
}

async fn reads(subject: &mut Subject) {
    let plans = subject
        .plans_of(async |store, account| {
            let behind = Some(PagePosition::behind([1; 16]));
            store.check().await.unwrap();
            store.key_holder(&samples::key(account).0.hash).await.unwrap();
            store.account(account).await.unwrap();
            store.usage(account).await.unwrap();
            store.keys(account).await.unwrap();
            store.group(account, samples::id()).await.unwrap();
            store.redirect(account, samples::id()).await.unwrap();
            for after in [None, behind] {
                store.accounts(PageLimit::default(), after).await.unwrap();
                store.groups(account, PageLimit::default(), after).await.unwrap();
            }
            for slug in [None, Some(samples::slug("a"))] {
                let address = Address { site: Site::Custom(samples::hostname("a.example.net")), slug };
                store.published_link(&address).await.unwrap();
            }
        })
        .await;
    // Pages differ in values only, never in statements.
    assert_eq!(plans.len(), 10, "{plans:#?}");
}

/// Each filter alone has the index that is made for it; together, one of them.
async fn lists_of_links(subject: &mut Subject) {
    let groups = [GroupFilter::Any, GroupFilter::Ungrouped, GroupFilter::In(samples::id())];
    let sites = [None, Some(Site::System), Some(Site::Custom(samples::hostname("a.example.net")))];
    let search = SearchText::parse("x").unwrap();
    for group in groups {
        for site in &sites {
            for is_active in [None, Some(true)] {
                for search in [None, Some(search.clone())] {
                    for after in [None, Some(PagePosition::behind([1; 16]))] {
                        let filter =
                            LinkFilter { group, site: site.clone(), is_active, search: search.clone() };
                        let expected = index_for(&filter);
                        let plans = subject
                            .plans_of(async |store, account| {
                                store.redirects(account, &filter, PageLimit::default(), after).await.unwrap();
                            })
                            .await;
                        let [plan] = plans.as_slice() else { panic!("one statement a page: {plans:?}") };
                        assert!(plan.contains(expected) && plan.ends_with("id<?)"), "{filter:?}\n{plan}");
                    }
                }
            }
        }
    }
}

/// The range is chosen by the first of group, site and activity.
fn index_for(filter: &LinkFilter) -> &'static str {
    let LinkFilter { group, site, is_active, search: _ } = filter;
    match (group, site, is_active) {
        (GroupFilter::Ungrouped | GroupFilter::In(_), _, _) => "links_of_group",
        (GroupFilter::Any, Some(_), _) => "links_of_host",
        (GroupFilter::Any, None, Some(_)) => "links_of_activity",
        (GroupFilter::Any, None, None) => "links_of_account",
    }
}
