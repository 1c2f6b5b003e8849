//! `POST /v1/redirects/bulk/delete` and `/v1/landings/bulk/delete`: contract, D30, D31.

use serde_json::{Value, json};

use crate::harness::{Account, Program};

struct Kind {
    list: &'static str,
    ids: &'static str,
    object: &'static str,
    not_found: &'static str,
    create: fn(&Account) -> Value,
}

const KINDS: [Kind; 2] = [
    Kind {
        list: "/v1/redirects",
        ids: "redirect_ids",
        object: "redirect",
        not_found: "redirect_not_found",
        create: Account::new_redirect,
    },
    Kind {
        list: "/v1/landings",
        ids: "landing_ids",
        object: "landing",
        not_found: "landing_not_found",
        create: |account| account.post("/v1/landings", &json!({"title": "x"})).expect_status(201).body,
    },
];

impl Kind {
    fn created(&self, account: &Account) -> String {
        (self.create)(account)["id"].as_str().unwrap().to_owned()
    }

    fn path(&self) -> String {
        format!("{}/bulk/delete", self.list)
    }
}

#[test]
fn d31_each_id_has_its_own_answer() {
    let program = Program::start();
    let (account, other) = (program.account("agency"), program.account("agency"));
    for (kind, other_kind) in [(&KINDS[0], &KINDS[1]), (&KINDS[1], &KINDS[0])] {
        let (first, second, kept) = (kind.created(&account), kind.created(&account), kind.created(&account));
        let (foreign, of_other_kind) = (kind.created(&other), other_kind.created(&account));
        let unknown = format!("{}{}", &first[..4], "0".repeat(32));
        let ids = [
            first.as_str(),
            &foreign,
            &second,
            &of_other_kind,
            &first,
            &unknown,
            "",
            "nonsense",
            &first.to_uppercase(),
            &unknown,
        ];
        let answer = account.post(&kind.path(), &json!({kind.ids: ids})).expect_status(200).body;
        assert_eq!(answer["object"], "bulk_delete_result");
        assert_eq!((&answer["deleted_count"], &answer["failed_count"]), (&json!(2), &json!(8)));
        let deleted = answer["deleted"].as_array().unwrap();
        for (item, (index, id)) in deleted.iter().zip([(0, &first), (2, &second)]) {
            let message = &item["data"]["message"];
            assert!(!message.as_str().unwrap().is_empty());
            let data = json!({"id": id, "object": kind.object, "deleted": true, "message": message});
            assert_eq!(*item, json!({"index": index, "data": data}));
        }
        let failed = answer["failed"].as_array().unwrap();
        let expected = [
            (1, kind.not_found),
            (3, kind.not_found),
            (4, "duplicate_id_in_batch"),
            (5, kind.not_found),
            (6, kind.not_found),
            (7, kind.not_found),
            (8, kind.not_found),
            (9, "duplicate_id_in_batch"),
        ];
        assert_eq!(failed.len(), expected.len());
        for (item, (index, code)) in failed.iter().zip(expected) {
            let error = json!({"code": code, "message": item["error"]["message"], "value": ids[index]});
            assert_eq!(*item, json!({"index": index, "error": error}));
        }
        account.get(&format!("{}/{first}", kind.list)).expect_error(404, kind.not_found);
        account.get(&format!("{}/{kept}", kind.list)).expect_status(200);
        account.get(&format!("{}/{of_other_kind}", other_kind.list)).expect_status(200);
        other.get(&format!("{}/{foreign}", kind.list)).expect_status(200);
    }
}

/// Contract "POST /v1/redirects/bulk/delete" and D31: 1 to 100 elements, all of them strings.
#[test]
fn bounds_a_deletion_has_1_to_100_ids() {
    let program = Program::start();
    let account = program.first_account();
    for kind in &KINDS {
        let field = kind.ids;
        let second = format!("{field}[1]");
        for (body, violations) in [
            (json!({}), vec![(field, "required")]),
            (json!({field: null}), vec![(field, "not_nullable")]),
            (json!({field: "rdr_1"}), vec![(field, "invalid_type")]),
            (json!({field: []}), vec![(field, "too_few_items")]),
            (json!({field: vec!["x"; 101]}), vec![(field, "too_many_items")]),
            (json!({field: ["x", 5]}), vec![(second.as_str(), "invalid_type")]),
            (
                json!({field: ["x", null], "force": true}),
                vec![(second.as_str(), "invalid_type"), ("force", "unknown_field")],
            ),
            (json!({"ids": ["x"]}), vec![(field, "required"), ("ids", "unknown_field")]),
        ] {
            account.post(&kind.path(), &body).expect_violations(&violations);
        }
        let ids: Vec<_> = (0..100).map(|_| kind.created(&account)).collect();
        let answer = account.post(&kind.path(), &json!({field: ids})).expect_status(200).body;
        assert_eq!((&answer["deleted_count"], &answer["failed"]), (&json!(100), &json!([])));
        assert_eq!(account.walk(kind.list, ""), Vec::<Value>::new());
    }
    assert_eq!(account.get("/v1/account").body["usage"]["links"], 0);
}

/// Group counters and addresses are right at once.
#[test]
fn d30_a_deletion_moves_every_count_and_frees_every_address() {
    let program = Program::start();
    let account = program.first_account();
    let groups = ["a", "b"].map(|name| account.create_group(name)["id"].clone());
    let ids: Vec<_> = (0..6)
        .map(|number| {
            let body = json!({
                "name": "x", "target_url": "https://example.com", "slug": format!("s{number}"), "group_id": groups[number % 2]
            });
            account.create_redirect(&body)["id"].clone()
        })
        .collect();
    account.post("/v1/redirects/bulk/delete", &json!({"redirect_ids": ids[..3]})).expect_status(200);
    let count = |group: &Value| {
        account.get(&format!("/v1/groups/{}", group.as_str().unwrap())).body["redirects_count"].clone()
    };
    assert_eq!((count(&groups[0]), count(&groups[1])), (json!(1), json!(2)));
    assert_eq!(program.visitor().open("/s0").status, 404);
    account.create_redirect(&json!({"name": "x", "target_url": "https://example.com", "slug": "s0"}));
    assert_eq!(account.get("/v1/account").body["usage"]["links"], 4);
}
