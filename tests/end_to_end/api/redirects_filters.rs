//! The filters of `GET /v1/redirects`: contract "List filters for links"; D32.

use serde_json::{Value, json};

use crate::harness::{Account, Program, redirect_body};

fn make(account: &Account, extra: Value) -> String {
    account.create_redirect(&redirect_body(extra))["id"].as_str().unwrap().to_owned()
}

fn found(account: &Account, query: &str) -> Vec<String> {
    let mut ids: Vec<_> = account
        .walk("/v1/redirects", query)
        .iter()
        .map(|link| link["id"].as_str().unwrap().to_owned())
        .collect();
    ids.reverse();
    ids
}

#[test]
fn filters_group_id_selects_a_group_none_or_all() {
    let program = Program::start();
    let account = program.account("agency");
    let group = account.create_group("g")["id"].as_str().unwrap().to_owned();
    let inside = make(&account, json!({"group_id": group}));
    let outside = make(&account, json!({}));
    assert_eq!(found(&account, ""), [inside.clone(), outside.clone()]);
    assert_eq!(found(&account, &format!("?group_id={group}")), [inside]);
    assert_eq!(found(&account, "?group_id=none"), [outside]);
    let foreign = program.account("agency").create_group("theirs")["id"].as_str().unwrap().to_owned();
    let zeros = format!("grp_{}", "0".repeat(32));
    for nothing in [foreign.as_str(), &zeros, "x", "", "NONE", "%00"] {
        let answer = account.get(&format!("/v1/redirects?group_id={nothing}")).expect_status(200).body;
        assert_eq!(answer["data"], json!([]), "an unknown group gives an empty list");
        assert_eq!(answer["pagination"], json!({"has_more": false, "next_cursor": null}));
    }
}

#[test]
fn d32_is_active_and_domain_select() {
    let program = Program::builder().setting("system-aliases", "old.example.com").start();
    let account = program.first_account();
    let on = make(&account, json!({}));
    let off = make(&account, json!({"is_active": false}));
    assert_eq!(found(&account, "?is_active=true"), std::slice::from_ref(&on));
    assert_eq!(found(&account, "?is_active=false"), std::slice::from_ref(&off));
    for bad in ["TRUE", "1", "", "yes"] {
        account
            .get(&format!("/v1/redirects?is_active={bad}"))
            .expect_violations(&[("is_active", "invalid_value")]);
    }
    for system in ["localhost", "LOCALHOST.", "old.example.com"] {
        assert_eq!(found(&account, &format!("?domain={system}")), [on.clone(), off.clone()]);
    }
    for other in ["shop.example.org", "x y", ""] {
        let query = format!("?domain={}", other.replace(' ', "%20"));
        assert!(found(&account, &query).is_empty());
    }
}

#[test]
fn d32_q_finds_in_name_slug_and_target_without_regard_to_case() {
    let program = Program::start();
    let account = program.first_account();
    let by_name = make(&account, json!({"name": "Große STRAẞE in Αθήνα"}));
    let by_slug = make(&account, json!({"slug": "Autumn-Sale_24"}));
    let by_target = make(&account, json!({"target_url": "https://example.org/Path?utm=Mail"}));
    for (query, expected) in [
        ("grosse", &by_name),
        ("GRO%C3%9FE", &by_name),
        ("strasse", &by_name),
        ("%CE%91%CE%98%CE%89%CE%9D%CE%91", &by_name),
        ("autumn-sale", &by_slug),
        ("SALE_24", &by_slug),
        ("path?UTM", &by_target),
        ("in+%CE%B1", &by_name),
    ] {
        assert_eq!(found(&account, &format!("?q={query}")), std::slice::from_ref(expected), "{query}");
    }
    // Nothing is a wildcard.
    for query in ["%25", "sale_2_", "autumn%25", "*", "%5C"] {
        assert!(found(&account, &format!("?q={query}")).is_empty(), "{query}");
    }
    assert_eq!(found(&account, "?q=_24"), [by_slug]);
}

#[test]
fn d32_filters_combine_and_page() {
    let program = Program::start();
    let account = program.first_account();
    let group = account.create_group("g")["id"].as_str().unwrap().to_owned();
    let mut expected = Vec::new();
    for number in 0..24 {
        let extra = json!({
            "name": if number % 2 == 0 { "even" } else { "odd" },
            "is_active": number % 3 != 0,
            "group_id": if number % 4 < 2 { json!(group) } else { Value::Null }
        });
        let id = make(&account, extra);
        if number % 2 == 0 && number % 3 != 0 && number % 4 < 2 {
            expected.push(id);
        }
    }
    let query = format!("?q=EVEN&is_active=true&group_id={group}&domain=localhost&limit=1");
    assert_eq!(expected.len(), 4);
    assert_eq!(found(&account, &query), expected);
}
