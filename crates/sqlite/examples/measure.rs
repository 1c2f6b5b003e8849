//! Prints roughly how long the store's calls take on this machine:
//! `cargo run --release -p signpost-sqlite --example measure [number of links]`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "a benchmark that people run by hand"
)]
#![allow(clippy::disallowed_methods, reason = "the store itself is measured")]

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use signpost_app::ports::{AccountReads, Insertion, LinkReads, QuotaStore, Store, UnitOfWork};
use signpost_domain::{
    AccountId, Address, AnyContent, Id, Link, LinkFilter, LinkId, LinkKind, PageLimit, PagePosition,
    Redirect, RequestBudget, SearchText, Site, Slug,
};
use signpost_port_contracts::samples;
use signpost_sqlite::{DatabaseFile, SqliteOptions, SqliteStore};

const PLENTY: u64 = u64::MAX;
const BUDGET: RequestBudget = RequestBudget { per_minute: u32::MAX, per_day: u32::MAX };

fn numbered(number: u128) -> Link {
    let slug = Slug::parse(&format!("link-{number}")).unwrap();
    Redirect { id: Id::from_bytes(number.to_be_bytes()), ..samples::redirect(slug.as_str()) }.into()
}

/// A link whose slug lies anywhere among the others, like a generated one.
fn scattered(number: u128) -> Link {
    let text = format!("{:010x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15) & 0xff_ffff_ffff);
    let placement = samples::on_system(&text);
    Redirect { id: Id::from_bytes(number.to_be_bytes()), placement, ..samples::redirect("scattered") }.into()
}

fn report(what: &str, times: u128, took: Duration) {
    println!("{what:<58} {:>10.1} µs", took.as_secs_f64() * 1e6 / times as f64);
}

/// Runs `work` repeatedly, one run after the other.
async fn one_by_one(what: &str, times: u128, work: impl AsyncFn(u128)) {
    let since = Instant::now();
    for number in 0..times {
        work(number).await;
    }
    report(what, times, since.elapsed());
}

async fn insert(work: &mut dyn UnitOfWork, account: AccountId, links: &[Link]) {
    let insertions = work.insert_links(account, links, PLENTY).await.unwrap();
    assert!(insertions.iter().all(|insertion| *insertion == Insertion::Done));
}

async fn fill(store: &SqliteStore, account: AccountId, links: u128) {
    let since = Instant::now();
    for first in (1..=links).step_by(1_000) {
        let mut work = store.begin().await.unwrap();
        for number in first..(first + 1_000).min(links + 1) {
            insert(work.as_mut(), account, &[numbered(number)]).await;
        }
        work.commit().await.unwrap();
    }
    report("a link, 1,000 in one unit of work", links, since.elapsed());
}

async fn at_once(what: &str, tasks: u128, each: u128, work: impl AsyncFn(u128) + Clone) {
    let since = Instant::now();
    let tasks_of_work = (0..tasks).map(|task| {
        let work = work.clone();
        async move {
            for number in 0..each {
                work(task * each + number).await;
            }
        }
    });
    join_all(tasks_of_work).await;
    report(what, tasks * each, since.elapsed());
}

/// Many links in one call.
async fn batches(store: &SqliteStore, account: AccountId, first: u128) {
    let group = samples::group("A group");
    let mut work = store.begin().await.unwrap();
    work.insert_group(account, &group, PLENTY).await.unwrap();
    work.commit().await.unwrap();
    for (round, size) in [1, 2, 100].into_iter().enumerate() {
        let first = first + u128::try_from(round).unwrap() * 1_000_000;
        let batch =
            |number| -> Vec<Link> { (0..size).map(|link| scattered(first + number * size + link)).collect() };
        let ids = |number| -> Vec<LinkId> { batch(number).iter().map(Link::id).collect() };
        one_by_one(&format!("unit of work that inserts {size}, slugs scattered"), 200, async |number| {
            let mut work = store.begin().await.unwrap();
            insert(work.as_mut(), account, &batch(number)).await;
            work.commit().await.unwrap();
        })
        .await;
        one_by_one(&format!("unit of work that assigns {size} to a group"), 200, async |number| {
            let mut work = store.begin().await.unwrap();
            let assigned = work.assign_links(account, group.id, &ids(number), samples::at(1)).await.unwrap();
            assert_eq!(assigned.map(|links| links.len()), Some(ids(number).len()));
            work.commit().await.unwrap();
        })
        .await;
        one_by_one(&format!("unit of work that unassigns {size}"), 200, async |number| {
            let mut work = store.begin().await.unwrap();
            let taken = work.unassign_links(account, group.id, &ids(number), samples::at(1)).await.unwrap();
            assert_eq!(taken.map(|links| links.len()), Some(ids(number).len()));
            work.commit().await.unwrap();
        })
        .await;
        one_by_one(&format!("unit of work that deletes {size}"), 200, async |number| {
            let mut work = store.begin().await.unwrap();
            let deleted = work.delete_links(account, &ids(number)).await.unwrap();
            assert_eq!(deleted.len(), ids(number).len());
            work.commit().await.unwrap();
        })
        .await;
    }
}

/// Moves the targets of up to 20,000 links to another host, newest first, as changes by filter do.
async fn move_targets(store: &SqliteStore, account: AccountId, links: u128) {
    for size in [100, 1_000] {
        let mut longest = Duration::ZERO;
        let (rounds, since) = (links.min(20_000) / size, Instant::now());
        if rounds == 0 {
            continue;
        }
        for round in 0..rounds {
            let newest = links - round * size;
            let ids: Vec<LinkId> = (0..size)
                .map(|link| LinkId::Redirect(Id::from_bytes((newest - link).to_be_bytes())))
                .collect();
            let began = Instant::now();
            let mut work = store.begin().await.unwrap();
            let mut locked = work.lock_links(account, &ids).await.unwrap();
            locked.sort_by_key(|link| Reverse(link.id()));
            let moved: Vec<Link> = locked.iter().map(|link| to_other_host(link, size)).collect();
            let changes: Vec<(&Link, &Link)> = locked.iter().zip(&moved).collect();
            work.update_links(account, &changes).await.unwrap();
            work.commit().await.unwrap();
            longest = longest.max(began.elapsed());
        }
        report(&format!("unit of work that moves {size} targets"), rounds, since.elapsed());
        report("the longest of these", 1, longest);
    }
}

fn to_other_host(link: &Link, size: u128) -> Link {
    let slug = link.placement.slug().unwrap();
    let target_url = samples::target(&format!("https://of-{size}.example.org/{slug}"));
    link.clone().with(|content| match content {
        AnyContent::Redirect(redirect) => redirect.target_url = target_url,
        AnyContent::Landing => {}
    })
}

#[tokio::main(flavor = "multi_thread")]
async fn main() {
    let links: u128 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(20_000);
    let folder = tempfile::tempdir().unwrap();
    let file = DatabaseFile::at(folder.path().join("measure.db")).unwrap();
    let options = SqliteOptions { time_limit: Duration::from_mins(10), ..SqliteOptions::default() };
    let store = Arc::new(SqliteStore::open(&file, &options).unwrap());
    let owner = samples::account();
    let account = owner.id;
    let (key, _) = samples::key(account);
    let mut work = store.begin().await.unwrap();
    work.insert_account(&owner).await.unwrap();
    assert!(work.insert_key(&key).await.unwrap());
    work.commit().await.unwrap();
    fill(&store, account, links).await;

    let address = |number: u128| {
        let slug = Slug::parse(&format!("link-{}", number * 7_919 % links + 1)).unwrap();
        Address { site: Site::System, slug: Some(slug) }
    };
    one_by_one("key, account and usage by hash", 5_000, async |_| {
        assert!(store.key_holder(&key.hash).await.unwrap().is_some());
    })
    .await;
    one_by_one("link by address", 5_000, async |number| {
        assert!(store.published_link(&address(number)).await.unwrap().is_some());
    })
    .await;
    at_once("link by address, 32 tasks", 32, 500, async |number| {
        assert!(store.published_link(&address(number)).await.unwrap().is_some());
    })
    .await;
    let page = |after| {
        let store = Arc::clone(&store);
        async move {
            let filter = LinkFilter::default();
            store.links(account, LinkKind::Redirect, &filter, PageLimit::default(), after).await.unwrap()
        }
    };
    one_by_one("page of 25, the first", 500, async |_| drop(page(None).await)).await;
    let deep = Some(PagePosition::behind(40_u128.to_be_bytes()));
    one_by_one("page of 25, the last but one", 500, async |_| drop(page(deep).await)).await;
    one_by_one("search that finds nothing, whole account", 3, async |_| {
        let filter =
            LinkFilter { search: Some(SearchText::parse("nowhere").unwrap()), ..LinkFilter::default() };
        let page =
            store.links(account, LinkKind::Redirect, &filter, PageLimit::default(), None).await.unwrap();
        assert!(page.items.is_empty());
    })
    .await;
    one_by_one("admission", 5_000, async |_| {
        store.admit(account, BUDGET, samples::at(0)).await.unwrap();
    })
    .await;
    at_once("admission, 32 tasks", 32, 500, async |_| {
        store.admit(account, BUDGET, samples::at(0)).await.unwrap();
    })
    .await;
    let insert = |number: u128| {
        let store = Arc::clone(&store);
        async move {
            let mut work = store.begin().await.unwrap();
            insert(work.as_mut(), account, &[numbered(number)]).await;
            work.commit().await.unwrap();
        }
    };
    one_by_one("unit of work that inserts one link", 2_000, async |number| insert(links + 1 + number).await)
        .await;
    at_once("the same, 32 tasks", 32, 100, async |number| insert(links + 10_000 + number).await).await;
    one_by_one("admission and unit of work in turn", 2_000, async |number| {
        store.admit(account, BUDGET, samples::at(0)).await.unwrap();
        insert(links + 100_000 + number).await;
    })
    .await;
    batches(&store, account, links + 1_000_000).await;
    move_targets(&store, account, links).await;
    one_by_one("deleting the account with all its links", 1, async |_| {
        let mut work = store.begin().await.unwrap();
        assert!(work.delete_account(account).await.unwrap());
        work.commit().await.unwrap();
    })
    .await;
}
