//! Tags: D122, D126.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::harness::domains::path_of as path_of_link;
use crate::harness::{Account, Program, body_with, concurrently, is_soak, redirect_body};

/// The account's tags, each as its name and the number of its links, in alphabetical order.
fn tags(account: &Account) -> Vec<(String, u64)> {
    let name = |tag: &Value| tag["name"].as_str().unwrap().to_owned();
    let mut tags: Vec<_> = account
        .walk("/v1/tags", "?limit=1")
        .iter()
        .map(|tag| (name(tag), tag["links_count"].as_u64().unwrap()))
        .collect();
    tags.sort();
    tags
}

/// The path of the tag with this name.
fn path_of(account: &Account, name: &str) -> String {
    let tags = account.walk("/v1/tags", "");
    let tag = tags.iter().find(|tag| tag["name"] == name).unwrap_or_else(|| panic!("no {name} in {tags:?}"));
    format!("/v1/tags/{}", tag["id"].as_str().unwrap())
}

#[test]
fn d122_tags_are_given_found_renamed_merged_and_deleted() {
    let mut program = Program::start();
    let account = program.first_account();
    let sale = account.create_redirect(&redirect_body(json!({"slug": "sale", "tags": [" Sale ", "mail"]})));
    assert_eq!(sale["tags"], json!(["mail", "Sale"]));
    let page = account.post("/v1/landings", &json!({"title": "Menu", "tags": ["SALE", "Straße"]}));
    let page = page.expect_status(201).body;
    assert_eq!(page["tags"], json!(["Sale", "Straße"]));
    let count = |name: &str, links: u64| (name.to_owned(), links);
    assert_eq!(tags(&account), [count("Sale", 2), count("Straße", 1), count("mail", 1)]);
    assert_eq!(account.walk("/v1/redirects", "?tag=SALE").len(), 1);
    assert_eq!(account.walk("/v1/landings", "?tag_all=sale,stra%C3%9Fe").len(), 1);
    assert_eq!(account.walk("/v1/landings", "?without_tag=sale"), Vec::<Value>::new());

    account.patch(&path_of(&account, "mail"), &json!({"name": "Post"})).expect_status(200);
    program.kill();
    program.start_again();
    let account = program.with_key(&account.key);
    let path = format!("/v1/redirects/{}", sale["id"].as_str().unwrap());
    let renamed = account.get(&path).expect_status(200).body;
    assert_eq!((&renamed["tags"], &renamed["revision"]), (&json!(["Post", "Sale"]), &json!(1)));
    let merged = account.patch(&path_of(&account, "Post"), &json!({"name": "sale"})).expect_status(200).body;
    assert_eq!((&merged["name"], &merged["links_count"]), (&json!("Sale"), &json!(2)));
    assert_eq!(account.get("/v1/account").body["usage"]["tags"], 2);
    account.delete(&path_of(&account, "Sale")).expect_status(200);
    let after = account.get(&path).expect_status(200).body;
    assert_eq!((&after["tags"], &after["updated_at"]), (&json!([]), &sale["updated_at"]));
    assert_eq!(tags(&account), [count("Straße", 1)]);
    assert_eq!(program.visitor().open("/sale").status, 302);
}

/// A text as a value in a query.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        write!(encoded, "%{byte:02X}").unwrap();
        encoded
    })
}

#[test]
fn d122_d126_long_german_names_and_emoji_are_kept_and_found() {
    let program = Program::start();
    let account = program.first_account();
    let name = |chars: usize| "Überdachungszuschüsse".chars().cycle().take(chars).collect::<String>();
    let longest = name(100);
    let names = ["🌷", "👩\u{200d}👩\u{200d}👧\u{200d}👦 Für Große"];
    let body = |name: &str| redirect_body(json!({"name": name, "tags": names}));
    for length in [101, 200] {
        let refused = account.post("/v1/redirects", &body(&name(length))).expect_status(400);
        assert_eq!(refused.violations(), [("name".to_owned(), "too_long".to_owned())], "{length}");
    }
    assert!(tags(&account).is_empty(), "a refused link leaves no tags");
    let link = account.create_redirect(&body(&longest));
    account.create_redirect(&redirect_body(json!({"name": "Uberdachungszuschusse"})));
    assert_eq!((&link["name"], link["tags"].as_array().unwrap().len()), (&json!(longest), 2));
    for query in [
        format!("q={}", encoded(&longest)),
        format!("q={}", encoded("ZUSCHÜSSEÜBER")),
        // A letter with a combining mark.
        format!("q={}", encoded("zuschu\u{308}sse")),
        format!("tag={}", encoded(names[0])),
        format!("tag_all={},{}", encoded(names[0]), encoded("👩\u{200d}👩\u{200d}👧\u{200d}👦 FÜR GROSSE")),
    ] {
        let found = account.walk("/v1/redirects", &format!("?{query}"));
        assert_eq!(found.len(), 1, "{query}");
        assert_eq!((&found[0]["id"], &found[0]["name"]), (&link["id"], &json!(longest)), "{query}");
        assert_eq!(found[0]["tags"], link["tags"], "{query}");
    }
    let mut expected = names.map(|name| (name.to_owned(), 1));
    expected.sort();
    assert_eq!(tags(&account), expected);
}

/// Creates this many redirects with these tags in batches, and gives their ids in order.
fn create_many(account: &Account, number: usize, tags: impl Fn(usize) -> Value) -> Vec<String> {
    let items: Vec<Value> = (0..number).map(|number| redirect_body(json!({"tags": tags(number)}))).collect();
    let mut ids = Vec::with_capacity(number);
    for batch in items.chunks(100) {
        let answer = account.post("/v1/redirects/bulk", &json!({ "redirects": batch })).expect_status(200);
        assert_eq!(answer.body["failed_count"], 0, "{:?}", answer.body);
        let created = answer.body["created"].as_array().unwrap();
        ids.extend(created.iter().map(|item| item["data"]["id"].as_str().unwrap().to_owned()));
    }
    ids.sort();
    ids
}

/// Asserts that a list has each of these links once, and no other.
#[track_caller]
fn assert_lists(account: &Account, query: &str, ids: &[String]) {
    let listed = account.walk("/v1/redirects", query);
    let mut listed: Vec<&str> = listed.iter().map(|link| link["id"].as_str().unwrap()).collect();
    listed.sort_unstable();
    assert!(listed == ids, "{query} lists {} links and not {}", listed.len(), ids.len());
}

/// In a soak there are more links than merges and deletions change in one step. A tenth of them also has the other tag.
#[test]
fn d122_a_tag_of_many_links_is_renamed_merged_and_deleted_without_a_revision() {
    let number = if is_soak() { 100_000 } else { 300 };
    let program = Program::start();
    let account = program.first_account();
    let ids = create_many(&account, number, |number| {
        if number.is_multiple_of(10) { json!(["Sale", "mail"]) } else { json!(["Sale"]) }
    });
    let count = |name: &str, links: usize| (name.to_owned(), u64::try_from(links).unwrap());
    assert_eq!(tags(&account), [count("Sale", number), count("mail", number / 10)]);
    let sample: Vec<Value> = ids
        .iter()
        .step_by(number / 20)
        .map(|id| account.get(&format!("/v1/redirects/{id}")).expect_status(200).body)
        .collect();
    let assert_same_but_tags = |tags: &Value| {
        for before in &sample {
            let after = account.get(&path_of_link(before)).expect_status(200).body;
            let expected = body_with(before.clone(), json!({ "tags": tags }));
            assert_eq!(after, expected);
        }
    };

    account.patch(&path_of(&account, "Sale"), &json!({"name": "Herbst"})).expect_status(200);
    assert_eq!(tags(&account), [count("Herbst", number), count("mail", number / 10)]);
    assert_lists(&account, "?limit=100&tag=HERBST", &ids);
    assert_lists(&account, "?tag=sale", &[]);

    let merged =
        account.patch(&path_of(&account, "Herbst"), &json!({"name": "Mail"})).expect_status(200).body;
    assert_eq!((&merged["name"], &merged["links_count"]), (&json!("mail"), &json!(number)));
    assert_eq!(tags(&account), [count("mail", number)]);
    assert_lists(&account, "?limit=100&tag=mail", &ids);
    assert_same_but_tags(&json!(["mail"]));

    account.delete(&path_of(&account, "mail")).expect_status(200);
    assert_eq!(
        (tags(&account), account.get("/v1/account").body["usage"]["tags"].clone()),
        (vec![], json!(0))
    );
    assert_lists(&account, "?tag=mail", &[]);
    assert_lists(&account, "?limit=100&without_tag=mail", &ids);
    assert_same_but_tags(&json!([]));
}

#[test]
fn d122_concurrent_creations_of_a_name_make_one_tag() {
    let program = Program::start();
    let account = program.account("agency");
    let names = |number: usize| [["One", "two"], ["TWO", "one"], ["three", "ONE"]][number % 3];
    concurrently(12, |number| {
        account.create_redirect(&redirect_body(json!({"tags": names(number)})));
    });
    let mut counts = tags(&account);
    for (name, _) in &mut counts {
        *name = name.to_lowercase();
    }
    counts.sort();
    assert_eq!(counts, [("one".to_owned(), 12), ("three".to_owned(), 4), ("two".to_owned(), 8)]);
    assert_eq!(account.get("/v1/account").body["usage"]["tags"], 3);
}

#[test]
fn d137_concurrent_links_never_have_more_tags_than_the_plan() {
    let small = "[plans.small]\nextends = \"agency\"\ntags = 5\n";
    let program = Program::builder().plan(small).start();
    let account = program.account("small");
    let statuses = concurrently(12, |number| {
        let body = redirect_body(json!({"tags": [format!("a{number}"), format!("b{number}")]}));
        account.post("/v1/redirects", &body).status
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 2, "{statuses:?}");
    assert!(statuses.iter().all(|status| [201, 403].contains(status)), "{statuses:?}");
    assert_eq!(tags(&account).len(), 4);
    assert_eq!(account.get("/v1/account").body["usage"]["tags"], 4);
}
