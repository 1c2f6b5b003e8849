//! An address belongs to one link, for racing clients at all nodes (D20, R2).

use serde_json::json;

use super::{NODES, WHO};
use crate::harness::{concurrently, redirect_body};
use crate::scene::Scene;
use crate::size::{count, report};

/// In each round half of the clients create a link at an address, and the others move a link of theirs to it,
/// at different nodes. One succeeds, and all others get `slug_already_taken`.
#[test]
fn d20_r2_one_of_many_racing_clients_gets_the_address() {
    let Some(scene) = Scene::undisturbed(WHO, NODES) else { return };
    let (clients, rounds) = (count(24, 200), count(8, 50));
    let account = |number: usize| scene.balancer.pick(number).account;
    let own: Vec<String> = (0..clients)
        .map(|number| format!("/v1/redirects/{}", account(number).new_redirect()["id"].as_str().unwrap()))
        .collect();
    for round in 0..rounds {
        let slug = format!("round-{round}");
        let answers = concurrently(clients, |number| match number % 2 {
            0 => account(number / 2).post("/v1/redirects", &redirect_body(json!({"slug": slug}))),
            _ => account(number / 2).patch(&own[number], &json!({"slug": slug})),
        });
        let winners = answers.iter().filter(|answer| matches!(answer.status, 200 | 201)).count();
        assert_eq!(winners, 1, "{slug}");
        for loser in answers.into_iter().filter(|answer| !matches!(answer.status, 200 | 201)) {
            loser.expect_error(409, "slug_already_taken");
        }
        for number in 0..NODES {
            assert_eq!(scene.balancer.pick(number).visitor.open(&format!("/{slug}")).status, 302);
        }
    }
    let links = account(0).walk("/v1/redirects", "?limit=100").len();
    assert_eq!(account(0).get("/v1/account").body["usage"]["links"], links);
    report("R2", &format!("{clients} clients, {rounds} rounds, one winner in each"));
}
