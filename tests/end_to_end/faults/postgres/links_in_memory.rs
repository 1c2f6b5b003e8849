//! Redirects work without the database (D58, D63; R11).

use std::time::{Duration, Instant};

use serde_json::json;
use signpost_test_servers::proxy::Behaviour;

use super::WHO;
use crate::scene::{ANSWERED_WITHIN, Scene};
use crate::size::{count, length, report};

/// How soon service is normal when the database is back (R11).
const BACK_WITHIN: Duration = Duration::from_secs(5);

fn target(number: usize) -> String {
    format!("https://example.com/shop/{number}/offers")
}

/// Whether PostgreSQL refuses or is silent, links in the node's memory open, and no visitor gets a 404 for a
/// link.
#[test]
fn d58_r11_links_in_memory_open_while_the_database_is_away() {
    let Some(scene) = Scene::behind_proxy(WHO, 1) else { return };
    let node = &scene.nodes[0];
    let visitor = node.visitor();
    let links = count(40, 100);
    for number in 0..=links {
        let body = json!({"name": "x", "slug": format!("hot{number}"), "target_url": target(number)});
        scene.account.create_redirect(&body);
    }
    // A node reads its own changes in the log too, and then drops these links from memory.
    let changes = |origin: &str| -> u64 {
        node.metric(&format!("signpost_changes_total{{origin=\"{origin}\"}}")).parse().unwrap()
    };
    while changes("log") < changes("own") {}
    // The last link stays cold.
    let open_all = || {
        for number in 0..links {
            let visit = visitor.open(&format!("/hot{number}"));
            assert_eq!((visit.status, visit.location()), (302, Some(target(number).as_str())));
        }
    };
    let health = |what: &str| {
        let path = format!("/health/{what}");
        node.with_key("").send_with("GET", &path, &[], None).status
    };
    let cold = format!("/hot{links}");
    open_all();
    for behaviour in [Behaviour::Refuse, Behaviour::BlackHole] {
        let begun = Instant::now();
        scene.proxy().set(behaviour.clone());
        while begun.elapsed() < length(Duration::from_secs(3)) {
            open_all();
        }
        for path in [cold.as_str(), "/never-heard-of"] {
            let asked = Instant::now();
            let visit = visitor.open(path);
            assert_eq!(visit.status, 503, "{path}, {behaviour:?}");
            assert!(visit.header("retry-after").is_some());
            assert!(asked.elapsed() <= ANSWERED_WITHIN + BACK_WITHIN, "{:?}", asked.elapsed());
        }
        while health("ready") != 503 {
            assert!(begun.elapsed() < length(Duration::from_secs(30)), "the node says that it is ready");
        }
        assert_eq!(health("links"), 200, "D63: it can serve visitors");
        scene.proxy().set(Behaviour::Pass);
        let back = Instant::now();
        while visitor.open("/never-heard-of").status != 404 || health("ready") != 200 {
            assert!(back.elapsed() < BACK_WITHIN, "{behaviour:?}");
        }
        report("R11", &format!("normal {:.2?} after {behaviour:?}", back.elapsed()));
    }
    assert_eq!(visitor.open(&cold).status, 302);
}
