//! `POST /v1/redirects/bulk`: D15, D29, D30; contract "Bulk results" and "Size and format bounds".

use serde_json::{Value, json};

use crate::harness::{Account, Program, redirect_body};

const PATH: &str = "/v1/redirects/bulk";

/// A plan with room for four links, and without features.
const SMALL: &str = r"
[plans.small]
api_access = true
requests_per_minute = 1000000
requests_per_day = 1000000
links = 4
groups = 5
domains = 0
pixels = 0
analytics_days = 31
features = []
";

fn bulk(account: &Account, items: &[Value]) -> Value {
    account.post(PATH, &json!({"redirects": items})).expect_status(200).body
}

/// `created` or the code, item by item, by the positions in the answer.
fn told(answer: &Value, items: usize) -> Vec<String> {
    let mut told = vec![String::new(); items];
    let each = |list: &str| answer[list].as_array().unwrap().clone();
    for item in each("created") {
        told[usize::try_from(item["index"].as_u64().unwrap()).unwrap()].push_str("created");
    }
    for item in each("failed") {
        let index = usize::try_from(item["index"].as_u64().unwrap()).unwrap();
        told[index].push_str(item["error"]["code"].as_str().unwrap());
    }
    told
}

#[test]
fn d29_the_result_has_the_shape_of_the_decision() {
    let program = Program::start();
    let account = program.first_account();
    let answer = bulk(
        &account,
        &[
            redirect_body(json!({"slug": "a"})),
            redirect_body(json!({"slug": "ADMIN"})),
            redirect_body(json!({})),
        ],
    );
    let created = answer["created"].as_array().unwrap();
    let listed: Vec<Value> = account.walk("/v1/redirects", "");
    assert_eq!(
        answer,
        json!({
            "object": "bulk_create_result", "created_count": 2, "failed_count": 1,
            "created": [{"index": 0, "data": listed[1]}, {"index": 2, "data": listed[0]}],
            "failed": [{"index": 1, "error": {
                "code": "slug_already_taken", "message": answer["failed"][0]["error"]["message"], "value": "ADMIN",
                "details": [{
                    "field": "slug", "code": "reserved", "message": "`slug` is reserved on the system domain."
                }]
            }}]
        })
    );
    // D27: as lists show it.
    assert_eq!(created[0]["data"].get("pixels"), None);
    assert_eq!(created[0]["data"].get("geo_blocklists"), None);
    // Items are created in array order, their ids ascending.
    assert!(created[0]["data"]["id"].as_str() < created[1]["data"]["id"].as_str());
}

/// D29: an invalid item fails with `invalid_request`, its `message` naming every violation and `value` the first.
#[test]
fn d29_an_invalid_item_names_all_that_is_wrong_with_it() {
    let program = Program::start();
    let account = program.first_account();
    for (item, value, named) in [
        (json!({}), json!(null), vec!["`name`", "`target_url`"]),
        (json!({"name": "", "target_url": "ftp://x"}), json!(""), vec!["`name`", "`target_url`"]),
        (json!({"target_url": "ftp://x"}), json!("ftp://x"), vec!["`name`", "`target_url`"]),
        (redirect_body(json!({"name": {}, "slug": "a b"})), json!("a b"), vec!["`name`", "`slug`"]),
        (
            redirect_body(
                json!({"geo_blocklists": {"countries": ["??"]}, "geo_blocklists.countries[0]": "decoy"}),
            ),
            json!("??"),
            vec!["`geo_blocklists.countries[0]`"],
        ),
        (redirect_body(json!({"target_url": "ftp://x"})), json!("ftp://x"), vec!["`target_url`"]),
        (redirect_body(json!({"slug": "a b", "note": 5})), json!("a b"), vec!["`slug`", "`note`"]),
        (redirect_body(json!({"name": 5})), json!(null), vec!["`name`"]),
        (redirect_body(json!({"colour": "red"})), json!("red"), vec!["`colour`"]),
        (
            redirect_body(json!({"geo_blocklists": {"countries": ["DE", "??"]}})),
            json!("??"),
            vec!["`geo_blocklists.countries[1]`"],
        ),
        (redirect_body(json!({"id": "rdr_1"})), json!("rdr_1"), vec!["`id`"]),
        (json!("text"), json!(null), vec!["`redirects[0]`"]),
        (json!(null), json!(null), vec!["`redirects[0]`"]),
        (json!([]), json!(null), vec!["`redirects[0]`"]),
        (json!(1.5), json!(null), vec!["`redirects[0]`"]),
    ] {
        let answer = bulk(&account, &[item.clone(), redirect_body(json!({}))]);
        assert_eq!((&answer["created_count"], &answer["failed_count"]), (&json!(1), &json!(1)));
        let error = &answer["failed"][0]["error"];
        assert_eq!((&error["code"], &error["value"]), (&json!("invalid_request"), &value), "{item}");
        let message = error["message"].as_str().unwrap();
        for name in named {
            assert!(message.contains(name), "{name} is not in {message}");
        }
    }
}

/// One request with every failure that an item can have: each item's answer is the one that the single operation gives.
#[test]
fn d29_every_kind_of_failure_at_once() {
    let program = Program::builder().plan(SMALL).start();
    let account = program.account("small");
    let group = account.create_group("Spring")["id"].clone();
    account.create_redirect(&redirect_body(json!({"slug": "taken"})));
    let url = |slug: &str| format!("http://localhost:8081/{slug}");
    let refused = [
        json!({"name": "x"}),
        redirect_body(json!({"slug": "loop", "target_url": url("loop")})),
        redirect_body(json!({"slug": "admin"})),
        redirect_body(json!({"slug": "taken"})),
        redirect_body(json!({"slug": null})),
        redirect_body(json!({"domain": "links.example.org"})),
        redirect_body(json!({"group_id": "grp_00000000000000000000000000000000"})),
        redirect_body(json!({"group_id": "nonsense"})),
        redirect_body(json!({"antibot_enabled": true})),
        redirect_body(json!({"geo_blocklists": {"countries": ["DE"]}})),
        redirect_body(json!({"slug": "a b", "unknown": 1})),
    ];
    // Refused, they create nothing; so each can be asked for alone first.
    let alone: Vec<_> = refused.iter().map(|item| account.post("/v1/redirects", item)).collect();
    let mut items = refused.to_vec();
    items.push(redirect_body(json!({"slug": "mine", "group_id": group})));
    items.push(redirect_body(json!({"slug": "mine"})));
    items.push(redirect_body(json!({"slug": "second", "group_id": group})));
    items.push(redirect_body(json!({})));
    items.push(redirect_body(json!({})));
    items.push(redirect_body(json!({"slug": "taken"})));
    let answer = bulk(&account, &items);
    let told = told(&answer, items.len());
    for (index, alone) in alone.iter().enumerate() {
        assert_eq!(told[index], alone.code(), "{}", refused[index]);
        let failed =
            answer["failed"].as_array().unwrap().iter().find(|failed| failed["index"] == index).unwrap();
        let message = failed["error"]["message"].as_str().unwrap();
        assert_eq!(failed["error"].get("details"), alone.body["error"].get("details"), "{}", refused[index]);
        match alone.body["error"]["details"].as_array() {
            Some(details) if alone.code() == "invalid_request" => {
                let sentences: Vec<_> =
                    details.iter().map(|detail| detail["message"].as_str().unwrap()).collect();
                assert_eq!(message, sentences.join(" "));
            }
            Some(_) | None => assert_eq!(message, alone.body["error"]["message"]),
        }
    }
    assert_eq!(
        told,
        [
            "invalid_request",
            "invalid_request",
            "slug_already_taken",
            "slug_already_taken",
            "slug_required_for_system_domain",
            "domain_not_found",
            "group_not_found",
            "group_not_found",
            "feature_not_available_on_current_plan",
            "feature_not_available_on_current_plan",
            "invalid_request",
            "created",
            "duplicate_slug_in_batch",
            "created",
            "created",
            "plan_limit_reached",
            "plan_limit_reached",
        ]
    );
    let values: Vec<_> =
        answer["failed"].as_array().unwrap().iter().map(|failed| failed["error"]["value"].clone()).collect();
    assert_eq!(
        values,
        [
            json!(null),
            json!(url("loop")),
            json!("admin"),
            json!("taken"),
            json!(null),
            json!("links.example.org"),
            json!("grp_00000000000000000000000000000000"),
            json!("nonsense"),
            json!(null),
            json!(null),
            json!("a b"),
            json!("mine"),
            json!(null),
            json!(null),
        ]
    );
    // Group counters and the usage are right at once.
    let shown = account.get(&format!("/v1/groups/{}", group.as_str().unwrap())).body;
    assert_eq!((&shown["redirects_count"], &shown["landings_count"]), (&json!(2), &json!(0)));
    assert_eq!(account.get("/v1/account").body["usage"]["links"], 4);
}

/// Contract "Size and format bounds": 1 to 100 items; what is wrong with the request as a whole fails it whole.
#[test]
fn bounds_a_batch_has_1_to_100_items() {
    let program = Program::start();
    let account = program.first_account();
    let many = |count: usize| json!({"redirects": vec![redirect_body(json!({})); count]});
    let answer = account.post(PATH, &many(100)).expect_status(200).body;
    assert_eq!((&answer["created_count"], &answer["failed"]), (&json!(100), &json!([])));
    for (body, violation) in [
        (many(0), ("redirects", "too_few_items")),
        (many(101), ("redirects", "too_many_items")),
        (json!({}), ("redirects", "required")),
        (json!({"redirects": null}), ("redirects", "not_nullable")),
        (json!({"redirects": {}}), ("redirects", "invalid_type")),
        (json!([]), ("body", "invalid_type")),
    ] {
        account.post(PATH, &body).expect_violations(&[violation]);
    }
    account
        .post(PATH, &json!({"redirects": 5, "dry_run": true}))
        .expect_violations(&[("redirects", "invalid_type"), ("dry_run", "unknown_field")]);
    assert_eq!(account.get("/v1/account").body["usage"]["links"], 100);
    // D10: a key that stands twice makes the whole document invalid, wherever it stands.
    let twice = br#"{"redirects": [{"name": "x", "target_url": "https://example.com", "name": "y"}]}"#;
    account
        .send_bytes("POST", PATH, "application/json", twice)
        .expect_violations(&[("body", "invalid_json")]);
}

/// Contract "Limits" 2: a bulk request counts as one request.
#[test]
fn limits_a_bulk_request_counts_once() {
    let program = Program::start();
    let account = program.first_account();
    let left = |answer: &crate::harness::Answer| crate::harness::rate_limits(answer).unwrap()[3];
    let before = left(&account.get("/v1/account"));
    let items = vec![redirect_body(json!({})); 50];
    assert_eq!(left(&account.post(PATH, &json!({"redirects": items}))), before - 1);
}

/// The links of a batch open at once.
#[test]
fn d30_what_was_answered_is_there() {
    let program = Program::start();
    let account = program.first_account();
    let items: Vec<_> = (0..30)
        .map(|number| {
            redirect_body(
                json!({"slug": format!("s{number}"), "target_url": format!("https://example.com/{number}")}),
            )
        })
        .collect();
    assert_eq!(bulk(&account, &items)["created_count"], 30);
    for number in 0..30 {
        let visit = program.visitor().open(&format!("/s{number}"));
        assert_eq!(visit.header("location"), Some(format!("https://example.com/{number}").as_str()));
    }
}
