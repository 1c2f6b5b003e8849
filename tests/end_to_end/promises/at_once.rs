//! R2: one address, one link, under concurrency. R6: a plan, a suspension and a revocation hold for every request that
//! starts after the command returned, under load (contract "Authentication" 5 to 7).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::harness::{Account, Program, SetWhenDropped, concurrently};

/// What clients see while `command` runs, in order and by client, and when the command returned. Each sends one request
/// before the command, and one that starts after it has returned.
fn around<T: Send>(
    clients: usize,
    send: impl Fn(usize) -> T + Sync,
    command: impl FnOnce(),
) -> (Instant, Vec<Vec<T>>) {
    let (is_over, under_way) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let over = SetWhenDropped(&is_over);
        let clients: Vec<_> = (0..clients)
            .map(|client| {
                let (send, is_over, under_way) = (&send, &is_over, &under_way);
                scope.spawn(move || {
                    let mut seen = vec![send(client)];
                    under_way.fetch_add(1, Ordering::Relaxed);
                    while !is_over.load(Ordering::Relaxed) {
                        seen.push(send(client));
                    }
                    seen.push(send(client));
                    seen
                })
            })
            .collect();
        while under_way.load(Ordering::Relaxed) < clients.len() {
            assert!(clients.iter().all(|client| !client.is_finished()), "a client failed before the command");
            std::thread::sleep(Duration::from_millis(1));
        }
        command();
        let returned = Instant::now();
        drop(over);
        (returned, clients.into_iter().map(|client| client.join().unwrap()).collect())
    })
}

/// An account that is deleted under load is unknown from then on, and its requests that run meanwhile are refused
/// like those of an unknown key.
#[test]
fn deleting_an_account_under_load_is_never_an_internal_error() {
    let program = Program::builder().setting("throttle-per-minute", "0").start();
    let group = serde_json::json!({"name": "x"});
    let redirect = serde_json::json!({"name": "x", "target_url": "https://example.com"});
    for _ in 0..3 {
        let account = program.account("agency");
        let send = |client: usize| {
            let (path, body) =
                if client.is_multiple_of(4) { ("/v1/groups", &group) } else { ("/v1/redirects", &redirect) };
            account.post(path, body).status
        };
        let (_, statuses) = around(8, send, || {
            assert!(program.run(&["account", "delete", account.id(), "--yes"]).status.success());
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
        let send = |_: usize| (Instant::now(), account.get("/v1/account").status);
        let (returned, seen) = around(4, send, || assert!(program.run(&words).status.success()));
        let seen: Vec<(Instant, u16)> = seen.into_iter().flatten().collect();
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

/// Contract D120, D121: the store decides, whichever node asks.
#[test]
fn d120_d121_one_change_of_a_revision_and_one_link_with_an_external_id() {
    let program = Program::start();
    let account = program.account("agency");
    assert_one_change_and_one_link(std::slice::from_ref(&account));
}

/// What holds of concurrent changes under one `ETag`, and of concurrent `PUT`s of one external id, by these clients of one
/// account.
pub fn assert_one_change_and_one_link(clients: &[Account]) {
    let client = |number: usize| &clients[number % clients.len()];
    let path = format!("/v1/redirects/{}", clients[0].new_redirect()["id"].as_str().unwrap());
    let mut statuses = concurrently(10, |number| {
        let body = serde_json::json!({"note": format!("{number}")});
        client(number).send_if("If-Match", "\"r1\"", "PATCH", &path, &body).status
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [&[200][..], &[412; 9]].concat());
    assert_eq!(clients[0].get(&path).expect_status(200).body["revision"], 2);

    let mut statuses = concurrently(10, |number| {
        let body = serde_json::json!({"name": format!("{number}"), "target_url": "https://example.com"});
        client(number).send_if("If-None-Match", "*", "PUT", "/v1/redirects/by-external-id/new", &body).status
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [&[201][..], &[412; 9]].concat());

    let answers = concurrently(50, |number| {
        let body = serde_json::json!({"name": format!("{number}"), "target_url": "https://example.com"});
        client(number).send("PUT", "/v1/redirects/by-external-id/order%2F1", Some(&body))
    });
    let created = answers.iter().filter(|answer| answer.status == 201).count();
    let changed = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!((created, changed), (1, 49), "{answers:?}");
    let found = clients[0].walk("/v1/redirects", "?external_id=order%2F1");
    assert_eq!((found.len(), &found[0]["revision"]), (1, &serde_json::json!(50)));
}
