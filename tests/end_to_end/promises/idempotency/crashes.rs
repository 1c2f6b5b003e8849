//! The program is killed in the middle of requests, which are sent again when it runs again.

use std::sync::{Mutex, PoisonError};

use crate::harness::{Answer, Once, Program, assert_alike, assert_each_carried_out_once};

const CLIENTS: usize = 6;

/// Between carrying a request out and remembering its answer there is no moment to crash in: whatever was answered is
/// answered again, and what was not is carried out when it is sent again, if it was not yet.
#[test]
fn d12_r5_after_kill_9_every_request_that_is_sent_again_was_carried_out_once() {
    let mut program = Program::start();
    let key = program.first_key().to_owned();
    let mut requests = Vec::new();
    for round in 0..8 {
        let sent = Mutex::new(Vec::new());
        let enough = || sent.lock().unwrap_or_else(PoisonError::into_inner).len() >= 10 + 7 * round;
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| {
                    let (account, sent) = (program.with_key(&key), &sent);
                    scope.spawn(move || {
                        let endless = (0..).flat_map(|turn| {
                            Once::of_each_kind(&format!("round {round} client {client} turn {turn}"))
                        });
                        // Not all at the same kind of request.
                        for once in endless.skip(client) {
                            let answer = once.try_send(&account).ok();
                            let is_gone = answer.is_none();
                            sent.lock().unwrap_or_else(PoisonError::into_inner).push((once, answer));
                            if is_gone {
                                break;
                            }
                        }
                    })
                })
                .collect();
            while !enough() && clients.iter().all(|client| !client.is_finished()) {
                std::thread::yield_now();
            }
            let is_enough = enough();
            program.kill();
            assert!(is_enough, "a client was not answered although nothing had crashed");
        });
        program.start_again();
        let account = program.with_key(&key);
        let sent: Vec<(Once, Option<Answer>)> = sent.into_inner().unwrap_or_else(PoisonError::into_inner);
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
