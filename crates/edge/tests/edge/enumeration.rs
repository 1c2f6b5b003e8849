//! Guessing links is slow and reveals nothing (D54, R30).
//!
//! Times on a shared machine prove little, so these tests count look-ups: every reason for a 404 costs the
//! same number, and so takes as long. A soak measures the times.

use std::collections::BTreeMap;
use std::time::Duration;

use signpost_app::ports::Store;
use signpost_domain::{CustomDomainStatus, Landing, Life, Redirect, Schedule};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::harness::{Edge, HOST, options, redirect_to};

/// One address for each reason for a 404, with a name for messages.
async fn addresses_of_nothing(edge: &Edge) -> Vec<(&'static str, &'static str, &'static str)> {
    edge.add(&Redirect { is_active: false, ..samples::redirect("inactive") }).await;
    let page = Landing { is_active: false, ..samples::landing("page") };
    edge.add(&page).await;
    edge.write_page(&page, &samples::page_content()).await;
    edge.add(&samples::redirect_at(samples::lost(Some("lost")))).await;
    let schedule = Schedule::new(Some(samples::at(1_000_000)), None).unwrap();
    let life = Life { schedule, fallback_url: None };
    edge.add(&Redirect { life, ..redirect_to("later", "https://example.com/no/address/of/ours") }).await;
    let expires_at = samples::at(1_000_000);
    for (hostname, status) in [
        ("pending.example.net", CustomDomainStatus::Pending { expires_at }),
        ("ssl.example.net", CustomDomainStatus::SslPending { expires_at }),
        ("failed.example.net", CustomDomainStatus::Failed),
    ] {
        edge.connect_domain(hostname, status).await;
        for slug in [Some("sale"), None] {
            edge.add(&samples::redirect_at(samples::on_custom(hostname, slug))).await;
        }
    }
    vec![
        ("missing", HOST, "/missing"),
        ("inactive redirect", HOST, "/inactive"),
        ("inactive landing page", HOST, "/page"),
        ("lost", HOST, "/lost"),
        ("not begun", HOST, "/later"),
        ("domain pending", "pending.example.net", "/sale"),
        ("root of a domain pending", "pending.example.net", "/"),
        ("domain without its certificate", "ssl.example.net", "/sale"),
        ("domain failed", "failed.example.net", "/sale"),
        ("unknown host", "unknown.example", "/sale"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn d54_r30_every_404_costs_one_look_up_then_none() {
    let edge = Edge::start().await;
    edge.stay_in_sync();
    let addresses = addresses_of_nothing(&edge).await;
    let reads = edge.memory.store.link_reads();
    let look_ups = |host: &str, method: &str, path: &str| {
        let before = reads.count();
        let answer = edge.request_with(method, path, &format!("Host: {host}\r\n"));
        (reads.count() - before, answer)
    };
    let expected = edge.get("/any").headers;
    for round in 0..2 {
        for (reason, host, path) in &addresses {
            let (first, answer) = look_ups(host, "GET", path);
            assert_eq!((answer.status, &answer.headers), (404, &expected), "{reason}");
            assert_eq!(first, 1, "{reason} in round {round}");
            let again: usize = ["GET", "HEAD", "GET", "HEAD", "GET"]
                .into_iter()
                .map(|method| look_ups(host, method, path).0)
                .sum();
            assert_eq!(again, 0, "{reason} in round {round}");
        }
        // Now everything is looked up again.
        edge.app.changes.publish_gap();
    }
}

/// From the moment of the suspension, links of a suspended account cost as much as missing ones.
#[tokio::test(flavor = "multi_thread")]
async fn d54_r30_suspended_link_costs_one_look_up_like_a_missing_one() {
    let edge = Edge::start().await;
    edge.stay_in_sync();
    edge.add(&samples::redirect("suspended")).await;
    let mut work = edge.memory.store.begin().await.unwrap();
    work.set_suspended(edge.account, Some(samples::at(0))).await.unwrap();
    edge.commit(work).await;
    let reads = edge.memory.store.link_reads();
    let missing = edge.get("/missing");
    for (path, counted) in [("/suspended", 2), ("/suspended", 2), ("/missing", 2)] {
        assert_eq!(edge.get(path), missing, "{path}");
        assert_eq!(reads.count(), counted, "{path}");
    }
}

/// The contract allows 300 answers a minute, whatever is guessed and how, and no further look-ups. The fakes'
/// clock stands still.
#[tokio::test(flavor = "multi_thread")]
async fn d54_r30_only_300_of_700_guesses_a_minute_are_looked_up() {
    let edge = Edge::start_with(InMemory::default(), options(300), |_| {}).await;
    edge.stay_in_sync();
    let addresses = addresses_of_nothing(&edge).await;
    let reads = edge.memory.store.link_reads();
    let guess = |number: usize| {
        let method = if number.is_multiple_of(2) { "GET" } else { "HEAD" };
        let (_, host, path) = addresses[number % addresses.len()];
        // Each address with a reason is guessed once; the remaining guesses are addresses that never existed.
        let path = if number < addresses.len() { path.to_owned() } else { format!("/guess-{number}") };
        edge.request_with(method, &path, &format!("Host: {host}\r\n")).status
    };
    for (numbers, expected) in
        [(0..700, BTreeMap::from([(404, 300), (429, 400)])), (700..800, BTreeMap::from([(429, 100)]))]
    {
        let mut statuses = BTreeMap::new();
        for number in numbers {
            *statuses.entry(guess(number)).or_insert(0) += 1;
        }
        assert_eq!(statuses, expected);
        assert_eq!(reads.count(), 300);
    }
    // The fakes' clock is at second 7.042 of its minute.
    edge.memory.clock.advance(Duration::from_secs(53));
    assert_eq!((guess(800), reads.count()), (404, 301));
}
