//! Links begin and end by themselves while PostgreSQL is away (D58, D128).

use serde_json::{Value, json};
use signpost_test_servers::proxy::Behaviour;

use super::WHO;
use crate::harness::{LEADS, Visit, instant, now_millis, visits_before};
use crate::scene::{Scene, await_own_changes};
use crate::waiting::{await_event, create};

const TARGET: &str = "https://example.com/some/page";
const FALLBACK: &str = "https://example.com/over/now";

/// A link that begins at an instant, and two that end at it.
const SLUGS: [&str; 3] = ["begins", "ends", "is-over"];

fn leads_to(visit: &Visit, location: &str) -> bool {
    (visit.status, visit.location()) == (302, Some(location))
}

#[test]
fn d58_d128_links_in_memory_begin_and_end_while_the_database_is_away() {
    let Some(scene) = Scene::builder(WHO, 1).behind_proxy().short_store_timeout().start() else { return };
    let node = &scene.nodes[0];
    let visitor = node.visitor();
    let open = |slug: &str| visitor.open(&format!("/{slug}"));
    let is_watched = LEADS.into_iter().enumerate().any(|(round, lead)| {
        let at = now_millis() + lead;
        let slugs = SLUGS.map(|slug| format!("{slug}-{round}"));
        let [begins, ends, is_over] = &slugs;
        let dates = |starts_at: Value, expires_at: Value, fallback_url: Value| {
            json!({"starts_at": starts_at, "expires_at": expires_at, "fallback_url": fallback_url})
        };
        let instant = json!(instant(at));
        for (slug, dates) in [
            (begins, dates(instant.clone(), Value::Null, Value::Null)),
            (ends, dates(Value::Null, instant.clone(), json!(FALLBACK))),
            (is_over, dates(Value::Null, instant.clone(), Value::Null)),
        ] {
            let mut body = json!({"name": "x", "slug": slug, "target_url": TARGET});
            body.as_object_mut().unwrap().extend(dates.as_object().unwrap().clone());
            create(&scene.account, slug, "/v1/redirects", &body);
        }
        await_own_changes(node);
        // The node reads each of them now, or waits for the store, which a busy machine may delay.
        await_event("the node has the links in memory", || {
            slugs.iter().all(|slug| matches!(open(slug).status, 302 | 404 | 410))
        });
        scene.proxy().set(Behaviour::Refuse);
        await_event("the node cannot read the database", || open("never-heard-of").status == 503);
        // No node says during an outage that nothing is there (D58), and so not of a link that has not begun.
        let is_scheduled = |visit: &Visit| matches!(visit.status, 404 | 503) && visit.location().is_none();
        let seen = std::thread::scope(|threads| {
            let visits = [
                threads.spawn(|| {
                    visits_before(at, || open(begins), is_scheduled, |visit| leads_to(visit, TARGET))
                }),
                threads.spawn(|| {
                    let is_ended = |visit: &Visit| leads_to(visit, FALLBACK);
                    visits_before(at, || open(ends), |visit| leads_to(visit, TARGET), is_ended)
                }),
                threads.spawn(|| {
                    let is_ended = |visit: &Visit| visit.status == 410;
                    visits_before(at, || open(is_over), |visit| leads_to(visit, TARGET), is_ended)
                }),
            ];
            visits.map(|visits| visits.join().unwrap())
        });
        scene.proxy().set(Behaviour::Pass);
        await_event("the node reads the database again", || open("never-heard-of").status == 404);
        seen.iter().all(|before| *before > 0)
    });
    assert!(is_watched, "no visit came before an instant {LEADS:?} ms ahead");
}
