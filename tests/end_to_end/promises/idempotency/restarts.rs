//! A key is its account's, and is remembered in the store and not in the program.

use serde_json::json;

use super::{clients, nodes};
use crate::harness::{Once, Program, assert_alike, assert_each_carried_out_once};

#[test]
fn d12_r5_a_key_that_was_used_before_a_restart_is_answered_alike_after_it() {
    let mut program = Program::start();
    let key = program.first_key().to_owned();
    let requests = Once::of_each_kind("before");
    let before: Vec<_> = requests.iter().map(|once| once.send(&program.with_key(&key))).collect();
    for (once, first) in requests.iter().zip(&before) {
        assert!(once.succeeded(first) && !first.is_replayed(), "{first:?}");
    }
    let stops: [fn(&mut Program); 2] = [
        |program| {
            program.signal("TERM");
            assert_eq!(program.wait(), Some(0), "{}", program.log());
        },
        Program::kill,
    ];
    for stop in stops {
        stop(&mut program);
        program.start_again();
        let account = program.with_key(&key);
        for (once, first) in requests.iter().zip(&before) {
            let again = once.send(&account);
            assert!(again.is_replayed(), "{again:?}");
            assert_alike(first, &again);
            let other = account.post_once(&once.key, once.path, &json!({"name": "another"}));
            other.expect_key_is_anothers();
        }
        assert_each_carried_out_once(&account, &requests);
    }
}

#[test]
fn d12_d31_equal_keys_of_two_accounts_have_nothing_to_do_with_each_other() {
    let nodes = nodes();
    let (one, other) = (clients(&nodes), clients(&nodes));
    let requests = Once::of_each_kind("ours");
    for once in &requests {
        let first = once.send(&one[0]);
        let theirs = once.send(other.last().unwrap());
        assert!(once.succeeded(&first) && once.succeeded(&theirs), "{first:?} {theirs:?}");
        assert!(!first.is_replayed() && !theirs.is_replayed());
        assert_ne!(first.body, theirs.body, "each made something of its own");
        for (clients, answer) in [(&one, first), (&other, theirs)] {
            for client in clients {
                assert_alike(&answer, &once.send(client));
            }
        }
    }
    assert_each_carried_out_once(&one[0], &requests);
    assert_each_carried_out_once(&other[0], &requests);
}
