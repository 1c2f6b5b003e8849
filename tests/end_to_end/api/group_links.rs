//! `POST /v1/groups/{id}/unassign` and `/assign`: contract, D30–D33.

use serde_json::{Value, json};

use crate::harness::{Account, Program, body_with};

fn landing(account: &Account, fields: Value) -> Value {
    account.post("/v1/landings", &body_with(json!({"title": "x"}), fields)).expect_status(201).body
}

fn redirect(account: &Account, fields: Value) -> Value {
    account.create_redirect(&body_with(json!({"name": "x", "target_url": "https://example.com"}), fields))
}

fn counts(account: &Account, group: &str) -> [u64; 2] {
    let shown = account.get(&format!("/v1/groups/{group}")).body;
    [&shown["landings_count"], &shown["redirects_count"]].map(|count| count.as_u64().unwrap())
}

fn stored(account: &Account, link: &Value) -> Value {
    let list = if link["object"] == "landing" { "landings" } else { "redirects" };
    let mut shown =
        account.get(&format!("/v1/{list}/{}", link["id"].as_str().unwrap())).expect_status(200).body;
    // D27: bulk results show what lists show.
    let of_single_links = [
        "pixels",
        "geo_blocklists",
        "description",
        "avatar_url",
        "theme",
        "accent_color",
        "search_engines",
        "widgets",
    ];
    for field in of_single_links {
        shown.as_object_mut().unwrap().remove(field);
    }
    shown
}

struct Scene {
    account: Account,
    group: String,
    other: String,
    inside: [Value; 2],
    elsewhere: Value,
    ungrouped: Value,
}

impl Scene {
    fn new(program: &Program) -> Self {
        let account = program.account("agency");
        let [group, other] =
            ["Spring", "Summer"].map(|name| account.create_group(name)["id"].as_str().unwrap().to_owned());
        let inside =
            [redirect(&account, json!({"group_id": group})), landing(&account, json!({"group_id": group}))];
        let elsewhere = redirect(&account, json!({"group_id": other}));
        let ungrouped = landing(&account, json!({}));
        Self { account, group, other, inside, elsewhere, ungrouped }
    }
}

fn codes(answer: &Value) -> Vec<(u64, &str, &Value)> {
    let failed = answer["failed"].as_array().unwrap().iter();
    failed
        .map(|item| {
            assert!(!item["error"]["message"].as_str().unwrap().is_empty());
            (
                item["index"].as_u64().unwrap(),
                item["error"]["code"].as_str().unwrap(),
                &item["error"]["value"],
            )
        })
        .collect()
}

#[test]
fn unassign_takes_only_links_of_the_group_out_of_it() {
    let program = Program::start();
    let scene = Scene::new(&program);
    let account = &scene.account;
    let unknown = "rdr_00000000000000000000000000000000";
    let ids = [
        scene.elsewhere["id"].clone(),
        scene.inside[1]["id"].clone(),
        scene.ungrouped["id"].clone(),
        scene.inside[0]["id"].clone(),
        scene.inside[1]["id"].clone(),
        json!(unknown),
        json!("lnd_nonsense"),
        json!(scene.group),
        json!(""),
    ];
    let path = format!("/v1/groups/{}/unassign", scene.group);
    let answer = account.post(&path, &json!({"link_ids": ids})).expect_status(200).body;
    let shown = [1, 0].map(|number| stored(account, &scene.inside[number]));
    assert!(shown.iter().all(|link| link["group_id"].is_null()));
    let head = json!({
        "object": "bulk_unassign_result", "failed_count": 7, "unassigned_count": 2,
        "unassigned": [{"index": 1, "data": shown[0]}, {"index": 3, "data": shown[1]}]
    });
    assert_eq!(body_with(head, json!({"failed": answer["failed"]})), answer);
    assert_eq!(
        codes(&answer),
        [
            (0, "redirect_not_found", &ids[0]),
            (2, "landing_not_found", &ids[2]),
            (4, "duplicate_id_in_batch", &ids[4]),
            (5, "redirect_not_found", &ids[5]),
            (6, "landing_not_found", &ids[6]),
            (7, "invalid_request", &ids[7]),
            (8, "invalid_request", &ids[8]),
        ]
    );
    assert_eq!((counts(account, &scene.group), counts(account, &scene.other)), ([0, 0], [0, 1]));
    assert_eq!(stored(account, &scene.elsewhere)["group_id"], json!(scene.other));
}

/// D32: the mirror image of unassign. A link comes from another group or from none; one that is there already is a
/// success that changes nothing (D33).
#[test]
fn d32_assign_puts_links_into_the_group() {
    let program = Program::start();
    let scene = Scene::new(&program);
    let account = &scene.account;
    let foreign = program.account("agency").new_redirect()["id"].clone();
    let ids = [
        scene.ungrouped["id"].clone(),
        foreign,
        scene.elsewhere["id"].clone(),
        scene.inside[0]["id"].clone(),
        scene.ungrouped["id"].clone(),
        json!("x"),
    ];
    let path = format!("/v1/groups/{}/assign", scene.group);
    let before = stored(account, &scene.inside[0]);
    let answer = account.post(&path, &json!({"link_ids": ids})).expect_status(200).body;
    let moved = [&scene.ungrouped, &scene.elsewhere].map(|link| stored(account, link));
    assert!(moved.iter().all(|link| link["group_id"] == json!(scene.group)));
    let head = json!({
        "object": "bulk_assign_result", "failed_count": 3, "assigned_count": 3,
        "assigned": [{"index": 0, "data": moved[0]}, {"index": 2, "data": moved[1]}, {"index": 3, "data": before}]
    });
    assert_eq!(body_with(head, json!({"failed": answer["failed"]})), answer);
    assert_eq!(
        codes(&answer),
        [
            (1, "redirect_not_found", &ids[1]),
            (4, "duplicate_id_in_batch", &ids[4]),
            (5, "invalid_request", &ids[5]),
        ]
    );
    assert_eq!((counts(account, &scene.group), counts(account, &scene.other)), ([2, 2], [0, 0]));
    // A group's contents are read through the filter of the lists.
    assert_eq!(account.walk("/v1/landings", &format!("?group_id={}", scene.group)).len(), 2);
    assert_eq!(account.walk("/v1/redirects", &format!("?group_id={}", scene.group)).len(), 2);
}

#[test]
fn bounds_1_to_100_links_are_moved_at_once() {
    let program = Program::start();
    let account = program.first_account();
    let group = account.create_group("Spring")["id"].as_str().unwrap().to_owned();
    let items = vec![json!({"name": "x", "target_url": "https://example.com"}); 60];
    account.post("/v1/redirects/bulk", &json!({"redirects": items})).expect_status(200);
    let mut ids: Vec<_> =
        account.walk("/v1/redirects", "?limit=100").iter().map(|link| link["id"].clone()).collect();
    ids.extend((0..40).map(|_| landing(&account, json!({}))["id"].clone()));
    for (operation, done, after) in [("assign", "assigned", [40, 60]), ("unassign", "unassigned", [0, 0])] {
        let path = format!("/v1/groups/{group}/{operation}");
        for (body, violations) in [
            (json!({}), vec![("link_ids", "required")]),
            (json!({"link_ids": []}), vec![("link_ids", "too_few_items")]),
            (json!({"link_ids": vec!["x"; 101]}), vec![("link_ids", "too_many_items")]),
            (json!({"link_ids": ["x", {}]}), vec![("link_ids[1]", "invalid_type")]),
            (
                json!({"link_ids": "x", "ids": 1}),
                vec![("link_ids", "invalid_type"), ("ids", "unknown_field")],
            ),
        ] {
            account.post(&path, &body).expect_violations(&violations);
        }
        let answer = account.post(&path, &json!({"link_ids": ids})).expect_status(200).body;
        assert_eq!((&answer[format!("{done}_count")], &answer["failed"]), (&json!(100), &json!([])));
        assert_eq!(counts(&account, &group), after);
    }
}

/// Contract, `POST /v1/groups/{id}/unassign` 1: the group must belong to the caller. What is wrong with the body is
/// said first.
#[test]
fn a_group_of_nobody_is_not_found() {
    let program = Program::start();
    let scene = Scene::new(&program);
    let foreign = Scene::new(&program);
    let body = json!({"link_ids": [scene.inside[0]["id"], foreign.inside[0]["id"]]});
    for group in [foreign.group.as_str(), "grp_00000000000000000000000000000000", "nonsense"] {
        for operation in ["assign", "unassign"] {
            let path = format!("/v1/groups/{group}/{operation}");
            scene.account.post(&path, &body).expect_error(404, "group_not_found");
            scene.account.post(&path, &json!({})).expect_violations(&[("link_ids", "required")]);
        }
    }
    assert_eq!(counts(&scene.account, &scene.group), [1, 1]);
    assert_eq!(counts(&foreign.account, &foreign.group), [1, 1]);
}
