//! `POST /v1/redirects`: contract "Redirect" and "Size and format bounds"; D21, D22, D25–D28.

use serde_json::{Value, json};

use crate::harness::{Program, body_with};

fn with(extra: Value) -> Value {
    body_with(json!({"name": "Autumn", "target_url": "https://example.com/sale?x=1"}), extra)
}

#[test]
fn redirect_has_all_fields_of_the_table_and_the_defaults() {
    let program = Program::start();
    let link = program.first_account().create_redirect(&with(json!({})));
    let slug = link["slug"].as_str().unwrap();
    assert_eq!(
        link,
        json!({
            "id": link["id"],
            "object": "redirect",
            "name": "Autumn",
            "url": format!("http://localhost:8081/{slug}"),
            "target_url": "https://example.com/sale?x=1",
            "slug": slug,
            "is_active": true,
            "note": null,
            "antibot_enabled": false,
            "group_id": null,
            "domain": "localhost",
            "created_at": link["created_at"],
            "updated_at": link["created_at"],
            "pixels": [],
            "geo_blocklists": {"countries": []}
        })
    );
}

#[test]
fn d28_every_field_is_taken_and_shown_again() {
    let program = Program::start();
    let account = program.first_account();
    let group = account.create_group("g")["id"].clone();
    let body = json!({
        "name": "  Ünïcode 🎉  ",
        "target_url": "https://example.com/pfad/ä?q=%20",
        "slug": "My_Slug-1",
        "domain": "LOCALHOST",
        "note": "  kept as it is\n",
        "group_id": group,
        "is_active": false,
        "antibot_enabled": true,
        "geo_blocklists": {"countries": ["de", "AT", "DE", "fr"]},
        "analytics_enabled": false
    });
    let link = account.create_redirect(&body);
    let expected = json!({
        "id": link["id"],
        "object": "redirect",
        "name": "Ünïcode 🎉",
        "url": "http://localhost:8081/My_Slug-1",
        "target_url": "https://example.com/pfad/ä?q=%20",
        "slug": "My_Slug-1",
        "is_active": false,
        "note": "  kept as it is\n",
        "antibot_enabled": true,
        "group_id": group,
        "domain": "localhost",
        "created_at": link["created_at"],
        "updated_at": link["created_at"],
        "pixels": [],
        // D26: upper case, each once, in the order given.
        "geo_blocklists": {"countries": ["DE", "AT", "FR"]}
    });
    assert_eq!(link, expected);
    let path = format!("/v1/redirects/{}", link["id"].as_str().unwrap());
    assert_eq!(account.get(&path).expect_status(200).body, expected);
}

#[test]
fn d28_nulls_on_creation_are_the_absence_of_a_value() {
    let program = Program::start();
    let body = with(json!({"note": null, "domain": null, "group_id": null, "geo_blocklists": null}));
    let link = program.first_account().create_redirect(&body);
    assert_eq!(
        (&link["note"], &link["domain"], &link["group_id"]),
        (&Value::Null, &json!("localhost"), &Value::Null)
    );
    assert_eq!(link["geo_blocklists"], json!({"countries": []}));
}

#[test]
fn bounds_name_has_1_to_100_characters() {
    let program = Program::start();
    let account = program.first_account();
    for good in ["x".to_owned(), "x".repeat(100), "🎉".repeat(100), format!("  {}  ", "x".repeat(100))] {
        account.post("/v1/redirects", &with(json!({"name": good}))).expect_status(201);
    }
    for (bad, code) in [
        (json!(""), "too_short"),
        (json!("   "), "too_short"),
        (json!("x".repeat(101)), "too_long"),
        (json!("🎉".repeat(101)), "too_long"),
        (json!("a\nb"), "invalid_format"),
        (json!("a\u{0}b"), "invalid_format"),
        (json!("a\u{7f}b"), "invalid_format"),
        (json!(null), "not_nullable"),
        (json!(1), "invalid_type"),
        (json!(["x"]), "invalid_type"),
    ] {
        account.post("/v1/redirects", &with(json!({"name": bad}))).expect_violations(&[("name", code)]);
    }
}

#[test]
fn bounds_note_has_at_most_256_characters_and_may_be_empty() {
    let program = Program::start();
    let account = program.first_account();
    for good in [String::new(), "x".repeat(256), "🎉".repeat(256), "line\nline\ttab".to_owned()] {
        assert_eq!(account.create_redirect(&with(json!({"note": good})))["note"], json!(good));
    }
    account
        .post("/v1/redirects", &with(json!({"note": "x".repeat(257)})))
        .expect_violations(&[("note", "too_long")]);
    account
        .post("/v1/redirects", &with(json!({"note": "a\u{0}"})))
        .expect_violations(&[("note", "invalid_format")]);
}

#[test]
fn d21_slugs_have_1_to_64_characters_of_their_alphabet() {
    let program = Program::start();
    let account = program.first_account();
    for good in ["a", "A", "0", "-", "_", &"x".repeat(64)] {
        let link = account.create_redirect(&with(json!({"slug": good})));
        assert_eq!(link["slug"], good);
    }
    for (bad, code) in [
        (json!(""), "too_short"),
        (json!("x".repeat(65)), "too_long"),
        (json!("a b"), "invalid_format"),
        (json!("ä"), "invalid_format"),
        (json!("a/b"), "invalid_format"),
        (json!("a.b"), "invalid_format"),
        (json!("a\u{0}"), "invalid_format"),
        (json!(5), "invalid_type"),
    ] {
        account.post("/v1/redirects", &with(json!({"slug": bad}))).expect_violations(&[("slug", code)]);
    }
}

#[test]
fn d21_slugs_are_case_sensitive() {
    let program = Program::start();
    let account = program.first_account();
    account.create_redirect(&with(json!({"slug": "sale"})));
    account.create_redirect(&with(json!({"slug": "Sale"})));
    account.post("/v1/redirects", &with(json!({"slug": "sale"}))).expect_error(409, "slug_already_taken");
}

#[test]
fn d20_an_address_names_one_link_across_accounts() {
    let program = Program::start();
    let (one, other) = (program.account("agency"), program.account("agency"));
    one.create_redirect(&with(json!({"slug": "mine"})));
    other.post("/v1/redirects", &with(json!({"slug": "mine"}))).expect_error(409, "slug_already_taken");
    assert_eq!(other.get("/v1/account").body["usage"]["links"], 0);
}

#[test]
fn d21_reserved_slugs_are_taken_in_any_case() {
    let program = Program::start();
    let account = program.first_account();
    for slug in [
        "v1",
        "robots",
        "favicon",
        "health",
        "admin",
        "dashboard",
        "docs",
        "api",
        "www",
        "ADMIN",
        "Docs",
        "V1",
    ] {
        account.post("/v1/redirects", &with(json!({"slug": slug}))).expect_error(409, "slug_already_taken");
    }
}

#[test]
fn d21_an_absent_slug_is_generated_and_an_explicit_null_is_refused_on_the_system_domain() {
    let program = Program::start();
    let account = program.first_account();
    let mut slugs = std::collections::HashSet::new();
    for _ in 0..50 {
        let link = account.create_redirect(&with(json!({})));
        let slug = link["slug"].as_str().unwrap().to_owned();
        assert_eq!(slug.len(), 7);
        assert!(slug.bytes().all(|byte| byte.is_ascii_alphanumeric() && !b"0O1lI".contains(&byte)), "{slug}");
        assert!(slugs.insert(slug));
    }
    account
        .post("/v1/redirects", &with(json!({"slug": null})))
        .expect_error(400, "slug_required_for_system_domain");
}

#[test]
fn d22_the_system_hostname_is_accepted_and_any_other_is_not_found() {
    let program = Program::builder().setting("system-aliases", "old.example.com").start();
    let account = program.first_account();
    for system in ["localhost", " LocalHost. ", "old.example.com"] {
        assert_eq!(account.create_redirect(&with(json!({"domain": system})))["domain"], "localhost");
    }
    for other in [
        "shop.example.org",
        "",
        "not a host",
        "localhost:8081",
        "http://localhost",
        "\u{0}",
        &"a".repeat(300),
    ] {
        account.post("/v1/redirects", &with(json!({"domain": other}))).expect_error(404, "domain_not_found");
    }
}

#[test]
fn d6_a_group_that_the_caller_does_not_have_is_not_found() {
    let program = Program::start();
    let (one, other) = (program.account("agency"), program.account("agency"));
    let foreign = other.create_group("theirs")["id"].clone();
    let zeros = format!("grp_{}", "0".repeat(32));
    for group in [foreign, json!(zeros), json!("x"), json!(""), json!("rdr_x")] {
        let answer = one.post("/v1/redirects", &with(json!({"group_id": group})));
        answer.expect_error(404, "group_not_found");
    }
    assert!(one.walk("/v1/redirects", "").is_empty());
    assert_eq!(other.walk("/v1/groups", "")[0]["redirects_count"], 0);
}

#[test]
fn d26_country_codes_are_iso_3166_alpha_2() {
    let program = Program::start();
    let account = program.first_account();
    for bad in ["XX", "UK", "D", "DEU", "", "D3", "ДЕ"] {
        account
            .post("/v1/redirects", &with(json!({"geo_blocklists": {"countries": ["DE", bad]}})))
            .expect_violations(&[("geo_blocklists.countries[1]", "invalid_value")]);
    }
    for (bad, field, code) in [
        (json!([]), "geo_blocklists", "invalid_type"),
        (json!("DE"), "geo_blocklists", "invalid_type"),
        (json!({}), "geo_blocklists.countries", "required"),
        (json!({"countries": null}), "geo_blocklists.countries", "not_nullable"),
        (json!({"countries": "DE"}), "geo_blocklists.countries", "invalid_type"),
        (json!({"countries": [null]}), "geo_blocklists.countries[0]", "invalid_type"),
        (json!({"countries": vec!["DE"; 250]}), "geo_blocklists.countries", "too_many_items"),
    ] {
        account
            .post("/v1/redirects", &with(json!({"geo_blocklists": bad})))
            .expect_violations(&[(field, code)]);
    }
    let all = with(json!({"geo_blocklists": {"countries": vec!["DE"; 249]}}));
    assert_eq!(account.create_redirect(&all)["geo_blocklists"]["countries"], json!(["DE"]));
}

/// D3: timestamps are UTC with exactly three fractional digits.
#[test]
fn d3_timestamps_have_three_fractional_digits() {
    let program = Program::start();
    let account = program.first_account();
    for resource in [account.new_redirect(), account.create_group("x")] {
        for field in ["created_at", "updated_at"] {
            let text = resource[field].as_str().unwrap();
            let shape: String =
                text.chars().map(|char| if char.is_ascii_digit() { '0' } else { char }).collect();
            assert_eq!(shape, "0000-00-00T00:00:00.000Z", "{text}");
        }
    }
}
