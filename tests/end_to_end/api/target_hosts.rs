//! Redirects by the host of their target: D126.

use serde_json::{Value, json};

use crate::harness::{Account, Program, redirect_body};

/// The targets of the redirects to a host, newest first.
fn targets(account: &Account, host: &str) -> Vec<String> {
    let links = account.walk("/v1/redirects", &format!("?limit=2&target_host={host}"));
    links.iter().map(|link| link["target_url"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn d126_all_redirects_to_a_host_are_found_and_moved() {
    let mut program = Program::start();
    let account = program.first_account();
    let old = [
        "https://shop.example.com/a",
        "https://SHOP.example.com:8443/b",
        "https://b\u{fc}cher.example/c",
        "https://www.shop.example.com/d",
        "https://example.com/e",
        "https://XN--BCHER-KVA.example/f",
        "https://workshop.example.com/g",
    ];
    for target in old {
        account.create_redirect(&redirect_body(json!({ "target_url": target })));
    }
    account.post("/v1/landings", &json!({"title": "Menu"})).expect_status(201);
    assert_eq!(targets(&account, "Shop.Example.com."), [old[3], old[1], old[0]]);
    assert_eq!(targets(&account, "example.com"), [old[6], old[4], old[3], old[1], old[0]]);
    assert_eq!(targets(&account, "b%C3%BCcher.example"), [old[5], old[2]]);
    assert_eq!(targets(&account, "xn--bcher-kva.example"), [old[5], old[2]]);
    assert_eq!(targets(&account, "example"), [old[5], old[2]], "names under a single label");
    let refused = account.get("/v1/redirects?target_host=https://shop.example.com/");
    assert_eq!(refused.violations(), [("target_host".to_owned(), "invalid_value".to_owned())]);
    let pages = account.walk("/v1/landings", "?target_host=example.com");
    assert_eq!(pages, Vec::<Value>::new());

    let body = json!({
        "filter": {"target_host": "shop.example.com"},
        "patch": {"replace_target_prefix": {"from": "https://shop.example.com/", "to": "https://b\u{fc}cher.example/shop/"}},
    });
    let answer = account.post("/v1/redirects/update-matching", &body).expect_status(200).body;
    assert_eq!((&answer["matched_count"], &answer["updated_count"]), (&json!(3), &json!(1)));
    program.kill();
    program.start_again();
    let account = program.with_key(&account.key);
    assert_eq!(targets(&account, "shop.example.com"), [old[3], old[1]]);
    let moved = "https://b\u{fc}cher.example/shop/a";
    assert_eq!(targets(&account, "b%C3%BCcher.example"), [old[5], old[2], moved]);
}
