//! The same request many times at once.

use serde_json::json;

use super::{clients, nodes};
use crate::harness::{Once, assert_each_carried_out_once, assert_one_was_first, concurrently};

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
