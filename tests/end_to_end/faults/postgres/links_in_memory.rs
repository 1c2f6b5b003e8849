//! Redirects work without the database (D58, D63; R11).

use std::time::{Duration, Instant};

use serde_json::json;
use signpost_test_servers::proxy::Behaviour;

use super::WHO;
use crate::scene::{Scene, await_own_changes};
use crate::size::{count, length, report, within};
use crate::waiting::{await_event, await_promised, create};

/// How soon service is normal when the database is back (R11).
const BACK_WITHIN: Duration = Duration::from_secs(5);

fn target(number: usize) -> String {
    format!("https://example.com/shop/{number}/offers")
}

/// Whether PostgreSQL refuses or is silent, links in the node's memory open, and no visitor gets a 404 for a
/// link.
#[test]
fn d58_r11_links_in_memory_open_while_the_database_is_away() {
    let Some(scene) = Scene::builder(WHO, 1).behind_proxy().short_store_timeout().start() else { return };
    let node = &scene.nodes[0];
    let visitor = node.visitor();
    let links = count(40, 100);
    for number in 0..=links {
        let slug = format!("hot{number}");
        let body = json!({"name": "x", "slug": slug, "target_url": target(number)});
        create(&scene.account, &slug, "/v1/redirects", &body);
    }
    await_own_changes(node);
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
    for number in 0..links {
        // A busy machine may exceed the short time limit of the store.
        visitor.open_until(&format!("/hot{number}"), 302);
    }
    for behaviour in [Behaviour::Refuse, Behaviour::BlackHole] {
        let begun = Instant::now();
        scene.proxy().set(behaviour.clone());
        await_event("the node says that it is not ready", || {
            open_all();
            health("ready") == 503
        });
        while begun.elapsed() < length(Duration::ZERO) {
            open_all();
        }
        for path in [cold.as_str(), "/never-heard-of"] {
            let asked = Instant::now();
            let visit = visitor.open(path);
            assert_eq!(visit.status, 503, "{path}, {behaviour:?}");
            assert!(visit.header("retry-after").is_some());
            let took = asked.elapsed();
            assert!(took <= within(scene.answered_within()), "{took:?}");
            report("R11", &format!("{path} answered after {took:.2?}, {behaviour:?}"));
        }
        // The time limit of the store has passed, which changes nothing for links in memory.
        open_all();
        assert_eq!(health("links"), 200, "D63: it can serve visitors");
        scene.proxy().set(Behaviour::Pass);
        await_promised(&format!("R11, normal after {behaviour:?}"), BACK_WITHIN, || {
            visitor.open("/never-heard-of").status == 404 && health("ready") == 200
        });
    }
    visitor.open_until(&cold, 302);
}
