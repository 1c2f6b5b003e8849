//! How many statements the methods of the store run, and that these read ranges of indexes, without table scans and sorts.
//!
//! The plans come from the server's log of the real statements. Diesel's recorder is global to the process, so there is one
//! test.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]
#![allow(clippy::disallowed_methods, reason = "the store itself is tested, without use cases")]

mod answers;
mod batches;
mod certificates;
mod clicks;
mod domains;
mod empty_tables;
mod giant_group;
mod link_rules;
mod link_states;
mod link_walks;
mod pages;
mod people;
mod pixels;
mod recorder;
mod resources;
mod search_index;
mod tags;
mod target_hosts;

use std::time::Duration;

use futures_util::future::join_all;
use signpost_app::ports::{AccountReads, LinkReads, PublishedContent, PublishedRedirect, QuotaStore, Store};
use signpost_domain::{AccountId, Address, RequestBudget, Site};
use signpost_port_contracts::samples;
use signpost_postgres::{PostgresOptions, PostgresStore, migrate};
use signpost_test_servers::postgres::{PostgresDatabase, PostgresServer, shared};

const PLENTY: u64 = 1_000_000;

/// A database with two accounts of many links each, on a server that logs its plans.
pub(crate) struct Subject {
    server: &'static PostgresServer,
    /// The name of its database.
    database: String,
    store: PostgresStore,
    account: AccountId,
}

impl Subject {
    async fn connect(
        server: &'static PostgresServer,
        database: &PostgresDatabase,
        account: AccountId,
    ) -> Self {
        let options = PostgresOptions {
            // Otherwise a connection that was idle or old would be pinged or renewed, and the recorder would count that.
            idle_limit: Duration::from_hours(1),
            age_limit: Duration::from_hours(24),
            ..PostgresOptions::with_time_limit(Duration::from_mins(1))
        };
        let store = PostgresStore::connect(&database.url(), &options).await.unwrap();
        Self { server, database: database.name().to_owned(), store, account }
    }

    /// The plans of all statements of `work`, as text.
    async fn plans(&self, work: impl Future<Output = ()>) -> String {
        let before = self.server.log_length();
        work.await;
        let plans = entries_of(&self.server.log_since(before), &self.database);
        assert!(plans.contains("plan:"), "nothing was logged: {plans}");
        plans
    }
}

/// The entries of one database in a log. Its lines have the prefix `%d`.
fn entries_of(log: &str, database: &str) -> String {
    let mark = format!("] {database} ");
    let mut is_within = false;
    let mut entries = String::new();
    for line in log.lines() {
        // Continuation lines of an entry start with a tab.
        if !line.starts_with('\t') {
            is_within = line.contains(&mark);
        }
        if is_within {
            entries.push_str(line);
            entries.push('\n');
        }
    }
    entries
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_are_few_and_read_ranges_of_indexes() {
    recorder::install();
    let server = shared("crates/postgres");
    let database = server.database(None);
    migrate(&database.url()).await.unwrap();
    let account = pages::fill(&database);
    answers::fill(&database);
    domains::fill(&database);
    certificates::fill(&database);
    clicks::fill(&database);
    people::fill(&database);
    tags::fill(&database);
    log_plans(server, &database);
    let subject = Subject::connect(server, &database, account).await;
    // The session settings of new connections are not counted: open one reader and one connection of the node first.
    subject.store.account(account).await.unwrap();
    subject.store.check().await.unwrap();
    resources::fill(&subject, &database).await;
    single_rows(&subject).await;
    pages::are_ranges_of_an_index(&subject).await;
    resources::are_found_by_indexes(&subject).await;
    pixels::are_found_by_their_ids(&subject).await;
    answers::are_found_by_indexes(&subject).await;
    domains::are_found_by_indexes(&subject).await;
    certificates::are_found_by_indexes(&subject).await;
    clicks::are_found_by_indexes(&subject).await;
    clicks::links_of_a_question_are_a_range_of_an_index(&subject).await;
    people::are_found_by_indexes(&subject).await;
    tags::are_found_by_indexes(&subject).await;
    tags::are_written_by_indexes(&subject).await;
    search_index::is_read_by_ranges(&subject).await;
    batches::cost_the_same_for_many_as_for_two(&subject).await;
    drop(subject);
    drop(database);
    giant_group::does_not_change_plans(server).await;
    target_hosts::are_ranges_of_an_index(server).await;
    link_rules::are_a_range_of_an_index(server).await;
    link_states::are_ranges_of_an_index(server).await;
    link_walks::read_only_their_range(server).await;
    empty_tables::get_the_plans_of_full_ones(server).await;
}

/// Makes the server log the plans of all statements in a database, including nested ones.
fn log_plans(server: &PostgresServer, database: &PostgresDatabase) {
    server.run(
        "postgres",
        &format!(
            "ALTER DATABASE {0} SET session_preload_libraries = 'auto_explain'; \
             ALTER DATABASE {0} SET auto_explain.log_min_duration = 0; \
             ALTER DATABASE {0} SET auto_explain.log_nested_statements = on",
            database.name()
        ),
    );
}

/// The number of statements that do not only control a transaction.
fn own(statements: &[String]) -> usize {
    statements.iter().filter(|statement| !recorder::is_steering(statement)).count()
}

/// The content of a page is read together with the page, and written separately.
async fn landing_page(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let landing = samples::landing("page");
    let mut work = store.begin().await.unwrap();
    work.insert_links(*account, &[landing.clone().into()], PLENTY).await.unwrap();
    work.commit().await.unwrap();
    let plans = subject
        .plans(async {
            let (statements, page) = recorder::recorded(store.landing_page(*account, landing.id)).await;
            let content = page.unwrap().unwrap().content;
            assert_eq!(statements.len(), 1, "{statements:#?}");
            let mut work = store.begin().await.unwrap();
            work.lock_link(*account, landing.id.into()).await.unwrap().unwrap();
            let (statements, _) = recorder::recorded(work.page_content(*account, landing.id)).await;
            assert_eq!(statements.len(), 1, "{statements:#?}");
            let writing = work.write_page_content(*account, landing.id, &content);
            let (statements, written) = recorder::recorded(writing).await;
            written.unwrap();
            assert_eq!(statements.len(), 1, "{statements:#?}");
        })
        .await;
    assert!(!plans.contains("Seq Scan on links"), "{plans}");
}

/// Simultaneous visits share statements, which read only indexes, also for pixels and custom domains (ADR 38).
async fn visits(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let ids = samples::pixel_ids((1..=9).map(|number| pixels::id(number * 2 - 1)).collect());
    let redirect = samples::redirect("with-pixels").with(|content| content.pixel_ids = ids);
    let mut work = store.begin().await.unwrap();
    work.insert_links(*account, &[redirect.into()], PLENTY).await.unwrap();
    work.commit().await.unwrap();
    let host = Site::Custom(samples::hostname(domains::HOST));
    let mut addresses = vec![Address { site: Site::System, slug: Some(samples::slug("with-pixels")) }];
    addresses.extend((1..64).map(|number| {
        let site = if number % 2 == 0 { Site::System } else { host.clone() };
        Address { site, slug: Some(samples::slug(&format!("s{}", number * 10))) }
    }));
    for at_once in [1, addresses.len()] {
        let mut fewest = usize::MAX;
        for _ in 0..8 {
            let plans = subject
                .plans(async {
                    let visits = addresses.iter().take(at_once).map(|address| store.published_link(address));
                    let (statements, found) = recorder::recorded(join_all(visits)).await;
                    // Two run at once, the others in batches of up to 32, so usually four statements. On a busy machine
                    // batches are slow, and then any number of look-ups runs beside them.
                    assert!(statements.len() <= at_once, "{statements:#?}");
                    fewest = fewest.min(statements.len());
                    assert!(matches!(
                        found[0].as_ref().unwrap().as_ref().unwrap().content,
                        PublishedContent::Redirect(PublishedRedirect { ref pixels, .. }) if pixels.len() == 9
                    ));
                    let found = found.into_iter().filter(|link| link.as_ref().unwrap().is_some());
                    assert!(found.count() > at_once / 3);
                })
                .await;
            for table in ["links", "pixels", "custom_domains"] {
                assert!(!plans.contains(&format!("Seq Scan on {table}")), "{plans}");
            }
        }
        assert!(fewest <= at_once.min(8), "{at_once} at once took {fewest} statements at best");
    }
}

/// One statement for each operation, and one for each step of a PATCH.
async fn single_rows(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let account = *account;
    let link = samples::link(signpost_domain::LinkKind::Redirect, "single");
    let mut work = store.begin().await.unwrap();
    let (statements, _) =
        recorder::recorded(work.insert_links(account, std::slice::from_ref(&link), PLENTY)).await;
    assert_eq!(own(&statements), 1, "{statements:#?}");
    let (statements, committed) = recorder::recorded(work.commit()).await;
    committed.unwrap();
    assert_eq!(statements.len(), 2, "the change is not logged together with the COMMIT: {statements:#?}");

    let budget = RequestBudget { per_minute: 9, per_day: 9 };
    let address = Address { site: Site::System, slug: Some(samples::slug("single")) };
    let (key, _) = samples::key(account);
    let plans = subject
        .plans(async {
            let (statements, _) = recorder::recorded(store.key_holder(&key.hash)).await;
            assert_eq!(statements.len(), 1, "{statements:#?}");
            let ahead = store.key_holder_with_link(&key.hash, link.id());
            let (statements, _) = recorder::recorded(ahead).await;
            assert_eq!(statements.len(), 2, "{statements:#?}");
            let (statements, _) = recorder::recorded(store.link(account, link.id())).await;
            assert_eq!(statements.len(), 1, "{statements:#?}");
            let (statements, _) = recorder::recorded(store.published_link(&address)).await;
            assert_eq!(statements.len(), 1, "{statements:#?}");
            let addresses = vec![address.clone(); 500];
            let (statements, _) = recorder::recorded(store.occupied(account, &addresses)).await;
            assert_eq!(statements.len(), 1, "{statements:#?}");
            let ids = vec![link.id(); 500];
            let (statements, _) = recorder::recorded(store.links_with_ids(account, &ids)).await;
            assert_eq!(statements.len(), 1, "{statements:#?}");
            let (statements, _) = recorder::recorded(store.taken_link_ids(&ids)).await;
            assert_eq!(statements.len(), 1, "{statements:#?}");
            let (statements, _) = recorder::recorded(store.admit(account, budget, samples::at(0))).await;
            assert_eq!(statements.len(), 1, "{statements:#?}");
        })
        .await;
    assert!(!plans.contains("Seq Scan on links"), "{plans}");
    landing_page(subject).await;
    visits(subject).await;

    let mut work = store.begin().await.unwrap();
    let (statements, before) = recorder::recorded(work.lock_link(account, link.id())).await;
    // The tags are read once the link is locked.
    assert_eq!(own(&statements), 2, "{statements:#?}");
    let before = before.unwrap().unwrap();
    let (statements, _) = recorder::recorded(work.update_link(account, &before, &before)).await;
    assert_eq!(statements.len(), 1, "{statements:#?}");
}
