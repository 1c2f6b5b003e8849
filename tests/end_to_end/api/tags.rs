//! Tags: D122, D126.

use serde_json::{Value, json};

use crate::harness::{Account, Program, concurrently, redirect_body};

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
