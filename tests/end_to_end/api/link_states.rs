//! Links by their state: D126, D128.

use serde_json::{Value, json};

use crate::harness::{Account, Program, redirect_body};

/// The names of the redirects in some states, newest first. Each shows one of these states.
fn names(account: &Account, states: &str) -> Vec<String> {
    let links = account.walk("/v1/redirects", &format!("?limit=2&state={states}"));
    for link in &links {
        let state = link["state"].as_str().unwrap();
        assert!(states.split(',').any(|one| one == state), "{states}: {link}");
    }
    links.iter().map(|link| link["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn d126_links_are_found_and_changed_by_their_state() {
    let mut program = Program::start();
    let account = program.first_account();
    for (name, fields) in [
        ("works", json!({})),
        ("off", json!({"is_active": false})),
        ("later", json!({"starts_at": "2099-01-01T00:00:00Z"})),
        ("later, off", json!({"starts_at": "2099-01-01T00:00:00Z", "is_active": false})),
        ("over", json!({"expires_at": "2001-01-01T00:00:00Z"})),
        ("limited", json!({"max_clicks": 5, "expires_at": "2099-01-01T00:00:00Z"})),
        ("over too", json!({"starts_at": "2001-01-01T00:00:00Z", "expires_at": "2002-01-01T00:00:00Z"})),
    ] {
        let mut body = redirect_body(fields);
        body["name"] = json!(name);
        account.create_redirect(&body);
    }
    account.post("/v1/landings", &json!({"title": "Menu", "is_active": false})).expect_status(201);
    let expected = [
        ("active", vec!["limited", "works"]),
        ("inactive", vec!["later, off", "off"]),
        ("scheduled", vec!["later"]),
        ("expired", vec!["over too", "over"]),
        ("expired,scheduled,active", vec!["over too", "limited", "over", "later", "works"]),
        ("exhausted,lost,domain_inactive", vec![]),
    ];
    for (states, expected) in expected {
        assert_eq!(names(&account, states), expected, "{states}");
    }
    for (states, count) in [("inactive", 1), ("active,lost", 0), ("exhausted", 0)] {
        assert_eq!(account.walk("/v1/landings", &format!("?state={states}")).len(), count, "{states}");
    }
    let refused = account.get("/v1/redirects?state=active,paused");
    assert_eq!(refused.violations(), [("state".to_owned(), "invalid_value".to_owned())]);

    let body = json!({"filter": {"state": ["expired", "scheduled"]}, "patch": {"starts_at": null, "expires_at": null}});
    let answer = account.post("/v1/redirects/update-matching", &body).expect_status(200).body;
    assert_eq!((&answer["matched_count"], &answer["updated_count"]), (&json!(3), &json!(3)));
    program.kill();
    program.start_again();
    let account = program.with_key(&account.key);
    assert_eq!(names(&account, "active"), ["over too", "limited", "over", "later", "works"]);
    assert_eq!(account.walk("/v1/redirects", "?state=expired,scheduled"), Vec::<Value>::new());
}
