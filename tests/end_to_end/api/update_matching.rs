//! Changes by filter: D124.

use serde_json::{Value, json};

use crate::harness::{Account, Program, redirect_body};

const PATH: &str = "/v1/redirects/update-matching";

/// More than one unit of work takes.
const LINKS: usize = 1_100;

/// Changes redirects, and gives the answer.
#[track_caller]
fn change(account: &Account, body: &Value) -> Value {
    account.post(PATH, body).expect_status(200).body
}

/// The counts of an answer: matched, updated, unchanged, failed.
fn counts(answer: &Value) -> [u64; 4] {
    let count = |name: &str| answer[name].as_u64().unwrap();
    let failed = u64::try_from(answer["failed"].as_array().unwrap().len()).unwrap();
    [count("matched_count"), count("updated_count"), count("unchanged_count"), failed + count("failed_more")]
}

/// Creates this many redirects with the tag `campaign`, in batches.
fn create_many(account: &Account, number: usize) {
    let all: Vec<Value> = (0..number)
        .map(|number| {
            let target = format!("https://example.com/{number}");
            redirect_body(json!({"target_url": target, "tags": ["campaign"]}))
        })
        .collect();
    for batch in all.chunks(100) {
        let answer = account.post("/v1/redirects/bulk", &json!({ "redirects": batch })).expect_status(200);
        assert_eq!(answer.body["failed_count"], 0, "{:?}", answer.body);
    }
}

#[test]
fn d124_links_of_several_units_of_work_change_at_once_for_visitors() {
    let mut program = Program::start();
    let account = program.first_account();
    let group = account.create_group("Spring")["id"].clone();
    let beside = account.create_redirect(&redirect_body(json!({"slug": "beside"})));
    create_many(&account, LINKS);
    let all = u64::try_from(LINKS).unwrap();
    let shown = account.create_redirect(&redirect_body(
        json!({"slug": "shown", "target_url": "https://example.com/shown", "tags": ["campaign"]}),
    ));
    let visitor = program.visitor();
    assert_eq!(visitor.open("/shown").location(), Some("https://example.com/shown"));
    let mut body = json!({
        "filter": {"tag": ["Campaign"]},
        "patch": {
            "group_id": group, "add_tags": ["over"], "remove_tags": ["campaign"],
            "replace_target_prefix": {"from": "https://example.com/", "to": "https://example.org/"},
        },
        "dry_run": true,
    });
    let dry = change(&account, &body);
    assert_eq!(counts(&dry), [all + 1, all + 1, 0, 0]);
    assert_eq!(dry["examples"].as_array().unwrap().len(), 10);
    let first = &dry["examples"][0];
    assert_eq!((&first["before"]["id"], &first["after"]["tags"]), (&shown["id"], &json!(["over"])));
    assert_eq!(
        account.get("/v1/tags").body["data"].as_array().unwrap().len(),
        1,
        "no tag of a dry run stays"
    );

    body["dry_run"] = json!(false);
    let answer = change(&account, &body);
    assert_eq!((counts(&answer), &answer["next_cursor"]), (counts(&dry), &Value::Null));
    // The changes show at once, and after a crash.
    assert_eq!(visitor.open("/shown").location(), Some("https://example.org/shown"));
    program.kill();
    program.start_again();
    let account = program.with_key(&account.key);
    let links = account.walk("/v1/redirects", "?limit=100&tag=over");
    assert_eq!(links.len(), LINKS + 1);
    for link in &links {
        assert!(link["target_url"].as_str().unwrap().starts_with("https://example.org/"), "{link}");
        assert_eq!((&link["group_id"], &link["tags"]), (&group, &json!(["over"])));
        assert_eq!(link["revision"], 2);
    }
    let beside_path = format!("/v1/redirects/{}", beside["id"].as_str().unwrap());
    assert_eq!(account.get(&beside_path).body, beside);
    let group = account.get(&format!("/v1/groups/{}", group.as_str().unwrap())).body;
    assert_eq!(group["redirects_count"], all + 1);
    // A patch that was applied finds its own work.
    body["filter"] = json!({"tag": ["over"]});
    assert_eq!(counts(&change(&account, &body)), [all + 1, 0, all + 1, 0]);
}

/// Each with the code of a single update.
#[test]
fn d124_links_that_fail_stay_as_they_are() {
    let program = Program::start();
    let account = program.first_account();
    let own = account
        .create_redirect(&redirect_body(json!({"slug": "own", "target_url": "https://example.com/old"})));
    let other = account
        .create_redirect(&redirect_body(json!({"slug": "other", "target_url": "https://example.com/old"})));
    let url = own["url"].as_str().unwrap();
    let body = json!({
        "filter": {"q": "example.com/old"},
        "patch": {"replace_target_prefix": {"from": "https://example.com/old", "to": url}},
    });
    let answer = change(&account, &body);
    assert_eq!(counts(&answer), [2, 1, 0, 1]);
    let failed = &answer["failed"][0];
    assert_eq!((&failed["id"], &failed["error"]["code"]), (&own["id"], &json!("invalid_request")));
    assert_eq!(failed["error"]["details"][0]["field"], "target_url");
    let shown = |link: &Value| account.get(&format!("/v1/redirects/{}", link["id"].as_str().unwrap())).body;
    assert_eq!(shown(&own), own);
    assert_eq!(shown(&other)["target_url"], own["url"]);
    let nowhere = json!({
        "filter": {"all": true}, "patch": {"group_id": "grp_00000000000000000000000000000000", "add_tags": ["new"]},
    });
    account.post(PATH, &nowhere).expect_error(404, "group_not_found");
    assert_eq!(account.get("/v1/tags").body["data"], json!([]));
}

/// R1: neither the links of another account nor its groups and pixels.
#[test]
fn d124_the_links_of_other_accounts_stay_as_they_are() {
    let program = Program::start();
    let (one, other) = (program.account("agency"), program.account("agency"));
    let theirs = other.create_redirect(&redirect_body(json!({"tags": ["campaign"]})));
    one.create_redirect(&redirect_body(json!({"tags": ["campaign"]})));
    let body = json!({"filter": {"tag": ["campaign"]}, "patch": {"is_active": false}});
    assert_eq!(counts(&change(&one, &body)), [1, 1, 0, 0]);
    let path = format!("/v1/redirects/{}", theirs["id"].as_str().unwrap());
    assert_eq!(other.get(&path).body, theirs);
    let group = other.create_group("Theirs")["id"].clone();
    let body = json!({"filter": {"group_id": group}, "patch": {"is_active": true}});
    assert_eq!(counts(&change(&one, &body)), [0, 0, 0, 0]);
    let body = json!({"filter": {"all": true}, "patch": {"group_id": group}});
    one.post(PATH, &body).expect_error(404, "group_not_found");
}

/// Contract D12: also if the program was killed after the answer.
#[test]
fn d124_a_call_with_a_key_is_answered_once() {
    let mut program = Program::start();
    let account = program.first_account();
    create_many(&account, 3);
    let body = json!({"filter": {"is_active": true}, "patch": {"is_active": false}});
    let first = account.post_once("once", PATH, &body).expect_status(200);
    assert_eq!(counts(&first.body), [3, 3, 0, 0]);
    program.kill();
    program.start_again();
    let account = program.with_key(&account.key);
    let second = account.post_once("once", PATH, &body).expect_status(200);
    assert!(second.is_replayed());
    assert_eq!(second.body, first.body);
    assert_eq!(counts(&change(&account, &body)), [0, 0, 0, 0]);
}
