//! Targets on the installation's own addresses (D24, R32).

use serde_json::json;

use crate::harness::{Account, Program, Visit};

fn link(account: &Account, slug: &str, target: &str) -> String {
    let link = account.create_redirect(&json!({"name": slug, "slug": slug, "target_url": target}));
    format!("/v1/redirects/{}", link["id"].as_str().unwrap())
}

fn ends(visit: &Visit) -> (u16, Option<&str>) {
    (visit.status, visit.location())
}

#[test]
fn d24_own_addresses_are_followed_at_most_five_deep() {
    let program = Program::start();
    let account = program.first_account();
    link(&account, "hop0", "https://example.com/end");
    for hop in 1..=7 {
        link(&account, &format!("hop{hop}"), &format!("http://LOCALHOST:8081/hop{}/?x=y", hop - 1));
    }
    let visitor = program.visitor();
    for hop in 0..=5 {
        assert_eq!(
            ends(&visitor.open(&format!("/hop{hop}"))),
            (302, Some("https://example.com/end")),
            "{hop} deep"
        );
    }
    for hop in 6..=7 {
        assert_eq!(ends(&visitor.open(&format!("/hop{hop}"))), (404, None), "{hop} deep");
    }
}

#[test]
fn d24_a_loop_is_the_404_page_and_ends_when_it_is_broken() {
    let program = Program::start();
    let account = program.first_account();
    let first = link(&account, "a", "https://example.com");
    link(&account, "b", "http://localhost:8081/a");
    link(&account, "c", "http://localhost:8081/b");
    account.patch(&first, &json!({"target_url": "http://localhost:8081/c"})).expect_status(200);
    let visitor = program.visitor();
    for slug in ["/a", "/b", "/c"] {
        assert_eq!(ends(&visitor.open(slug)), (404, None));
    }
    account.patch(&first, &json!({"target_url": "https://example.com/out"})).expect_status(200);
    for slug in ["/a", "/b", "/c"] {
        assert_eq!(ends(&visitor.open(slug)), (302, Some("https://example.com/out")));
    }
}

#[test]
fn d24_a_chain_ends_at_an_inactive_or_missing_link() {
    let program = Program::start();
    let account = program.first_account();
    let end = link(&account, "end", "https://example.com");
    link(&account, "start", "http://localhost:8081/end");
    let visitor = program.visitor();
    account.patch(&end, &json!({"is_active": false})).expect_status(200);
    assert_eq!(visitor.open("/start").status, 404);
    account.patch(&end, &json!({"is_active": true})).expect_status(200);
    assert_eq!(visitor.open("/start").status, 302);
    account.delete(&end).expect_status(200);
    assert_eq!(visitor.open("/start").status, 404);
}
