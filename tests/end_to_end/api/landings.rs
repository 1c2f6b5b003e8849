//! Landing pages: contract "Landing" and "List filters for links"; D5, D20–D23, D25, D28, D32, D33.

use serde_json::{Value, json};

use crate::harness::{Account, Program, body_with};

fn create(account: &Account, body: &Value) -> Value {
    account.post("/v1/landings", body).expect_status(201).body
}

fn path(landing: &Value) -> String {
    format!("/v1/landings/{}", landing["id"].as_str().unwrap())
}

#[test]
fn landing_has_all_fields_of_the_table() {
    let program = Program::start();
    let account = program.first_account();
    let answer = account.post("/v1/landings", &json!({"title": " Menu ", "slug": "menu"})).expect_status(201);
    let landing = &answer.body;
    let expected = json!({
        "id": landing["id"], "object": "landing", "title": "Menu", "slug": "menu",
        "url": "http://localhost:8081/menu",
        "is_active": true, "note": null, "group_id": null, "domain": "localhost",
        "created_at": landing["created_at"], "updated_at": landing["created_at"]
    });
    // Only single answers show what is on the page (D27).
    let page = json!({
        "description": null, "avatar_url": null, "theme": "auto", "accent_color": null,
        "search_engines": false, "widgets": []
    });
    let listed = expected.clone();
    let expected = body_with(expected, page);
    assert_eq!(*landing, expected);
    assert!(landing["id"].as_str().unwrap().starts_with("lnd_"));
    assert_eq!(answer.header("location"), Some(path(landing).as_str()));
    assert_eq!(account.get(&path(landing)).expect_status(200).body, expected);
    assert_eq!(account.walk("/v1/landings", ""), [listed]);
}

/// D28: every field that a creation takes, and the defaults.
#[test]
fn d28_creation_takes_every_field() {
    let program = Program::start();
    let account = program.first_account();
    let group = account.create_group("Spring")["id"].clone();
    let body = json!({
        "title": "Menu", "slug": "menu", "domain": "LOCALHOST.", "note": "", "group_id": group, "is_active": false,
        "analytics_enabled": false
    });
    let landing = create(&account, &body);
    for (field, value) in [
        ("note", json!("")),
        ("group_id", group),
        ("is_active", json!(false)),
        ("domain", json!("localhost")),
    ] {
        assert_eq!(landing[field], value, "{field}");
    }
    assert_eq!(landing.get("analytics_enabled"), None);
    let generated = create(&account, &json!({"title": "x", "domain": null, "note": null, "group_id": null}));
    assert_eq!(generated["slug"].as_str().unwrap().len(), 7);
}

/// Bounds, D8, D9: the title has 1 to 100 characters, and every violation is listed at once.
#[test]
fn d8_invalid_landings_are_refused_field_by_field() {
    let program = Program::start();
    let account = program.first_account();
    let landing = create(&account, &json!({"title": "🎉".repeat(100)}));
    for (bad, code) in [
        (json!(""), "too_short"),
        (json!("\u{2003}"), "too_short"),
        (json!("x".repeat(101)), "too_long"),
        (json!("a\u{7}b"), "invalid_format"),
        (json!(null), "not_nullable"),
        (json!(1), "invalid_type"),
    ] {
        let body = json!({"title": bad});
        account.post("/v1/landings", &body).expect_violations(&[("title", code)]);
        account.patch(&path(&landing), &body).expect_violations(&[("title", code)]);
    }
    account.post("/v1/landings", &json!({})).expect_violations(&[("title", "required")]);
    let all = json!({
        "name": "x", "slug": "a b", "note": "x".repeat(257), "is_active": "yes", "group_id": 5, "domain": [],
        "target_url": "https://example.com", "id": "lnd_1", "object": "landing", "url": "x", "created_at": "x"
    });
    let mut expected = vec![
        ("slug", "invalid_format"),
        ("note", "too_long"),
        ("is_active", "invalid_type"),
        ("group_id", "invalid_type"),
        ("domain", "invalid_type"),
        ("name", "unknown_field"),
        ("target_url", "unknown_field"),
        ("id", "unknown_field"),
        ("object", "unknown_field"),
        ("url", "unknown_field"),
        ("created_at", "unknown_field"),
    ];
    account.patch(&path(&landing), &all).expect_violations(&expected);
    expected.push(("title", "required"));
    account.post("/v1/landings", &all).expect_violations(&expected);
    // Fixed for the link's life.
    account
        .patch(&path(&landing), &json!({"analytics_enabled": true}))
        .expect_violations(&[("analytics_enabled", "unknown_field")]);
    assert_eq!(account.get(&path(&landing)).body, landing);
}

/// D20, D21: the address space is shared with redirects, and its rules hold for landings.
#[test]
fn d20_d21_an_address_names_one_link_of_any_kind() {
    let program = Program::start();
    let account = program.first_account();
    let redirect =
        account.create_redirect(&json!({"name": "x", "target_url": "https://example.com", "slug": "a"}));
    let landing = create(&account, &json!({"title": "x", "slug": "b"}));
    let taken = |answer: crate::harness::Answer| {
        answer.expect_error(409, "slug_already_taken");
    };
    taken(account.post("/v1/landings", &json!({"title": "x", "slug": "a"})));
    taken(account.post("/v1/landings", &json!({"title": "x", "slug": "b"})));
    taken(account.post("/v1/landings", &json!({"title": "x", "slug": "ADMIN"})));
    taken(
        account
            .post("/v1/redirects", &json!({"name": "x", "target_url": "https://example.com", "slug": "b"})),
    );
    taken(account.patch(&path(&landing), &json!({"slug": "a"})));
    taken(
        account.patch(&format!("/v1/redirects/{}", redirect["id"].as_str().unwrap()), &json!({"slug": "b"})),
    );
    account
        .post("/v1/landings", &json!({"title": "x", "slug": null}))
        .expect_error(400, "slug_required_for_system_domain");
    account
        .patch(&path(&landing), &json!({"slug": null}))
        .expect_error(400, "slug_required_for_system_domain");
    account
        .post("/v1/landings", &json!({"title": "x", "domain": "links.example.org"}))
        .expect_error(404, "domain_not_found");
    account
        .patch(&path(&landing), &json!({"domain": "links.example.org"}))
        .expect_error(404, "domain_not_found");
    account
        .post("/v1/landings", &json!({"title": "x", "group_id": "grp_1"}))
        .expect_error(404, "group_not_found");
    account.delete(&path(&landing)).expect_status(200);
    create(&account, &json!({"title": "x", "slug": "b"}));
}

/// D33 and the redirect's null rules (D28).
#[test]
fn d28_d33_update_changes_only_what_it_names() {
    let program = Program::start();
    let account = program.first_account();
    let group = account.create_group("Spring")["id"].clone();
    let before = create(&account, &json!({"title": "Menu", "slug": "menu"}));
    let same = json!({"title": " Menu", "slug": "menu", "note": null, "domain": null, "group_id": null, "is_active": true});
    assert_eq!(account.patch(&path(&before), &same).expect_status(200).body, before);
    let changes = [
        ("title", json!("Card")),
        ("slug", json!("card")),
        ("note", json!("n")),
        ("group_id", group),
        ("is_active", json!(false)),
    ];
    let mut expected = before.clone();
    for (field, value) in changes {
        let after = account.patch(&path(&before), &json!({field: value})).expect_status(200).body;
        expected = body_with(expected, json!({field: value, "updated_at": after["updated_at"]}));
        if field == "slug" {
            let url = before["url"].as_str().unwrap().replace("/menu", "/card");
            expected = body_with(expected, json!({"url": url}));
        }
        assert_eq!(after, expected, "{field}");
        assert!(after["updated_at"].as_str() >= before["updated_at"].as_str());
    }
    let cleared =
        account.patch(&path(&before), &json!({"note": null, "group_id": null})).expect_status(200).body;
    assert_eq!((&cleared["note"], &cleared["group_id"]), (&Value::Null, &Value::Null));
}

/// D5, D2: the other kind's paths know nothing of a landing.
#[test]
fn d2_d5_a_landing_is_deleted_and_found_by_its_own_kind_only() {
    let program = Program::start();
    let account = program.first_account();
    let landing = create(&account, &json!({"title": "x"}));
    let id = landing["id"].as_str().unwrap();
    let as_redirect = format!("/v1/redirects/{}", id.replace("lnd_", "rdr_"));
    for path in [&as_redirect, &format!("/v1/redirects/{id}")] {
        account.get(path).expect_error(404, "redirect_not_found");
        account.patch(path, &json!({"note": "x"})).expect_error(404, "redirect_not_found");
        account.delete(path).expect_error(404, "redirect_not_found");
    }
    let deleted = account.delete(&path(&landing)).expect_status(200).body;
    assert_eq!(
        (&deleted["id"], &deleted["object"], &deleted["deleted"]),
        (&json!(id), &json!("landing"), &json!(true))
    );
    assert!(!deleted["message"].as_str().unwrap().is_empty());
    account.get(&path(&landing)).expect_error(404, "landing_not_found");
    account.delete(&path(&landing)).expect_error(404, "landing_not_found");
}

/// Contract "List filters for links", D32: the filters of the redirects' list, each and together.
#[test]
fn d32_landings_are_listed_with_every_filter() {
    let program = Program::start();
    let account = program.first_account();
    let group = account.create_group("Spring")["id"].as_str().unwrap().to_owned();
    let landings = [
        create(&account, &json!({"title": "Straße", "slug": "one", "group_id": group})),
        create(&account, &json!({"title": "Two", "slug": "strasse-2", "is_active": false})),
        create(&account, &json!({"title": "Three", "slug": "three", "group_id": group, "is_active": false})),
    ];
    account.new_redirect();
    let listed = |query: &str| {
        let walked = account.walk("/v1/landings", query);
        let position =
            |landing: &Value| landings.iter().position(|known| known["id"] == landing["id"]).unwrap();
        walked.iter().map(position).collect::<Vec<_>>()
    };
    for (query, expected) in [
        (String::new(), vec![2, 1, 0]),
        ("?limit=1".to_owned(), vec![2, 1, 0]),
        (format!("?group_id={group}"), vec![2, 0]),
        ("?group_id=none".to_owned(), vec![1]),
        ("?group_id=grp_00000000000000000000000000000000".to_owned(), vec![]),
        ("?is_active=false".to_owned(), vec![2, 1]),
        ("?domain=localhost".to_owned(), vec![2, 1, 0]),
        ("?domain=links.example.org".to_owned(), vec![]),
        ("?q=STRASSE".to_owned(), vec![1, 0]),
        ("?q=example.com".to_owned(), vec![]),
        (format!("?group_id={group}&is_active=false&q=thr&domain=localhost"), vec![2]),
    ] {
        assert_eq!(listed(&query), expected, "{query}");
    }
    // A cursor of one list is none of the other (D11).
    let cursor =
        account.get("/v1/landings?limit=1").body["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    account.get(&format!("/v1/redirects?cursor={cursor}")).expect_violations(&[("cursor", "invalid_format")]);
    assert_eq!(
        account.get(&format!("/v1/landings?limit=1&cursor={cursor}")).body["data"][0]["id"],
        landings[1]["id"]
    );
}

/// D15, contract "Group": landings count as links, and in their group as landings.
#[test]
fn d15_landings_are_counted() {
    let program = Program::start();
    let account = program.first_account();
    let group = account.create_group("Spring")["id"].as_str().unwrap().to_owned();
    let landing = create(&account, &json!({"title": "x", "group_id": group}));
    let counts = || {
        let shown = account.get(&format!("/v1/groups/{group}")).body;
        let usage = account.get("/v1/account").body["usage"]["links"].clone();
        [shown["landings_count"].clone(), shown["redirects_count"].clone(), usage]
    };
    assert_eq!(counts(), [1, 0, 1]);
    account.patch(&path(&landing), &json!({"group_id": null})).expect_status(200);
    assert_eq!(counts(), [0, 0, 1]);
    account.delete(&path(&landing)).expect_status(200);
    assert_eq!(counts(), [0, 0, 0]);
}

/// A visitor sees the page, and not what is private.
#[test]
fn a_landing_is_shown_to_visitors_while_it_is_active() {
    let program = Program::start();
    let account = program.first_account();
    let body = json!({"title": "Fish & <Chips>", "slug": "menu", "note": "private"});
    let landing = create(&account, &body);
    let visitor = program.visitor();
    let page = visitor.open("/menu");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Fish &#38; &#60;Chips&#62;"), "{}", page.body);
    assert!(!page.body.contains("private"));
    account.patch(&path(&landing), &json!({"is_active": false})).expect_status(200);
    assert_eq!(visitor.open("/menu").status, 404);
}
