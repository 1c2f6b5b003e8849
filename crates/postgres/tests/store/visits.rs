//! Simultaneous visits, which share a statement (ADR 38).

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use signpost_app::ports::{LinkReads, StoreError};
use signpost_domain::{Address, Site};
use signpost_port_contracts::samples;
use signpost_port_contracts::store::corrupt_rows::report;
use signpost_postgres::PostgresOptions;
use signpost_test_servers::postgres;

use super::corrupt_rows::lenient;
use super::database::{account, insert, migrated, open, open_at, patiently, unavailable};
use super::proxy::Proxy;

fn address(slug: &str) -> Address {
    Address { site: Site::System, slug: Some(samples::slug(slug)) }
}

/// A row that PostgreSQL returns but Diesel cannot decode fails the whole result; the others are asked for again.
#[tokio::test(flavor = "multi_thread")]
async fn corrupt_link_fails_only_its_own_visits() {
    let database = lenient().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let slugs: Vec<String> = (0..40).map(|number| format!("link-{number}")).collect();
    for slug in &slugs {
        insert(&store, account, samples::redirect(slug)).await;
    }
    let corrupt =
        [("link-7", "target_url", "'x'"), ("link-8", "kind", "7"), ("link-9", "geo_blocklist", "'??'")];
    for (slug, column, value) in corrupt {
        database.run(&format!("UPDATE links SET {column} = {value} WHERE slug = '{slug}'"));
    }
    for is_undecodable in [false, true] {
        if is_undecodable {
            database.run("UPDATE links SET pixel_ids = '{NULL}' WHERE slug = 'link-30'");
        }
        // Twice, so that some are certainly in a batch.
        let addresses: Vec<Address> = slugs.iter().chain(&slugs).map(|slug| address(slug)).collect();
        let found = join_all(addresses.iter().map(|address| store.published_link(address))).await;
        for (slug, found) in slugs.iter().chain(&slugs).zip(found) {
            if let Some((_, column, _)) = corrupt.iter().find(|(corrupt, ..)| corrupt == slug) {
                assert_eq!(report(found).place, format!("links.{column}"));
            } else if is_undecodable && slug == "link-30" {
                assert!(matches!(found, Err(StoreError::Unavailable(_))), "{found:?}");
            } else {
                assert!(found.unwrap().is_some(), "{slug}");
            }
        }
    }
}

/// R11: when the server is silent, every visit fails in time, and visits succeed when the server is back.
#[tokio::test(flavor = "multi_thread")]
async fn r11_visits_fail_in_time_when_the_server_is_silent() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    insert(&store, account, samples::redirect("link")).await;
    let proxy = Proxy::to(postgres::shared("crates/postgres").port()).await;
    let options = PostgresOptions::with_time_limit(Duration::from_secs(2));
    let store = open_at(&proxy.url(database.name()), &options).await;
    let link = address("link");
    assert!(patiently(async || store.published_link(&link).await).await.is_some());
    proxy.hold(true);
    proxy.cut();
    let began = Instant::now();
    let slugs: Vec<Address> = (0..300).map(|number| address(&format!("link-{number}"))).collect();
    for outcome in join_all(slugs.iter().map(|address| store.published_link(address))).await {
        unavailable(outcome);
    }
    // If each batch waited for the one before it, ten batches would take twenty seconds.
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    proxy.hold(false);
    // Visitors are served again.
    assert!(patiently(async || store.published_link(&link).await).await.is_some());
}

/// D64: workers may still call after the store's runtime has ended.
#[test]
fn d64_visits_that_wait_fail_after_the_runtime_has_ended() {
    let runtime = |threads| {
        tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build().unwrap()
    };
    let own = runtime(2);
    let (_database, store) = own.block_on(async {
        let database = migrated().await;
        let store = open(&database).await;
        assert_eq!(store.published_link(&address("nothing")).await.unwrap(), None);
        (database, Arc::new(store))
    });
    drop(own);
    let refused = runtime(1).block_on(async {
        let slugs: Vec<Address> = (0..20).map(|number| address(&format!("link-{number}"))).collect();
        join_all(slugs.iter().map(|address| store.published_link(address))).await
    });
    // Visits with a turn use connections of their own runtime. Those that wait for a turn are never served.
    let (served, refused): (Vec<_>, Vec<_>) = refused.into_iter().partition(Result::is_ok);
    assert!(!refused.is_empty(), "{served:?}");
    for outcome in refused {
        unavailable(outcome);
    }
}
