//! What happens to domains at the same moment: R2, R4, R5 (D12, D15, D20, D40, D41).

use serde_json::{Value, json};
use signpost_test_servers::dns::Record;

use crate::harness::domains::{DomainScene, connect, path_of, record_in_refusal, verify};
use crate::harness::{Account, Answer, concurrently, redirect_body};

const ROUNDS: usize = 20;

fn statuses(answers: &[Answer]) -> Vec<u16> {
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    statuses
}

/// Accounts at different nodes connect one hostname at the same moment: it belongs to exactly one (D41).
#[test]
fn d41_a_hostname_that_accounts_connect_at_once_belongs_to_exactly_one() {
    let scene = DomainScene::start();
    let accounts = scene.accounts(4);
    for round in 0..ROUNDS {
        let body = json!({"hostname": format!("go.shop{round}.test")});
        let answers = concurrently(4, |number| accounts[number].post("/v1/domains", &body));
        assert_eq!(statuses(&answers), [201, 409, 409, 409], "{answers:?}");
        let refused = answers.iter().filter(|answer| answer.status == 409);
        refused.for_each(|answer| assert_eq!(answer.code(), "hostname_already_taken"));
    }
    let owned: usize = accounts.iter().map(|account| account.walk("/v1/domains", "").len()).sum();
    assert_eq!(owned, ROUNDS);
    let counted = accounts.iter().map(|account| account.get("/v1/account").body["usage"]["domains"].clone());
    assert_eq!(counted.map(|count| count.as_u64().unwrap()).sum::<u64>(), 20);
}

/// One account connects a hostname many times at once: one domain, which all the answers show (D40).
#[test]
fn d40_a_hostname_that_one_account_connects_at_once_is_one_domain() {
    let scene = DomainScene::start();
    let clients = scene.clients();
    for round in 0..ROUNDS {
        let body = json!({"hostname": format!("go.shop{round}.test")});
        let answers = concurrently(6, |number| clients[number % 2].post("/v1/domains", &body));
        assert_eq!(statuses(&answers), [200, 200, 200, 200, 200, 201], "{answers:?}");
        assert!(answers.iter().all(|answer| answer.body == answers[0].body), "{answers:?}");
    }
    assert_eq!(clients[0].get("/v1/account").body["usage"]["domains"], 20);
}

/// Several owners' proofs for a squatted hostname at once: each is one, so the last to be looked at has it, and nobody else.
#[test]
fn d41_of_several_proofs_at_once_one_account_holds_the_hostname() {
    let scene = DomainScene::start();
    let accounts = scene.accounts(4);
    for round in 0..5 {
        let hostname = format!("go.shop{round}.test");
        let body = json!({"hostname": hostname});
        let claim = connect(&accounts[0], &hostname);
        let proofs: Vec<Record> = accounts[1..]
            .iter()
            .map(|account| record_in_refusal(&account.post("/v1/domains", &body).expect_status(409)).1)
            .map(|value| Record::text(&value))
            .collect();
        scene.dns.set(&format!("_signpost.{hostname}"), proofs);
        let answers = concurrently(3, |number| accounts[number + 1].post("/v1/domains", &body));
        assert!(answers.iter().any(|answer| answer.status == 201), "{answers:?}");
        // An account that lost every race is refused, as if it had come later.
        for refused in answers.into_iter().filter(|answer| answer.status != 201) {
            refused.expect_error(409, "hostname_already_taken");
        }
        assert_eq!(accounts[0].get(&path_of(&claim)).body["status"], "failed");
        let holders = accounts.iter().flat_map(|account| account.walk("/v1/domains", ""));
        let holders = holders.filter(|domain| domain["hostname"] == hostname && domain["status"] != "failed");
        assert_eq!(holders.count(), 1);
    }
}

/// R4, contract D15: a limit of N never ends at N + 1.
#[test]
fn r4_the_limit_on_domains_holds_under_concurrent_connects() {
    let plan = "
[plans.three]
api_access = true
requests_per_minute = 1000000
requests_per_day = 1000000
links = 10
groups = 0
domains = 3
pixels = 0
analytics_days = 31
features = [\"custom_domains\"]
";
    let scene = DomainScene::start_with(|node| node.plan(plan));
    for round in 0..5 {
        let account = scene.first().account("three");
        let clients = [scene.first(), scene.last()].map(|node| node.client_of(&account));
        let hostname = |number: usize| json!({"hostname": format!("go{number}.shop{round}.test")});
        let answers = concurrently(12, |number| clients[number % 2].post("/v1/domains", &hostname(number)));
        assert_eq!(statuses(&answers), [[201; 3].as_slice(), &[403; 9]].concat(), "{answers:?}");
        let refused = answers.iter().filter(|answer| answer.status == 403);
        refused.for_each(|answer| assert_eq!(answer.code(), "plan_limit_reached"));
        assert_eq!(clients[1].get("/v1/account").body["usage"]["domains"], 3);
        // A full account may connect its own hostnames again, and a deletion makes room.
        let domains = clients[0].walk("/v1/domains", "");
        assert_eq!(domains.len(), 3);
        clients[1].post("/v1/domains", &json!({"hostname": domains[0]["hostname"]})).expect_status(200);
        clients[0].delete(&path_of(&domains[0])).expect_status(200);
        clients[1].post("/v1/domains", &hostname(20)).expect_status(201);
    }
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
                1 => client
                    .post("/v1/landings", &crate::harness::body_with(json!({"title": "x"}), place.clone())),
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

/// Links are placed while their domain is removed: each ends there before, and is lost with it, or is refused.
#[test]
fn d43_no_link_is_left_on_a_domain_that_is_removed_meanwhile() {
    let scene = DomainScene::start();
    let clients = scene.clients();
    for round in 0..6 {
        let hostname = format!("go.shop{round}.test");
        let domain = scene.activate(&clients[0], &hostname);
        let answers = concurrently(7, |number| {
            let client: &Account = &clients[number % 2];
            if number == 6 {
                return vec![client.delete(&path_of(&domain))];
            }
            let place =
                |slug| redirect_body(json!({"domain": hostname, "slug": format!("n{number}-{slug}")}));
            (0..5).map(|slug| client.post("/v1/redirects", &place(slug))).collect()
        });
        let (removed, placed): (Vec<_>, Vec<_>) =
            answers.into_iter().flatten().partition(|answer| answer.body["object"] == "domain");
        assert_eq!(statuses(&removed), [200]);
        for answer in placed {
            if answer.status == 201 {
                let lost = clients[0].get(&path_of(&answer.body)).expect_status(200).body;
                assert_eq!([&lost["domain"], &lost["url"]], [&Value::Null, &Value::Null]);
            } else {
                answer.expect_error(404, "domain_not_found");
            }
        }
        let again = connect(&clients[1], &hostname);
        assert_eq!(verify(&clients[0], &again)["status"], "active");
        assert!(clients[0].walk("/v1/redirects", &format!("?domain={hostname}")).is_empty());
    }
}

/// R5, contract D12: of equal requests with one key, one connects the hostname, and all get its 201.
#[test]
fn r5_a_connect_that_is_sent_many_times_is_carried_out_once() {
    let scene = DomainScene::start();
    let clients = scene.clients();
    let body = json!({"hostname": "go.shop.test"});
    let answers = concurrently(8, |number| clients[number % 2].post_once("connect", "/v1/domains", &body));
    for answer in &answers {
        assert_eq!((answer.status, &answer.body), (201, &answers[0].body));
        assert_eq!(answer.header("location"), Some(path_of(&answer.body).as_str()));
    }
    assert_eq!(answers.iter().filter(|answer| !answer.is_replayed()).count(), 1);
    assert_eq!(clients[0].walk("/v1/domains", "").len(), 1);
    // What has become of the domain since then is not in an answer that was given before.
    clients[1].delete(&path_of(&answers[0].body)).expect_status(200);
    let late = clients[0].post_once("connect", "/v1/domains", &body).expect_status(201);
    assert!(late.is_replayed() && late.body == answers[0].body);
    assert!(clients[0].walk("/v1/domains", "").is_empty());
}
