//! The program stops or is killed, and gets the same requests again when it runs again.

use serde_json::json;

use crate::harness::{Once, Program, assert_alike, assert_each_carried_out_once, kill_at_work};

const CLIENTS: usize = 6;

/// A change and its remembered answer are committed together. So an answered request is answered again. An unanswered
/// one is carried out when it is sent again, unless it already was.
#[test]
fn d12_r5_after_kill_9_every_request_that_is_sent_again_was_carried_out_once() {
    let mut program = Program::start();
    let key = program.first_key().to_owned();
    let mut requests = Vec::new();
    for round in 0..8 {
        let sent = kill_at_work(&mut program, CLIENTS, 10 + 7 * round, |client, account, note| {
            let endless = (0..)
                .flat_map(|turn| Once::of_each_kind(&format!("round {round} client {client} turn {turn}")));
            // Not all at the same kind of request.
            for once in endless.skip(client) {
                let answer = once.try_send(account).ok();
                let is_gone = answer.is_none();
                note((once, answer));
                if is_gone {
                    break;
                }
            }
        });
        program.start_again();
        let account = program.with_key(&key);
        assert_eq!(sent.iter().filter(|(_, answer)| answer.is_none()).count(), CLIENTS);
        for (once, first) in sent {
            let again = once.send(&account);
            assert!(once.succeeded(&again), "{again:?}");
            if let Some(first) = first {
                assert!(again.is_replayed() && !first.is_replayed(), "{first:?} {again:?}");
                assert_alike(&first, &again);
            }
            let once_more = once.send(&account);
            assert!(once_more.is_replayed());
            assert_alike(&again, &once_more);
            requests.push(once);
        }
    }
    assert_each_carried_out_once(&program.with_key(&key), &requests);
}

/// The store remembers the answers, not the program.
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
