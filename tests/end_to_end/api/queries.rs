//! Query parameters: contract "GET /v1/domains" (limit, cursor) and "List filters for links"; D8, D14.

use crate::harness::Program;

#[test]
fn d8_limit_is_an_integer_from_1_to_100() {
    let program = Program::start();
    let account = program.first_account();
    for path in ["/v1/redirects", "/v1/groups"] {
        for good in ["1", "25", "100"] {
            account.get(&format!("{path}?limit={good}")).expect_status(200);
        }
        for bad in ["0", "101", "1000", "99999999999999999999999999"] {
            account.get(&format!("{path}?limit={bad}")).expect_violations(&[("limit", "out_of_range")]);
        }
        for bad in ["", "x", "1.5", "0x10", "%20", "1e1", "ten", "%2B5"] {
            account.get(&format!("{path}?limit={bad}")).expect_violations(&[("limit", "invalid_type")]);
        }
    }
}

#[test]
fn d8_unknown_parameters_are_violations_everywhere() {
    let program = Program::start();
    let account = program.first_account();
    let link = account.new_redirect();
    let group = account.create_group("x");
    let link = format!("/v1/redirects/{}", link["id"].as_str().unwrap());
    let group = format!("/v1/groups/{}", group["id"].as_str().unwrap());
    for path in ["/v1/redirects", "/v1/groups", "/v1/account", &link, &group] {
        account.get(&format!("{path}?nothing=1")).expect_violations(&[("nothing", "unknown_field")]);
    }
    for path in [&link, &group] {
        account.delete(&format!("{path}?force=true")).expect_violations(&[("force", "unknown_field")]);
        account.get(path).expect_status(200);
        account
            .patch(&format!("{path}?x"), &serde_json::json!({"name": "y"}))
            .expect_violations(&[("x", "unknown_field")]);
    }
    account.get("/v1/groups?group_id=none").expect_violations(&[("group_id", "unknown_field")]);
}

#[test]
fn d8_every_violation_of_a_query_is_listed() {
    let program = Program::start();
    let account = program.first_account();
    let long = "x".repeat(101);
    account
        .get(&format!("/v1/redirects?limit=0&cursor=x&is_active=maybe&q={long}&colour=red"))
        .expect_violations(&[
            ("limit", "out_of_range"),
            ("cursor", "invalid_format"),
            ("is_active", "invalid_value"),
            ("q", "too_long"),
            ("colour", "unknown_field"),
        ]);
    account.get("/v1/redirects?q=").expect_violations(&[("q", "too_short")]);
}

#[test]
fn a_parameter_that_stands_twice_is_a_violation() {
    let program = Program::start();
    let account = program.first_account();
    account.get("/v1/redirects?limit=1&limit=2").expect_violations(&[("limit", "invalid_value")]);
    account.get("/v1/redirects?limit=1&%6cimit=1").expect_violations(&[("limit", "invalid_value")]);
}

#[test]
fn broken_encodings_and_invalid_utf8_are_violations_that_name_the_parameter() {
    let program = Program::start();
    let account = program.first_account();
    for bad in ["%", "%z", "%zz", "%f", "%ff", "%c0%af", "%ed%a0%80"] {
        account.get(&format!("/v1/redirects?q={bad}")).expect_violations(&[("q", "invalid_format")]);
    }
    account.get("/v1/redirects?q=%00").expect_violations(&[("q", "invalid_format")]);
    account.get("/v1/redirects?%ff=1").expect_status(400);
}

#[test]
fn empty_pairs_mean_nothing() {
    let program = Program::start();
    let account = program.first_account();
    for query in ["?", "?&", "?&&limit=5&"] {
        account.get(&format!("/v1/redirects{query}")).expect_status(200);
    }
}
