//! R2: one address, one link (D20).

use serde_json::json;

use crate::harness::{Program, concurrently};

#[test]
fn d20_of_fifty_concurrent_creations_of_one_slug_one_succeeds() {
    let program = Program::start();
    let accounts = [program.account("agency"), program.account("agency")];
    for round in 0..4 {
        let body =
            json!({"name": "x", "target_url": "https://example.com", "slug": format!("round-{round}")});
        let answers = concurrently(50, |number| accounts[number % 2].post("/v1/redirects", &body));
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
        for lost in answers.iter().filter(|answer| answer.status != 201) {
            assert_eq!((lost.status, lost.code()), (409, "slug_already_taken"));
        }
    }
    let links: u64 = accounts
        .iter()
        .map(|account| account.get("/v1/account").body["usage"]["links"].as_u64().unwrap())
        .sum();
    assert_eq!(links, 4);
}

#[test]
fn d20_of_many_concurrent_patches_to_one_slug_one_succeeds() {
    let program = Program::start();
    let account = program.first_account();
    let paths: Vec<_> = (0..16)
        .map(|_| format!("/v1/redirects/{}", account.new_redirect()["id"].as_str().unwrap()))
        .collect();
    for round in 0..5 {
        let body = json!({"slug": format!("round-{round}")});
        let answers = concurrently(16, |number| account.patch(&paths[number], &body));
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
        assert!(answers.iter().all(|answer| answer.status == 200 || answer.code() == "slug_already_taken"));
    }
}
