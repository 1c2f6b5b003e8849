//! The same request many times at once.

use serde_json::json;

use super::{clients, nodes};
use crate::harness::{
    Once, assert_alike, assert_each_carried_out_once, assert_one_was_first, concurrently, redirect_body,
};

const CLIENTS: usize = 20;

#[test]
fn d12_r5_of_20_equal_requests_at_once_one_is_carried_out_and_all_are_answered_alike() {
    let nodes = nodes();
    let clients = clients(&nodes);
    let mut requests = Vec::new();
    for round in 0..4 {
        for once in Once::of_each_kind(&format!("round {round}")) {
            let answers = concurrently(CLIENTS, |number| once.send(&clients[number % clients.len()]));
            assert!(once.succeeded(&answers[0]), "{:?}", answers[0]);
            assert_one_was_first(&answers);
            requests.push(once);
        }
    }
    assert_each_carried_out_once(&clients[0], &requests);
}

/// One of the two is carried out, whichever that is, and the key belongs to it.
#[test]
fn d12_of_two_requests_with_one_key_at_once_one_is_carried_out_and_the_other_is_refused() {
    let nodes = nodes();
    let clients = clients(&nodes);
    for round in 0..8 {
        let key = format!("round-{round}");
        let body = |number: usize| json!({"name": format!("{key} {}", number / 2 % 2)});
        let answers = concurrently(8, |number| {
            let answer = clients[number % clients.len()].post_once(&key, "/v1/groups", &body(number));
            (number / 2 % 2, answer)
        });
        let (done, refused): (Vec<_>, Vec<_>) =
            answers.into_iter().partition(|(_, answer)| answer.status == 201);
        assert_eq!((done.len(), refused.len()), (4, 4), "{done:?} {refused:?}");
        let which = done[0].0;
        assert!(done.iter().all(|(one, _)| *one == which));
        let done: Vec<_> = done.into_iter().map(|(_, answer)| answer).collect();
        assert_one_was_first(&done);
        for (_, answer) in refused {
            answer.expect_key_is_anothers();
        }
    }
    assert_eq!(clients[0].walk("/v1/groups", "?limit=100").len(), 8);
}

/// A definite refusal is an answer like others: it is given again when what stood in the way is gone.
#[test]
fn d12_of_20_equal_requests_that_are_refused_one_is_refused_first_and_the_answer_is_kept() {
    let nodes = nodes();
    let clients = clients(&nodes);
    let unknown = format!("grp_{}", "0".repeat(32));
    let holder = clients[0].create_redirect(&redirect_body(json!({"slug": "mine"})));
    let group = redirect_body(json!({"group_id": unknown}));
    let slug = redirect_body(json!({"slug": "mine"}));
    let mut kept = Vec::new();
    for (key, body, status) in [("no-group", group, 404), ("taken", slug, 409)] {
        let send = |number: usize| {
            clients[number % clients.len()].post_once(key, "/v1/redirects", &body).expect_status(status)
        };
        let answers = concurrently(CLIENTS, send);
        assert_one_was_first(&answers);
        kept.push((key, body, answers.into_iter().next().unwrap()));
    }
    clients[0].delete(&format!("/v1/redirects/{}", holder["id"].as_str().unwrap())).expect_status(200);
    for client in &clients {
        for (key, body, refused) in &kept {
            let again = client.post_once(key, "/v1/redirects", body);
            assert!(again.is_replayed());
            assert_alike(refused, &again);
        }
    }
    assert!(clients[0].walk("/v1/redirects", "").is_empty());
    clients[0]
        .post_once("another", "/v1/redirects", &redirect_body(json!({"slug": "mine"})))
        .expect_status(201);
}
