//! An operator's command holds on every node once it has returned (D60, R6; contract "Authentication" 5 to 7).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use super::{NODES, WHO};
use crate::harness::SetWhenDropped;
use crate::scene::Scene;
use crate::size::{count, length, report};
use crate::waiting::await_event;

/// Clients send requests to all nodes while a command runs. Requests sent after it returned are refused.
#[test]
fn r6_no_node_admits_requests_sent_after_the_command_returned() {
    let Some(scene) = Scene::undisturbed(WHO, NODES) else { return };
    let (mut before, mut after) = (0, 0);
    for round in 0..count(1, 20) {
        for (command, status) in [("set-plan", 403), ("suspend", 403), ("revoke", 401)] {
            let commander = &scene.nodes[round % NODES];
            let account = commander.account("agency");
            let keys = commander.command(&["key", "list", "--json", "--account", account.id()]);
            let key = keys[0]["id"].as_str().unwrap();
            let words = match command {
                "set-plan" => vec!["account", "set-plan", account.id(), "pro"],
                "suspend" => vec!["account", "suspend", account.id()],
                _ => vec!["key", "revoke", key],
            };
            let (is_over, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
            let (returned, seen) = std::thread::scope(|scope| {
                let over = SetWhenDropped(&is_over);
                let clients: Vec<_> = (0..2 * NODES)
                    .map(|number| {
                        let client = scene.nodes[number % NODES].with_key(&account.key);
                        let (is_over, sent) = (&is_over, &sent);
                        scope.spawn(move || {
                            let mut seen = Vec::new();
                            while !is_over.load(Ordering::Relaxed) {
                                let started = Instant::now();
                                seen.push((started, client.get("/v1/account").status));
                                sent.fetch_add(1, Ordering::Relaxed);
                            }
                            // At least one request is sent after the command returned.
                            let started = Instant::now();
                            seen.push((started, client.get("/v1/account").status));
                            seen
                        })
                    })
                    .collect();
                await_event("clients of all nodes are answered", || {
                    assert!(!clients.iter().any(ScopedJoinHandle::is_finished), "a client has failed");
                    sent.load(Ordering::Relaxed) >= 10 * NODES
                });
                let done = commander.run(&words).status.success();
                let returned = Instant::now();
                std::thread::sleep(length(Duration::ZERO).min(Duration::from_secs(2)));
                drop(over);
                assert!(done, "{words:?}");
                let seen: Vec<_> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
                (returned, seen)
            });
            before += seen.iter().filter(|(_, status)| *status == 200).count();
            let early = seen.iter().filter(|(started, _)| *started < returned);
            assert!(early.clone().all(|(_, seen)| *seen == 200 || *seen == status), "{command}: {seen:?}");
            let late = seen.iter().filter(|(started, _)| *started >= returned);
            assert!(late.clone().all(|(_, seen)| *seen == status), "{command}: {seen:?}");
            after += late.count();
        }
    }
    assert!(before > 0 && after > 0);
    report("R6", &format!("{before} admitted before the commands returned, 0 of {after} after"));
}
