//! Passwords of links are the same on every node, and what is counted of wrong ones is each node's own (D131).

use serde_json::{Value, json};

use super::{clients, nodes};
use crate::harness::{OPENING, Program, Visit, Visitor, concurrently, redirect_body, within_one_minute};

const TARGET: &str = "https://example.com/prices";

fn send(visitor: &Visitor, path: &str, password: &str) -> Visit {
    let headers = [OPENING[0], OPENING[1], ("Content-Type", "application/x-www-form-urlencoded")];
    visitor.request_with("POST", path, &headers, format!("password={password}").as_bytes())
}

/// The statuses of the form on each node, after that of its page has become `before`.
fn on_each(visitors: &[Visitor], path: &str, before: u16, password: &str) -> Vec<u16> {
    let status = |visitor: &Visitor| {
        visitor.open_until(path, before);
        send(visitor, path, password).status
    };
    visitors.iter().map(status).collect()
}

fn visitors(nodes: &[Program]) -> Vec<Visitor> {
    nodes.iter().map(Program::visitor).collect()
}

#[test]
fn d58_d131_every_node_asks_for_the_password_of_now() {
    let Some(scene) = nodes(3, "") else { return };
    let accounts = clients(&scene.nodes, "agency");
    let visitors = visitors(&scene.nodes);
    let body = redirect_body(json!({"slug": "prices", "target_url": TARGET}));
    let link = accounts[0].post("/v1/redirects", &body).expect_status(201);
    let link = format!("/v1/redirects/{}", link.body["id"].as_str().unwrap());
    let patch = |node: usize, password: Value| {
        let answer = accounts[node].patch(&link, &json!({ "password": password })).expect_status(200);
        assert_eq!(answer.body["has_password"], json!(!password.is_null()));
    };
    assert_eq!(on_each(&visitors, "/prices", 302, "first"), [405; 3]);
    patch(1, json!("first"));
    assert_eq!(on_each(&visitors, "/prices", 200, "first"), [303; 3]);
    // A password is read from the store, so another one applies at once.
    patch(2, json!("second"));
    assert_eq!(on_each(&visitors, "/prices", 200, "first"), [403; 3]);
    assert_eq!(on_each(&visitors, "/prices", 200, "second"), [303; 3]);
    patch(0, json!(null));
    assert_eq!(on_each(&visitors, "/prices", 302, "second"), [405; 3]);
}

#[test]
fn d130_d131_a_limit_behind_a_password_is_exact_over_all_nodes() {
    const MAX: usize = 20;
    let Some(scene) = nodes(3, "") else { return };
    let account = &clients(&scene.nodes, "agency")[0];
    let visitors = visitors(&scene.nodes);
    let body = json!({"slug": "limited", "target_url": TARGET, "password": "first", "max_clicks": MAX});
    let link = account.post("/v1/redirects", &redirect_body(body)).expect_status(201);
    let given = concurrently(9, |number| {
        let (visitor, mut given) = (&visitors[number % 3], 0);
        visitor.open_until("/limited", 200);
        loop {
            let visit = send(visitor, "/limited", "first");
            match (visit.status, visit.location()) {
                (303, Some(TARGET)) => given += 1,
                (410, None) => return given,
                // The pool of passwords was full, or the store was slow to give the node clicks.
                (503, None) => {}
                other => panic!("{other:?}: {visit:?}"),
            }
        }
    });
    assert_eq!(given.into_iter().sum::<usize>(), MAX);
    let path = format!("/v1/redirects/{}", link.body["id"].as_str().unwrap());
    let shown = account.get(&path).expect_status(200).body;
    assert_eq!([&shown["clicks_left"], &shown["state"]], [&json!(0), &json!("exhausted")]);
}

#[test]
fn d131_wrong_passwords_are_counted_by_each_node() {
    let Some(scene) = nodes(2, "") else { return };
    let account = &clients(&scene.nodes, "agency")[0];
    let visitors = visitors(&scene.nodes);
    // Another link for each run, because what is counted of one lasts for the minute.
    let runs = std::cell::Cell::new(0);
    let wrong = within_one_minute(|| {
        let slug = format!("prices-{}", runs.replace(runs.get() + 1));
        let body = json!({"slug": slug, "target_url": TARGET, "password": "first"});
        account.post("/v1/redirects", &redirect_body(body)).expect_status(201);
        let path = format!("/{slug}");
        let count = |visitor: &Visitor| {
            visitor.open_until(&path, 200);
            (0..20).take_while(|_| send(visitor, &path, "wrong").status == 403).count()
        };
        visitors.iter().map(count).collect::<Vec<_>>()
    });
    assert_eq!(wrong, [10, 10]);
}
