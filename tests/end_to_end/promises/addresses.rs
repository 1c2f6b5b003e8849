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

/// Both kinds, alone and in batches, and some with more than one item for the address.
#[test]
fn d20_of_concurrent_creations_of_every_kind_one_succeeds() {
    let program = Program::start();
    let accounts = [program.account("agency"), program.account("agency")];
    for round in 0..4 {
        let slug = format!("round-{round}");
        let redirect = json!({"name": "x", "target_url": "https://example.com", "slug": slug});
        let landing = json!({"title": "x", "slug": slug});
        let batch =
            json!({"redirects": [redirect, redirect, {"name": "x", "target_url": "https://example.com"}]});
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
