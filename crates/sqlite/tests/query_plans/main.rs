//! How SQLite finds the rows of every statement that the store runs: through an index, without table scans, and in order,
//! without sorting.
//!
//! It also counts the statements of requests that name many things (D30).
//!
//! The statements are those that Diesel reports while the whole port is exercised, not copies of them. The recorder is
//! global to the process, so this is a separate test program with one test.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(clippy::disallowed_methods, reason = "the store itself is tested, without use cases")]

mod batches;
mod bulk_changes;
mod bulk_requests;
mod clicks;
mod contract;
mod custom_domains;
mod frugality;
mod link_rules;
mod link_states;
mod passwords;
mod recorder;
mod remembered_answers;
#[path = "../store_fixture/mod.rs"]
mod store_fixture;
mod tags;
mod target_hosts;

use std::collections::BTreeSet;
use std::time::Duration;

use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use signpost_app::ports::{
    AccountReads, ChangeLog, ChangePosition, Insertion, LeaseHolder, Leases, LinkPasswordReads, LinkReads,
    PixelReads, QuotaStore, ReadChanges, Store, TagReads, UnitOfWork, UnusedClicks, UpdateLinkError,
};
use signpost_domain::{
    AccountId, Address, ClickLimit, ExternalId, GroupFilter, InstantRange, Link, LinkFilter, LinkId,
    LinkKind, MaxClicks, PageLimit, PagePosition, Redirect, RequestBudget, Revision, SearchText, Site,
    Timestamp,
};
use signpost_port_contracts::samples;
use signpost_sqlite::{DatabaseFile, SqliteOptions, SqliteStore};

use frugality::assert_frugal;

#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    detail: String,
}

#[derive(QueryableByName)]
struct CompileOption {
    #[diesel(sql_type = Text)]
    compile_options: String,
}

#[diesel::declare_sql_function]
extern "SQL" {
    /// Stands in for the store's function of this name.
    fn link_matches(folded: Text, name: Text, slug: Text, target_url: Nullable<Text>) -> Bool;

    /// Stands in for the store's function of this name.
    fn in_time() -> Bool;
}

/// The plans here are of statements without values. They are the program's only with the query planner stability guarantee.
/// Without it, SQLite also plans a statement with a bound LIMIT again at each execution.
fn plans_do_not_depend_on_values(connection: &mut SqliteConnection) {
    let options: Vec<CompileOption> = diesel::sql_query("PRAGMA compile_options").load(connection).unwrap();
    let has_guarantee = options.iter().any(|option| option.compile_options == "ENABLE_QPSG");
    assert!(has_guarantee, "SQLite was built without the flags in .cargo/config.toml");
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

struct Subject {
    store: SqliteStore,
    account: AccountId,
    connection: SqliteConnection,
}

impl Subject {
    /// The plans of all statements of `work`; none may scan or sort.
    async fn plans_of(&mut self, work: impl AsyncFnOnce(&SqliteStore, AccountId)) -> Vec<String> {
        let (statements, ()) = recorder::recorded(work(&self.store, self.account)).await;
        let different: BTreeSet<String> = statements.into_iter().collect();
        let mut plans = Vec::new();
        for statement in different.iter().filter(|statement| !recorder::is_steering(statement)) {
            let plan = plan(&mut self.connection, statement);
            assert_frugal(statement, &plan);
            plans.push(plan);
        }
        plans
    }
}

/// Options with a time limit that no call reaches, even on a busy machine.
fn options() -> SqliteOptions {
    SqliteOptions { time_limit: Duration::from_mins(1), ..SqliteOptions::default() }
}

fn subject(folder: &std::path::Path) -> (DatabaseFile, SqliteConnection, SqliteStore) {
    recorder::install();
    let file = DatabaseFile::at(folder.join("test.db")).unwrap();
    let store = SqliteStore::open(&file, &options()).unwrap();
    let mut connection = SqliteConnection::establish(file.path().to_str().unwrap()).unwrap();
    let never = |_: String, _: String, _: String, _: Option<String>| false;
    link_matches_utils::register_impl(&mut connection, never).unwrap();
    in_time_utils::register_impl(&connection, || true).unwrap();
    (file, connection, store)
}

#[tokio::test]
async fn every_statement_finds_its_rows_by_an_index_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let (_file, connection, store) = subject(folder.path());
    let mut subject = Subject { store, account: samples::id(), connection };
    plans_do_not_depend_on_values(&mut subject.connection);
    writes(&mut subject).await;
    reads(&mut subject).await;
    contract::is_found_by_indexes(&mut subject).await;
    lists_of_links(&mut subject).await;
    tags::choose_the_ranges_of_lists(&mut subject).await;
    target_hosts::choose_the_ranges_of_lists(&mut subject).await;
    passwords::choose_the_ranges_of_lists(&mut subject).await;
    link_rules::are_a_range_of_an_index(&mut subject).await;
    link_states::choose_the_ranges_of_lists(&mut subject).await;
    long_searches(&mut subject).await;
    counts_of_requests(&mut subject).await;
    changes_and_leases(&mut subject).await;
    remembered_answers::are_found_by_key_and_by_age(&mut subject).await;
    custom_domains::are_found_by_their_indexes(&mut subject).await;
    batches::cost_the_same_for_many_as_for_two(&mut subject).await;
    batches::pixels_are_found_by_their_ids(&mut subject).await;
    clicks::links_of_a_question_are_a_range_of_an_index(&mut subject).await;
    bulk_requests::cost_at_most_twelve_statements(folder.path()).await;
    clicks::are_found_by_account_and_day(folder.path()).await;
}

async fn counts_of_requests(subject: &mut Subject) {
    // Enough expired rows for a cleanup.
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

/// The program's own data.
async fn changes_and_leases(subject: &mut Subject) {
    let plans = subject
        .plans_of(async |store, _| {
            let end = store.end_of_changes().await.unwrap();
            let beginning = ChangePosition::from_store(0);
            let read = store.changes_since(beginning, 1_000).await.unwrap();
            assert!(matches!(&read, ReadChanges::These { changes, .. } if !changes.is_empty()), "{read:?}");
            store.changes_since(end, 1_000).await.unwrap();
            assert!(store.forget_changes(Duration::ZERO, 1_000).await.unwrap() > 0);
            let holder = LeaseHolder::from_bytes([1; 16]);
            assert!(store.take_lease("a", holder, samples::at(0), samples::at(1)).await.unwrap());
            store.release_lease("a", holder).await.unwrap();
        })
        .await;
    assert!(plans.iter().any(|plan| plan.contains("changes_age")), "{plans:#?}");
}

async fn insert(work: &mut dyn UnitOfWork, account: AccountId, link: &Link, limit: u64) -> Insertion {
    let insertions = work.insert_links(account, std::slice::from_ref(link), limit).await.unwrap();
    let [insertion] = insertions.as_slice() else { panic!("one answer: {insertions:?}") };
    *insertion
}

async fn commit(work: Box<dyn UnitOfWork>) {
    work.commit().await.unwrap();
}

/// Methods of a unit of work, through all of their branches.
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
            let link = |slug: &str, group| {
                let mut link = samples::link(LinkKind::Redirect, slug);
                link.move_to_group(group, samples::at(0));
                link
            };
            let first = link("a", Some(group.id));
            assert_eq!(insert(work.as_mut(), account, &first, 1).await, Insertion::Done);
            assert_eq!(insert(work.as_mut(), account, &link("b", None), 1).await, Insertion::LimitReached);
            work.lock_link(account, first.id()).await.unwrap().unwrap();
            let mut moved = first.clone();
            moved.move_to_group(Some(doomed.id), samples::at(1));
            work.update_link(account, &first, &moved).await.unwrap();
            let other = link("b", None);
            assert_eq!(insert(work.as_mut(), account, &other, 2).await, Insertion::Done);
            let taken = Link { placement: samples::on_system("a"), ..other.clone() };
            let address: Vec<Address> = taken.placement.address().into_iter().collect();
            let taken = work.update_link(account, &other, &taken).await;
            assert!(matches!(taken, Err(UpdateLinkError::AddressTaken)));
            assert_eq!(work.links_at(account, &address).await.unwrap(), [(address[0].clone(), first.id())]);
            assert_eq!(work.delete_links(account, &[first.id()]).await.unwrap(), [first.id()]);
            assert_eq!(work.ungroup_some_links(account, group.id, 2, samples::at(0)).await.unwrap(), 0);
            assert!(work.delete_group(account, doomed.id, samples::at(0)).await.unwrap());
            tags::write(work.as_mut(), account, &other).await;
            clicks_of_limits(work.as_mut(), account, &other).await;
            passwords::write(work.as_mut(), account, other.id()).await;
            let landing = samples::landing("page");
            assert_eq!(insert(work.as_mut(), account, &landing.clone().into(), 2).await, Insertion::Done);
            let content = work.page_content(account, landing.id).await.unwrap();
            work.write_page_content(account, landing.id, &content).await.unwrap();
            commit(work).await;
            // Another account, which is deleted.
            let doomed = samples::account();
            let mut work = store.begin().await.unwrap();
            work.insert_account(&doomed).await.unwrap();
            assert_eq!(work.delete_some_links(doomed.id, 2).await.unwrap(), 0);
            work.delete_account(doomed.id).await.unwrap();
            commit(work).await;
        })
        .await;
    assert!(plans.len() > 20, "{plans:#?}");
}

/// The writes of limits, through all of their branches.
async fn clicks_of_limits(work: &mut dyn UnitOfWork, account: AccountId, link: &Link) {
    let before = work.lock_link(account, link.id()).await.unwrap().unwrap();
    let LinkId::Redirect(id) = before.id() else { panic!("{before:?} is no redirect") };
    let limited = |limit| {
        let redirect = before.clone().into_redirect().unwrap();
        Link::from(redirect.with(|content| content.click_limit = limit))
    };
    let limit = ClickLimit::new(MaxClicks::new(1).unwrap(), 0, Revision::FIRST);
    let (with, without) = (limited(Some(limit)), limited(None));
    work.update_link(account, &before, &with).await.unwrap();
    let taken = work.take_clicks(account, id).await.unwrap().taken().unwrap();
    work.give_back_clicks(&[UnusedClicks { account, link: id, clicks: taken }]).await.unwrap();
    work.update_link(account, &with, &without).await.unwrap();
}

async fn reads(subject: &mut Subject) {
    let plans = subject
        .plans_of(async |store, account| {
            let behind = Some(PagePosition::behind([1; 16]));
            store.check().await.unwrap();
            store.key_holder(&samples::key(account).0.hash).await.unwrap();
            store.account(account).await.unwrap();
            store.account_with_email(&samples::email("a@example.com")).await.unwrap();
            store.usage(account).await.unwrap();
            store.keys(account).await.unwrap();
            store.pixels_with_ids(account, &[samples::id()]).await.unwrap();
            store.tags(account, PageLimit::default(), behind).await.unwrap();
            let external_id = ExternalId::parse("1").unwrap();
            store.links_with_external_ids(account, &[external_id]).await.unwrap();
            store.landing_page(account, samples::id()).await.unwrap();
            for id in [LinkId::Landing(samples::id()), LinkId::Redirect(samples::id())] {
                store.link(account, id).await.unwrap();
                store.link_password(account, id).await.unwrap();
                store.key_holder_with_link(&samples::key(account).0.hash, id).await.unwrap();
            }
            for after in [None, behind] {
                store.accounts(PageLimit::default(), after).await.unwrap();
            }
            for slug in [None, Some(samples::slug("a"))] {
                let address = Address { site: Site::Custom(samples::hostname("a.example.net")), slug };
                store.published_link(&address).await.unwrap();
                store.occupied(account, &[address]).await.unwrap();
            }
        })
        .await;
    // Pages differ only in values, not in statements.
    assert_eq!(plans.len(), 15, "{plans:#?}");
}

/// Each filter alone uses its own index; combined filters use one of them.
async fn lists_of_links(subject: &mut Subject) {
    let groups = [GroupFilter::Any, GroupFilter::Ungrouped, GroupFilter::In(samples::id())];
    let sites = [None, Some(Site::System), Some(Site::Custom(samples::hostname("a.example.net")))];
    let search = SearchText::parse("x").unwrap();
    for group in groups {
        for site in &sites {
            for is_active in [None, Some(true)] {
                for search in [None, Some(search.clone())] {
                    for after in [None, Some(PagePosition::behind([1; 16]))] {
                        for (slug, external_id) in [(None, None), (Some("a"), None), (None, Some("1"))] {
                            let (site, search) = (site.clone(), search.clone());
                            let slug = slug.map(samples::slug);
                            let external_id = external_id.map(|id| ExternalId::parse(id).unwrap());
                            let from = search.as_ref().map(|_| Timestamp::EPOCH);
                            let updated = InstantRange { from, to: None };
                            let rest = LinkFilter { external_id, updated, search, ..LinkFilter::default() };
                            let filter = LinkFilter { group, site, slug, is_active, ..rest };
                            let (expected, end) = index_for(&filter);
                            let plans = subject
                                .plans_of(async |store, account| {
                                    for kind in [LinkKind::Landing, LinkKind::Redirect] {
                                        store
                                            .links(account, kind, &filter, PageLimit::default(), after)
                                            .await
                                            .unwrap();
                                    }
                                })
                                .await;
                            let [plan] = plans.as_slice() else {
                                panic!("a page of either kind is not one statement: {plans:?}")
                            };
                            // The other steps read the tags of each link, and the state of its domain.
                            let step = plan.lines().next().unwrap_or_default();
                            assert!(step.contains(expected) && step.ends_with(end), "{filter:?}\n{plan}");
                        }
                    }
                }
            }
        }
    }
}

/// The statements of a search in an account with more links than it reads one by one: the narrowest index again, the text
/// index, and the links that this returns by id, with any other filters.
async fn long_searches(subject: &mut Subject) {
    for chunk in 0..5 {
        // After the links that are read one by one.
        let name = samples::name(if chunk == 0 { "found" } else { "other" });
        let link = |number: usize| {
            Redirect { name: name.clone(), ..samples::redirect(&format!("long-{chunk}-{number}")) }.into()
        };
        let links: Vec<Link> = (0..100).map(link).collect();
        let mut work = subject.store.begin().await.unwrap();
        work.insert_links(subject.account, &links, u64::MAX).await.unwrap();
        commit(work).await;
    }
    for group in [GroupFilter::Any, GroupFilter::Ungrouped, GroupFilter::In(samples::id())] {
        for site in [None, Some(Site::System)] {
            for is_active in [None, Some(false)] {
                let search = Some(SearchText::parse("found").unwrap());
                let site = site.clone();
                let filter = LinkFilter { group, site, is_active, search, ..LinkFilter::default() };
                let plans = subject
                    .plans_of(async |store, account| {
                        let limit = PageLimit::default();
                        store.links(account, LinkKind::Redirect, &filter, limit, None).await.unwrap();
                    })
                    .await;
                let uses = |index: &str| plans.iter().any(|plan| plan.contains(index));
                assert!(uses("links_of_") && uses("link_search") && uses("id=?)"), "{filter:?}: {plans:#?}");
            }
        }
    }
}

/// The first of slug, group, site and activity selects the range, which ends with the ids. An address is one row, and so is an external id.
fn index_for(filter: &LinkFilter) -> (&'static str, &'static str) {
    const RANGE: &str = "kind=? AND id<?)";
    let LinkFilter { group, site, slug, is_active, external_id, .. } = filter;
    if external_id.is_some() {
        return ("links_of_external_id", "(account_id=? AND external_id=?)");
    }
    match (slug, group, site, is_active) {
        (Some(_), _, Some(_), _) => ("links_address", "(host=? AND slug=?)"),
        (Some(_), _, None, _) => ("links_of_slug", RANGE),
        (None, GroupFilter::Ungrouped | GroupFilter::In(_), _, _) => ("links_of_group", RANGE),
        (None, GroupFilter::Any, Some(_), _) => ("links_of_host", RANGE),
        (None, GroupFilter::Any, None, Some(_)) => ("links_of_activity", RANGE),
        (None, GroupFilter::Any, None, None) => ("links_of_account", RANGE),
    }
}
