//! Changes in bulk: D123.

use serde_json::{Value, json};

use crate::harness::{Account, Program, concurrently, redirect_body};

const REDIRECTS: &str = "/v1/redirects/bulk";

/// How many links the concurrent batches change.
const LINKS: u64 = 20;

/// Changes redirects, and gives the answer.
#[track_caller]
fn change(account: &Account, items: &Value) -> Value {
    account.patch(REDIRECTS, &json!({ "redirects": items })).expect_status(200).body
}

/// Position and code of each item that failed.
fn failures(answer: &Value) -> Vec<(u64, &str)> {
    let failed = answer["failed"].as_array().unwrap().iter();
    failed.map(|item| (item["index"].as_u64().unwrap(), item["error"]["code"].as_str().unwrap())).collect()
}

/// The path of a redirect.
fn path_of(redirect: &Value) -> String {
    format!("/v1/redirects/{}", redirect["id"].as_str().unwrap())
}

#[test]
fn d123_a_batch_changes_the_links_that_it_can() {
    let mut program = Program::start();
    let account = program.first_account();
    let group = account.create_group("Spring")["id"].clone();
    let create =
        |slug: &str| account.create_redirect(&redirect_body(json!({"slug": slug, "external_id": slug})));
    let [first, second, third, fourth] = ["first", "second", "third", "fourth"].map(create);
    let visitor = program.visitor();
    assert_eq!(visitor.open("/third").status, 302);
    let answer = change(
        &account,
        &json!([
            {"id": first["id"], "target_url": "https://example.com/first", "if_revision": 1},
            {"id": second["id"], "slug": "admin"},
            {"external_id": "third", "slug": "moved", "group_id": group, "tags": ["Sale"]},
            {"id": fourth["id"], "external_id": null, "is_active": false},
            {"id": first["id"], "note": "again"},
            {"external_id": "fifth", "note": "nobody"},
            {"note": "nobody"},
            7,
        ]),
    );
    assert_eq!((&answer["object"], &answer["updated_count"]), (&json!("bulk_update_result"), &json!(3)));
    let updated = answer["updated"].as_array().unwrap();
    let indices: Vec<_> = updated.iter().map(|item| item["index"].as_u64().unwrap()).collect();
    assert_eq!(indices, [0, 2, 3]);
    assert_eq!(
        failures(&answer),
        [
            (1, "slug_already_taken"),
            (4, "duplicate_id_in_batch"),
            (5, "redirect_not_found"),
            (6, "invalid_request"),
            (7, "invalid_request"),
        ]
    );

    // The changes show at once, and after a crash.
    assert_eq!(visitor.open("/first").location(), Some("https://example.com/first"));
    assert_eq!((visitor.open("/third").status, visitor.open("/moved").status), (404, 302));
    assert_eq!(visitor.open("/fourth").status, 404);
    program.kill();
    program.start_again();
    let account = program.with_key(&account.key);
    let shown = |redirect: &Value| account.get(&path_of(redirect)).expect_status(200).body;
    for (item, before) in updated.iter().zip([&first, &third, &fourth]) {
        let after = shown(before);
        for (field, value) in item["data"].as_object().unwrap() {
            assert_eq!(&after[field], value, "{field}");
        }
        assert_eq!(after["revision"], 2);
    }
    assert_eq!(shown(&second), second, "nothing of a failed item is changed");
    let third = shown(&third);
    assert_eq!((&third["group_id"], &third["tags"]), (&group, &json!(["Sale"])));
    assert_eq!(shown(&fourth)["external_id"], Value::Null);
    let group = account.get(&format!("/v1/groups/{}", group.as_str().unwrap())).body;
    assert_eq!(group["redirects_count"], 1);
}

/// Contract D120: as with `If-Match`, the change of the other program is not lost.
#[test]
fn d123_a_change_for_an_earlier_revision_fails_alone() {
    let program = Program::start();
    let account = program.first_account();
    let [first, second] = [account.new_redirect(), account.new_redirect()];
    account.patch(&path_of(&first), &json!({"note": "by another program"})).expect_status(200);
    let items = [&first, &second].map(|link| json!({"id": link["id"], "note": "mine", "if_revision": 1}));
    let answer = change(&account, &json!(items));
    assert_eq!((&answer["updated_count"], failures(&answer)), (&json!(1), vec![(0, "invalid_request")]));
    let detail = &answer["failed"][0]["error"]["details"][0];
    assert_eq!((&detail["field"], &detail["code"]), (&json!("if_revision"), &json!("invalid_value")));
    assert_eq!(account.get(&path_of(&first)).body["note"], "by another program");
    assert_eq!(account.get(&path_of(&second)).body["note"], "mine");
}

/// Neither address is free when its item is judged.
#[test]
fn d20_d123_links_do_not_swap_their_addresses() {
    let program = Program::start();
    let account = program.first_account();
    let create = |slug: &str| {
        let target = format!("https://example.com/{slug}");
        account.create_redirect(&redirect_body(json!({"slug": slug, "target_url": target})))
    };
    let [one, other] = ["one", "other"].map(create);
    let answer =
        change(&account, &json!([{"id": one["id"], "slug": "other"}, {"id": other["id"], "slug": "one"}]));
    assert_eq!(failures(&answer), [(0, "slug_already_taken"), (1, "slug_already_taken")]);
    let existing = |place: usize| &answer["failed"][place]["error"]["details"][0]["existing_id"];
    assert_eq!((existing(0), existing(1)), (&other["id"], &one["id"]));
    let visitor = program.visitor();
    for slug in ["one", "other"] {
        let target = format!("https://example.com/{slug}");
        assert_eq!(visitor.open(&format!("/{slug}")).location(), Some(target.as_str()));
    }
}

#[test]
fn d123_two_items_do_not_get_one_address() {
    let program = Program::start();
    let account = program.first_account();
    let [one, other] = [account.new_redirect(), account.new_redirect()];
    let items = [&one, &other].map(|link| json!({"id": link["id"], "slug": "wanted"}));
    let answer = change(&account, &json!(items));
    assert_eq!(
        (&answer["updated_count"], failures(&answer)),
        (&json!(1), vec![(1, "duplicate_slug_in_batch")])
    );
    assert_eq!(account.get(&path_of(&one)).body["slug"], "wanted");
    assert_eq!(account.get(&path_of(&other)).body, other);
}

#[test]
fn d123_pages_are_changed_with_their_widgets() {
    let program = Program::start();
    let account = program.first_account();
    let visitor = program.visitor();
    let order = json!({"type": "link", "title": "Order", "url": "https://example.com/order"});
    let create = |slug: &str| {
        let page = json!({"title": slug, "slug": slug, "widgets": [order]});
        account.post("/v1/landings", &page).expect_status(201).body
    };
    let [menu, card] = ["menu", "card"].map(create);
    let kept = &menu["widgets"][0];
    let items = json!([
        {"id": menu["id"], "theme": "dark", "widgets": [{"type": "heading", "text": "Soups"}, kept]},
        {"id": card["id"], "title": "Card", "widgets": [{"type": "heading"}]},
    ]);
    let answer = account.patch("/v1/landings/bulk", &json!({ "landings": items })).expect_status(200).body;
    assert_eq!((&answer["updated_count"], failures(&answer)), (&json!(1), vec![(1, "invalid_request")]));
    assert!(answer["updated"][0]["data"].get("widgets").is_none(), "contract D27");
    let shown = |page: &Value| {
        account.get(&format!("/v1/landings/{}", page["id"].as_str().unwrap())).expect_status(200).body
    };
    let changed = shown(&menu);
    assert_eq!((&changed["theme"], &changed["widgets"][1]), (&json!("dark"), kept));
    assert_eq!(shown(&card), card);
    assert!(visitor.open("/menu").body.contains("Soups"));
    let widget = format!("/menu/w/{}", kept["id"].as_str().unwrap());
    assert_eq!(visitor.open(&widget).location(), Some("https://example.com/order"));
}

/// Batches lock their links in one order, whatever order the items have.
#[test]
fn d123_concurrent_batches_change_every_link_one_after_the_other() {
    const BATCHES: usize = 8;
    let program = Program::start();
    let account = program.account("agency");
    let links: Vec<Value> = (0..LINKS).map(|_| account.new_redirect()).collect();
    let group = account.create_group("Spring")["id"].clone();
    let in_some_order = |number: usize, change: &dyn Fn(&Value) -> Value| -> Value {
        let mut items: Vec<Value> = links.iter().map(change).collect();
        if number.is_multiple_of(2) {
            items.reverse();
        }
        items.rotate_left(number);
        items.into()
    };
    // For one revision, each link is changed once.
    let updated = concurrently(BATCHES, |number| {
        let note = format!("batch {number}");
        let items = in_some_order(number, &|link| json!({"id": link["id"], "note": note, "if_revision": 1}));
        change(&account, &items)["updated_count"].as_u64().unwrap()
    });
    assert_eq!(updated.iter().sum::<u64>(), LINKS, "{updated:?}");
    // Without a condition, each batch changes every link.
    let groups = concurrently(BATCHES, |number| {
        let group = if number.is_multiple_of(2) { &group } else { &Value::Null };
        let name = format!("Batch {number}");
        let items = in_some_order(number, &|link| json!({"id": link["id"], "name": name, "group_id": group}));
        let answer = change(&account, &items);
        assert_eq!(answer["updated_count"], json!(LINKS), "{answer}");
        group.clone()
    });
    let after = account.walk("/v1/redirects", "");
    for link in &after {
        assert_eq!(link["revision"], json!(2 + BATCHES), "{link}");
        let last = link["name"].as_str().unwrap().strip_prefix("Batch ").unwrap();
        assert_eq!(link["group_id"], groups[last.parse::<usize>().unwrap()], "{link}");
    }
    assert!(after.iter().all(|link| link["name"] == after[0]["name"]), "batches are not mixed: {after:?}");
    let in_group = after.iter().filter(|link| link["group_id"] == group).count();
    let counted = account.get(&format!("/v1/groups/{}", group.as_str().unwrap())).body;
    assert_eq!(counted["redirects_count"], json!(in_group));
}
