//! Links in memory: what ends them, and which outages they survive (D58, R11, R12, R32, R33).

use std::time::Duration;

use signpost_app::ports::Store;
use signpost_domain::{HostBlocklist, Redirect};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::harness::{Answer, Edge, options, redirect_to};

#[track_caller]
fn leads_to(answer: &Answer, location: &str) {
    assert_eq!((answer.status, answer.header("location")), (302, Some(location)));
}

#[tokio::test(flavor = "multi_thread")]
async fn d58_r11_cached_links_open_during_an_outage_of_the_store() {
    let edge = Edge::start().await;
    edge.add(&redirect_to("known", "https://example.com/1")).await;
    edge.add(&redirect_to("cold", "https://example.com/2")).await;
    edge.add(&samples::landing("menu")).await;
    let shown = edge.get("/menu");
    assert_eq!((edge.get("/known").status, shown.status), (302, 200));
    edge.memory.store.faults().set_unavailable(true);
    for _ in 0..20 {
        leads_to(&edge.get("/known"), "https://example.com/1");
        assert_eq!(edge.get("/menu"), shown);
        assert_eq!(edge.get("/cold").status, 503);
        assert_eq!(edge.get("/never-seen").status, 503);
    }
    edge.memory.store.faults().set_unavailable(false);
    leads_to(&edge.get("/cold"), "https://example.com/2");
}

#[tokio::test(flavor = "multi_thread")]
async fn d58_stale_limit_zero_stops_cached_links_within_a_second() {
    let memory = InMemory { stale_limit: Duration::ZERO, ..InMemory::default() };
    let edge = Edge::start_with(memory, options(0), |_| {}).await;
    edge.add(&samples::redirect("sale")).await;
    assert_eq!(edge.get("/sale").status, 302);
    edge.memory.store.faults().set_unavailable(true);
    while edge.get("/sale").status == 302 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(edge.get("/sale").status, 503);
    edge.memory.store.faults().set_unavailable(false);
    assert_eq!(edge.get("/sale").status, 302);
}

/// Neither a cached link nor a cached empty address asks the store.
#[tokio::test(flavor = "multi_thread")]
async fn d58_cached_answers_cost_no_look_up() {
    let edge = Edge::start().await;
    edge.stay_in_sync();
    edge.add(&redirect_to("sale", "https://example.com/no/address/of/ours")).await;
    let reads = edge.memory.store.link_reads();
    for _ in 0..10 {
        for (path, status) in [("/sale", 302), ("/none", 404), ("/sale/", 302), ("/s%61le?x", 302)] {
            assert_eq!(edge.get(path).status, status);
        }
    }
    assert_eq!(reads.count(), 2);
    edge.add(&redirect_to("none", "https://example.com/no/address/of/ours")).await;
    assert_eq!(edge.get("/none").status, 302, "a new link opens at once");
    assert_eq!(reads.count(), 3);
}

/// The load reads the old link, the link changes, and only then does the load end.
#[tokio::test(flavor = "multi_thread")]
async fn d58_r12_load_overtaken_by_a_change_restores_nothing_old() {
    let edge = Edge::start().await;
    let before = redirect_to("sale", "https://example.com/old");
    edge.add(&before).await;
    let store = edge.memory.store.clone();
    let held = store.link_reads().hold();
    std::thread::scope(|scope| {
        let early = scope.spawn(|| edge.get("/sale"));
        tokio::task::block_in_place(|| {
            let runtime = tokio::runtime::Handle::current();
            runtime.block_on(store.link_reads().counted(1));
            runtime.block_on(edge.update(&before, &Redirect { is_active: false, ..before.clone() }));
        });
        // It comes after the change, during the load.
        let late = scope.spawn(|| edge.get("/sale"));
        drop(held);
        assert_eq!(late.join().unwrap().status, 404);
        // A visitor who came before the change may see either version.
        assert!(matches!(early.join().unwrap().status, 302 | 404));
    });
    for _ in 0..5 {
        assert_eq!(edge.get("/sale").status, 404);
    }
}

/// A change of any link of a chain, of the owner or of the domain changes the answer.
#[tokio::test(flavor = "multi_thread")]
async fn d24_r12_change_of_any_chained_link_shows_on_the_first() {
    let edge = Edge::start().await;
    let last = redirect_to("c", "https://example.com/end");
    edge.add(&redirect_to("a", "https://go.example.com/b")).await;
    edge.add(&redirect_to("b", "https://go.example.com/c")).await;
    edge.add(&last).await;
    leads_to(&edge.get("/a"), "https://example.com/end");
    let next = last.clone().with(|content| content.target_url = samples::target("https://example.com/other"));
    edge.update(&last, &next).await;
    leads_to(&edge.get("/a"), "https://example.com/other");
    let looping =
        next.clone().with(|content| content.target_url = samples::target("https://go.example.com/a"));
    edge.update(&next, &looping).await;
    assert_eq!(edge.get("/a").status, 404, "R32");
    edge.update(&looping, &last).await;
    leads_to(&edge.get("/a"), "https://example.com/end");
    let mut work = edge.memory.store.begin().await.unwrap();
    work.set_suspended(edge.account, Some(samples::at(0))).await.unwrap();
    edge.commit(work).await;
    assert_eq!(edge.get("/a").status, 404);
}

/// A target that merely looked like one of our addresses becomes one.
#[tokio::test(flavor = "multi_thread")]
async fn d24_link_created_at_a_target_is_followed() {
    let edge = Edge::start().await;
    edge.add(&redirect_to("a", "https://go.example.com/b")).await;
    assert_eq!(edge.get("/a").status, 404);
    edge.add(&redirect_to("b", "https://example.com/end")).await;
    leads_to(&edge.get("/a"), "https://example.com/end");
}

#[tokio::test(flavor = "multi_thread")]
async fn d24_r33_list_applies_to_cached_links_without_the_store() {
    let edge = Edge::start().await;
    edge.add(&redirect_to("plain", "https://a.evil.example/x")).await;
    edge.add(&redirect_to("chain", "https://go.example.com/plain")).await;
    edge.add(&redirect_to("fine", "https://fine.example/")).await;
    let nothing = edge.get("/none");
    for path in ["/plain", "/chain", "/fine"] {
        assert_eq!(edge.get(path).status, 302);
    }
    edge.memory.store.faults().set_unavailable(true);
    for _ in 0..3 {
        edge.memory.target_blocklist.replace(HostBlocklist::parse("evil.example").unwrap());
        for _ in 0..2 {
            assert_eq!((edge.get("/plain"), edge.get("/chain")), (nothing.clone(), nothing.clone()));
            assert_eq!(edge.get("/fine").status, 302);
        }
        edge.memory.target_blocklist.replace(HostBlocklist::default());
        for path in ["/plain", "/chain", "/fine"] {
            assert_eq!(edge.get(path).status, 302);
        }
    }
}

/// A link that was listed at its first visit is cached anyway.
#[tokio::test(flavor = "multi_thread")]
async fn d24_r33_link_loaded_while_listed_opens_after_delisting() {
    let edge = Edge::start().await;
    edge.add(&redirect_to("sale", "https://evil.example/x")).await;
    edge.memory.target_blocklist.replace(HostBlocklist::parse("evil.example").unwrap());
    assert_eq!(edge.get("/sale").status, 404);
    edge.memory.store.faults().set_unavailable(true);
    assert_eq!(edge.get("/sale").status, 404);
    edge.memory.target_blocklist.replace(HostBlocklist::default());
    leads_to(&edge.get("/sale"), "https://evil.example/x");
}

#[tokio::test(flavor = "multi_thread")]
async fn d58_gap_in_the_change_log_reloads_everything() {
    let edge = Edge::start().await;
    edge.stay_in_sync();
    edge.add(&redirect_to("sale", "https://example.com/no/address/of/ours")).await;
    assert_eq!((edge.get("/sale").status, edge.get("/none").status), (302, 404));
    edge.app.changes.publish_gap();
    assert_eq!((edge.get("/sale").status, edge.get("/none").status), (302, 404));
    assert_eq!(edge.memory.store.link_reads().count(), 4);
}

/// Cached links of different addresses are never confused.
#[tokio::test(flavor = "multi_thread")]
async fn d21_each_cached_link_leads_to_its_own_target() {
    let edge = Edge::start().await;
    let target = |number: u32| {
        // Some fit into the worker's cache, others do not.
        let length = usize::try_from(number % 5).unwrap() * 20;
        format!("https://example.com/{number}/{}", "x".repeat(length))
    };
    for number in 0..300 {
        edge.add(&redirect_to(&format!("s{number}"), &target(number))).await;
    }
    for _ in 0..3 {
        for number in 0..300 {
            leads_to(&edge.get(&format!("/s{number}")), &target(number));
        }
    }
}
