//! Concurrent requests about one hostname, or for one address on a domain: R2 (D20, D40).

use serde_json::{Value, json};

use crate::harness::domains::{DomainScene, path_of, steady};
use crate::harness::{body_with, concurrently, redirect_body};

const ROUNDS: usize = 20;

/// One account connects a hostname many times at once: one domain, which all the answers show (D40).
#[test]
fn d40_a_hostname_that_one_account_connects_at_once_is_one_domain() {
    let scene = DomainScene::start();
    let clients = scene.clients();
    for round in 0..ROUNDS {
        let body = json!({"hostname": format!("go.shop{round}.test")});
        let answers = concurrently(6, |number| clients[number % 2].post("/v1/domains", &body));
        let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 200, 200, 200, 200, 201], "{answers:?}");
        // A check may come between two answers on a busy machine.
        let domains: Vec<Value> = answers.iter().map(|answer| steady(&answer.body)).collect();
        assert!(domains.iter().all(|domain| *domain == domains[0]), "{answers:?}");
    }
    assert_eq!(clients[0].get("/v1/account").body["usage"]["domains"], 20);
}

/// R2, contract D20: of all requests for an address on a domain at the same moment, one gets it. Roots count too.
#[test]
fn r2_an_address_on_a_domain_is_given_to_one_link() {
    let scene = DomainScene::start();
    let clients = scene.clients();
    let domains = ["go.shop.test", "shop.test"].map(|hostname| scene.activate(&clients[0], hostname));
    let movable: Vec<Value> = (0..ROUNDS).map(|_| clients[0].new_redirect()).collect();
    for (round, link) in movable.iter().enumerate() {
        // Every other round is about a root. There are few, so the round frees it again.
        let slug = if round % 2 == 0 { json!(format!("s{round}")) } else { Value::Null };
        let place = json!({"domain": domains[round % 4 / 2]["hostname"], "slug": slug});
        let answers = concurrently(7, |number| {
            let client = &clients[number % 2];
            match number {
                0 => client.patch(&path_of(link), &place),
                1 => client.post("/v1/landings", &body_with(json!({"title": "x"}), place.clone())),
                _ => client.post("/v1/redirects", &redirect_body(place.clone())),
            }
        });
        let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status < 400);
        assert_eq!(won.len(), 1, "{place}: {won:?}");
        for answer in lost {
            answer.expect_error(409, "slug_already_taken");
        }
        clients[1].delete(&path_of(&won[0].body)).expect_status(200);
    }
}
