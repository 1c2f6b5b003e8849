//! The list of all nodes on the health page (D69, ADR 91).

use std::sync::Arc;
use std::time::Duration;

use signpost_app::background::{JobRunner, ReportNode};
use signpost_app::node_health::{Part, WaitingClicks};
use signpost_app::ports::{
    LeaseHolder, NodeId, NodeReport, NodeReports as _, ReportText, Sealer as _, StoredAuthorityAccount,
};
use signpost_memory::{Fault, MarkingSealer, Step};

use crate::harness::{Browser, DIRECTORY, Dashboard, texts_of};

/// A browser of the operator at this node.
fn browser_at(node: &Dashboard, operator: &Browser) -> Browser {
    let browser = node.browser();
    browser.cookies.borrow_mut().clone_from(&operator.cookies.borrow());
    browser
}

/// The runner of the reports of a node.
fn reporter(node: &Dashboard) -> JobRunner {
    let job = ReportNode::new(Arc::clone(&node.app)).unwrap();
    JobRunner::new(&node.app, Arc::new(job), LeaseHolder::from_bytes([1; 16]))
}

#[actix_web::test]
async fn d69_the_health_page_lists_all_nodes() {
    let dashboard = Dashboard::start().await;
    let operator = dashboard.invited("op@example.com", None, true).await;
    let [first, second] = [dashboard.on_node("web-1").await, dashboard.on_node("web-2").await];
    let browser = browser_at(&first, &operator);
    let page = async || browser.get("/operator/health").await.body;
    let alone = page().await;
    assert!(alone.contains("web-1</b><b class=\"tag\">This node</b> <b class=\"tag\">Works"), "{alone}");
    assert!(alone.contains("Version ") && !alone.contains("web-2"), "{alone}");

    let now = dashboard.app.clock.now();
    second.app.health.fails_with(Part::ClickStore, now, "no space <left>");
    second.app.health.clicks_wait(WaitingClicks { clicks: 1_204, bytes: 350 * 1024, oldest: None });
    let mut reporter = reporter(&second);
    reporter.tick().await;
    reporter.work().await;
    dashboard.memory.clock.advance(Duration::from_secs(5));
    let both = page().await;
    for words in [
        "Everything that this node depends on works.",
        "Parts of another node fail.",
        "web-2</b><b class=\"tag del\">Fails",
        "Heard from 5 seconds ago.",
        "Clicks waiting for the click store: 1,204 (350 KB).",
        "Click store. Last error, ",
        "<bdi>no space &#60;left&#62;</bdi>",
    ] {
        assert!(both.contains(words), "{words} in {both}");
    }
    assert!(!both.contains("silent") && !both.contains("about this node alone"), "{both}");

    dashboard.memory.clock.advance(Duration::from_mins(3));
    let silent = page().await;
    for words in
        ["One node is silent.", "web-2</b><b class=\"tag del\">Silent", "Not heard from for 3 minutes."]
    {
        assert!(silent.contains(words), "{words} in {silent}");
    }
    assert!(!silent.contains("Parts of another node fail."), "{silent}");
    reporter.stop().await;
    let stopped = page().await;
    assert!(stopped.contains("web-1") && !stopped.contains("web-2"), "{stopped}");
}

#[actix_web::test]
async fn d69_the_health_page_says_that_a_killed_node_was_started_again() {
    let dashboard = Dashboard::start().await;
    let operator = dashboard.invited("op@example.com", None, true).await;
    let killed = dashboard.on_node("web-1").await;
    let mut reporter = reporter(&killed);
    reporter.tick().await;
    reporter.work().await;
    dashboard.memory.clock.advance(Duration::from_mins(2));
    let browser = browser_at(&dashboard.on_node("web-1").await, &operator);
    let page = browser.get("/operator/health").await.body;
    assert!(
        page.contains("Not heard from for 2 minutes. Another one has started on this machine since."),
        "{page}"
    );
    assert!(!page.contains("silent"), "{page}");
}

#[actix_web::test]
async fn d69_the_health_page_works_without_a_list_of_nodes() {
    let dashboard = Dashboard::start().await;
    let operator = dashboard.invited("op@example.com", None, true).await;
    let browser = browser_at(&dashboard.on_node("web-1").await, &operator);
    dashboard.memory.store.faults().fail_next(Step::Report, Fault::Unavailable, 1);
    let page = browser.get("/operator/health").await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("The database gave no list of nodes: ") && page.body.contains("Change log"));
}

/// Writes the report of a node, which then goes on or is killed.
async fn tell(node: &Dashboard) {
    let mut reporter = reporter(node);
    reporter.tick().await;
    reporter.work().await;
}

/// Each node of the list: whether its state is marked as bad, how many of its lines are, and what a person reads.
fn nodes_on(page: &str) -> Vec<(bool, usize, Vec<String>)> {
    let (_, rest) = page.split_once("<h2>Nodes</h2>").unwrap();
    let (list, _) = rest.split_once("</ol>").unwrap();
    let node = |row: &str| {
        let marked = row.matches("class=\"err\"").count();
        (row.contains("<b class=\"tag del\">"), marked, texts_of(row))
    };
    list.split("<li>").skip(1).map(node).collect()
}

fn warnings_on(page: &str) -> Vec<String> {
    let warnings = page.split("<p class=\"note warn\">").skip(1);
    warnings.map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
}

#[actix_web::test]
async fn d69_silent_replaced_failing_and_healthy_nodes_each_read_right() {
    let dashboard = Dashboard::start().await;
    let operator = dashboard.invited("op@example.com", None, true).await;
    let [hung, killed, failing, healthy] =
        ["web-2", "web-3", "web-4", "web-5"].map(|host| dashboard.on_node(host));
    let [hung, killed, failing, healthy] = [hung.await, killed.await, failing.await, healthy.await];
    let now = dashboard.app.clock.now();
    hung.app.health.fails_with(Part::ChangeLog, now, "no change log");
    killed.app.health.fails_with(Part::Dns, now, "no name server");
    failing.app.health.fails_with(Part::ClickStore, now, "no space");
    failing.app.health.clicks_wait(WaitingClicks { clicks: 1, bytes: 1, oldest: None });
    for node in [&hung, &killed] {
        tell(node).await;
    }
    dashboard.memory.clock.advance(Duration::from_mins(2));
    let restarted = dashboard.on_node("web-3").await;
    for node in [&failing, &healthy, &restarted] {
        tell(node).await;
    }
    dashboard.memory.clock.advance(Duration::from_secs(1));
    let here = dashboard.on_node("web-1").await;
    here.app.health.fails_with(Part::ClickSpool, now, "no spool");
    let browser = browser_at(&here, &operator);
    let page = browser.get("/operator/health").await.body;

    let version = env!("CARGO_PKG_VERSION");
    let started = |time: &str| format!("Version {version}, started 31 Jan 2026, {time}.");
    let [early, late, latest] = ["10:05:07", "10:07:07", "10:07:08"].map(started);
    let waiting = format!("{early} Clicks waiting for the click store: 1 (1 KB).");
    let silent = "Not heard from for 2 minutes. It hangs, was killed, or does not reach the database.";
    let replaced = "Not heard from for 2 minutes. Another one has started on this machine since.";
    let last = |part: &str| format!("{part}. Last error, 31 Jan 2026, 10:05:07:");
    let [spool, log, store, dns] = ["Spool of clicks", "Change log", "Click store", "Name servers"].map(last);
    let heard = "Heard from 1 second ago.";
    let expected: [(bool, usize, &[&str]); 6] = [
        (true, 1, &["web-1", "This node", "Fails", &latest, &spool, "no spool"]),
        (true, 1, &["web-2", "Silent", &early, silent, &log, "no change log"]),
        (false, 0, &["web-3", "Works", &late, heard]),
        (true, 1, &["web-4", "Fails", &waiting, heard, &store, "no space"]),
        (false, 0, &["web-5", "Works", &early, heard]),
        // Its errors are history.
        (false, 0, &["web-3", "Replaced", &early, replaced, &dns, "no name server"]),
    ];
    let nodes = nodes_on(&page);
    let nodes: Vec<_> = nodes.iter().map(|(is_bad, marked, texts)| (*is_bad, *marked, texts)).collect();
    assert_eq!(nodes.len(), expected.len(), "{nodes:?}");
    for ((is_bad, marked, texts), expected) in nodes.into_iter().zip(expected) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!((is_bad, marked, &texts[..]), expected);
    }
    let fail = |which: &str| {
        format!(
            "Parts of {which} fail. A part counts as failing until it works again. A job is tried again within an hour; name servers and \
             the certificate authority are tried when they are needed next."
        )
    };
    let one_silent = "One node is silent.".to_owned();
    assert_eq!(warnings_on(&page), [one_silent.clone(), fail("another node")]);
    assert!(page.contains("One part fails at present."), "{page}");

    // Once no node reports, none counts as replaced.
    dashboard.memory.clock.advance(Duration::from_mins(1));
    let page = browser.get("/operator/health").await.body;
    assert_eq!(warnings_on(&page), ["5 nodes are silent."]);
    for node in [&failing, &healthy, &restarted] {
        node.app.health.fails_with(Part::ClickStore, now, "no space");
        tell(node).await;
    }
    let page = browser.get("/operator/health").await.body;
    assert_eq!(warnings_on(&page), [one_silent, fail("3 other nodes")]);
}

#[actix_web::test]
async fn d192_the_list_marks_a_node_with_another_secrets_key() {
    let dashboard = Dashboard::start().await;
    let operator = dashboard.invited("op@example.com", None, true).await;
    let credentials = MarkingSealer::of(1).seal(&format!("account {DIRECTORY}"), b"secret").unwrap();
    let account = StoredAuthorityAccount { uri: "https://ca.example.net/1".to_owned(), credentials };
    dashboard.app.store.keep_authority_account(DIRECTORY, &account).await.unwrap();
    let here = dashboard.on_node_with_key("web-1:8081", 1).await;
    let other = dashboard.on_node_with_key("web-1:8091", 2).await;
    tell(&other).await;
    let page = browser_at(&here, &operator).get("/operator/health").await.body;
    let last = "Secrets key. Last error, 31 Jan 2026, 10:05:07:";
    let cause = "the account at the certificate authority was stored with another secrets-key, so this node orders and renews no \
                 certificate";
    let [(false, 0, own), (true, 1, marked)] = &nodes_on(&page)[..] else { panic!("{page}") };
    assert_eq!(own[..3], ["web-1:8081", "This node", "Works"]);
    assert_eq!(marked[..2], ["web-1:8091", "Fails"]);
    assert_eq!(marked[marked.len() - 2..], [last, cause]);
    assert!(warnings_on(&page)[0].starts_with("Parts of another node fail."), "{page}");
    assert!(page.contains("Everything that this node depends on works."), "{page}");

    // Its own page says so at the part.
    let page = browser_at(&other, &operator).get("/operator/health").await.body;
    let (_, row) = page.rsplit_once("<b class=\"name\">Secrets key</b>").unwrap();
    assert!(row.starts_with("<b class=\"tag del\">Fails</b>") && row.contains(cause), "{row}");
    assert!(page.contains("One part fails at present."), "{page}");
}

#[actix_web::test]
async fn d69_the_health_page_counts_the_nodes_that_it_does_not_list() {
    let dashboard = Dashboard::start().await;
    let operator = dashboard.invited("op@example.com", None, true).await;
    for number in 0..102_u8 {
        let report = NodeReport {
            node: NodeId::from_bytes([number; 16]),
            host: ReportText::cut("web"),
            version: ReportText::cut("1.0.0"),
            started_at: dashboard.app.clock.now(),
            failing: Vec::new(),
            waiting_clicks: None,
        };
        dashboard.memory.store.write_node_report(&report).await.unwrap();
    }
    let here = dashboard.on_node("web-1").await;
    let page = browser_at(&here, &operator).get("/operator/health").await.body;
    assert_eq!(nodes_on(&page).len(), 101);
    assert!(page.contains("Nodes that were heard from longer ago, and are not shown: 2."), "{page}");
}
