//! R2: one address, one link, under concurrency. R6: a plan, a suspension and a revocation hold for every request that
//! starts after the command returned, under load (contract "Authentication" 5 to 7).

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::harness::{Account, Program, concurrently};

/// Requests of four clients while `command` runs; each with the instant at which it started, and its status.
fn statuses_around(account: &Account, command: impl FnOnce()) -> (Instant, Vec<(Instant, u16)>) {
    let (stop, under_way) = (AtomicBool::new(false), Barrier::new(5));
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|_| {
                let (account, stop, under_way) = (account.clone(), &stop, &under_way);
                scope.spawn(move || {
                    let mut seen = vec![(Instant::now(), account.get("/v1/account").status)];
                    under_way.wait();
                    while !stop.load(Ordering::Relaxed) {
                        let started = Instant::now();
                        seen.push((started, account.get("/v1/account").status));
                    }
                    // At least one that started after the command returned.
                    let started = Instant::now();
                    seen.push((started, account.get("/v1/account").status));
                    seen
                })
            })
            .collect();
        under_way.wait();
        command();
        let returned = Instant::now();
        stop.store(true, Ordering::Relaxed);
        (returned, clients.into_iter().flat_map(|client| client.join().unwrap()).collect())
    })
}

/// An account that is deleted under load is unknown from then on, and its requests that run meanwhile are refused
/// like those of an unknown key.
#[test]
fn deleting_an_account_under_load_is_never_an_internal_error() {
    let program = Program::builder().setting("throttle-per-minute", "0").start();
    let body = serde_json::json!({"name": "x", "target_url": "https://example.com"});
    for _ in 0..3 {
        let account = program.account("agency");
        let (stop, under_way) = (AtomicBool::new(false), Barrier::new(9));
        let statuses: Vec<Vec<u16>> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..8)
                .map(|number| {
                    let (account, stop, under_way) = (account.clone(), &stop, &under_way);
                    let path = if number % 4 == 0 { "/v1/groups" } else { "/v1/redirects" };
                    let body = if number % 4 == 0 { serde_json::json!({"name": "x"}) } else { body.clone() };
                    scope.spawn(move || {
                        let mut statuses = vec![account.post(path, &body).status];
                        under_way.wait();
                        while !stop.load(Ordering::Relaxed) {
                            statuses.push(account.post(path, &body).status);
                        }
                        statuses.push(account.post(path, &body).status);
                        statuses
                    })
                })
                .collect();
            under_way.wait();
            assert!(program.run(&["account", "delete", account.id(), "--yes"]).status.success());
            stop.store(true, Ordering::Relaxed);
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        for statuses in statuses {
            // Accepted first, then perhaps refused as suspended, and with an unknown key once the command has returned.
            let order = |status: u16| [201, 403, 401].iter().position(|known| *known == status);
            assert!(statuses.iter().all(|status| order(*status).is_some()), "{statuses:?}");
            assert!(statuses.is_sorted_by_key(|status| order(*status)), "{statuses:?}");
            assert_eq!((statuses.first(), statuses.last()), (Some(&201), Some(&401)), "{statuses:?}");
        }
    }
}

#[test]
fn nothing_is_admitted_that_started_after_the_command_returned() {
    let program = Program::builder().setting("throttle-per-minute", "0").start();
    for (command, refused) in [("set-plan", 403), ("suspend", 403), ("revoke", 401)] {
        let account = program.account("agency");
        let keys = program.command(&["key", "list", "--json", "--account", account.id()]);
        let key_id = keys[0]["id"].as_str().unwrap().to_owned();
        let words = match command {
            "set-plan" => vec!["account", "set-plan", account.id(), "pro"],
            "suspend" => vec!["account", "suspend", account.id()],
            _ => vec!["key", "revoke", &key_id],
        };
        let (returned, seen) = statuses_around(&account, || assert!(program.run(&words).status.success()));
        assert!(seen.iter().any(|(_, status)| *status == 200), "{command}: there was load before it");
        let mut after = seen.iter().filter(|(started, _)| *started >= returned);
        assert!(after.clone().count() >= 4);
        assert!(after.all(|(_, status)| *status == refused), "{command}: {seen:?}");
    }
}

/// R2, contract D20: both kinds, alone and in batches, and some with more than one item for the address.
#[test]
fn d20_of_concurrent_creations_of_every_kind_one_succeeds() {
    let program = Program::start();
    let accounts = [program.account("agency"), program.account("agency")];
    for round in 0..4 {
        let slug = format!("round-{round}");
        let redirect = serde_json::json!({"name": "x", "target_url": "https://example.com", "slug": slug});
        let landing = serde_json::json!({"title": "x", "slug": slug});
        let batch = serde_json::json!({"redirects": [redirect, redirect, {"name": "x", "target_url": "https://example.com"}]});
        let won = concurrently(30, |number| {
            let account = &accounts[number % 2];
            match number % 3 {
                0 => u64::from(account.post("/v1/redirects", &redirect).status == 201),
                1 => u64::from(account.post("/v1/landings", &landing).status == 201),
                _ => {
                    let answer = account.post("/v1/redirects/bulk", &batch).expect_status(200).body;
                    // The item with a generated slug always succeeds.
                    answer["created_count"].as_u64().unwrap() - 1
                }
            }
        });
        assert_eq!(won.into_iter().sum::<u64>(), 1);
    }
}
