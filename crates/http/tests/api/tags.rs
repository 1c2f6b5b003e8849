//! Tags of links (D122, D125), the filters by them (D126) and their limit (D137).

use serde_json::{Value, json};
use signpost_domain::{Plan, PlanLimits};

use crate::harness::{Answer, Api, is_id, memory_on_plan, request};

const KINDS: [&str; 2] = ["/v1/redirects", "/v1/landings"];

const UNKNOWN: &str = "tag_00000000000000000000000000000000";

/// A body of a creation with these tags.
fn body(collection: &str, tags: &[&str]) -> Value {
    if collection.ends_with("redirects") {
        json!({"name": "First", "target_url": "https://example.com/", "tags": tags})
    } else {
        json!({"title": "First", "tags": tags})
    }
}

/// Creates a link with these tags and gives its path.
async fn link(api: &Api, collection: &str, tags: &[&str]) -> String {
    let created = api.call_with("POST", collection, body(collection, tags)).await;
    format!("{collection}/{}", created.id(201))
}

/// The tags of the account, newest first: name and number of links.
async fn tags(api: &Api) -> Vec<(String, u64)> {
    let listed = api.call("GET", "/v1/tags?limit=100").await.body["data"].take();
    let tag = |tag: &Value| (tag["name"].as_str().unwrap().to_owned(), tag["links_count"].as_u64().unwrap());
    listed.as_array().unwrap().iter().map(tag).collect()
}

/// The path of the tag with this name.
async fn path_of(api: &Api, name: &str) -> String {
    let listed = api.call("GET", "/v1/tags?limit=100").await.body["data"].take();
    let tag = listed.as_array().unwrap().iter().find(|tag| tag["name"] == name);
    format!("/v1/tags/{}", tag.unwrap_or_else(|| panic!("no {name} in {listed}"))["id"].as_str().unwrap())
}

fn count(name: &str, links: u64) -> (String, u64) {
    (name.to_owned(), links)
}

#[actix_web::test]
async fn d122_a_list_of_tags_replaces_the_tags_of_a_link() {
    for collection in KINDS {
        let api = Api::start().await;
        let created = api.call_with("POST", collection, body(collection, &[" Sale ", "mail", "SALE"])).await;
        let path = format!("{collection}/{}", created.id(201));
        assert_eq!(created.body["tags"], json!(["mail", "Sale"]), "sorted, each once");
        assert_eq!(api.call("GET", &path).await.body, created.body);
        let patch = async |tags: Value| {
            let answer = api.call_with("PATCH", &path, json!({ "tags": tags })).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            (answer.body["tags"].clone(), answer.body["revision"].as_u64().unwrap())
        };
        let same = patch(json!(["sale", "MAIL"])).await;
        assert_eq!(same, (json!(["mail", "Sale"]), 1), "the tags keep their spelling");
        assert_eq!(patch(json!(["MAIL", "new"])).await, (json!(["mail", "new"]), 2));
        let renamed = api.call_with("PATCH", &path, json!({"note": "x"})).await.body;
        assert_eq!(renamed["tags"], json!(["mail", "new"]), "absent tags stay");
        assert_eq!(patch(Value::Null).await, (json!([]), 4));
        assert_eq!(patch(json!([])).await, (json!([]), 4));
        assert_eq!(tags(&api).await, [count("new", 0), count("Sale", 0), count("mail", 0)]);
    }
}

#[actix_web::test]
async fn d122_puts_and_batches_take_tags() {
    for collection in KINDS {
        let api = Api::start().await;
        let path = format!("{collection}/by-external-id/1");
        let put = async |tags: &[&str]| api.call_with("PUT", &path, body(collection, tags)).await;
        let created = put(&["a", "b"]).await;
        assert_eq!((created.status, &created.body["tags"]), (201, &json!(["a", "b"])));
        let changed = put(&["B", "c"]).await;
        assert_eq!((changed.status, &changed.body["tags"]), (200, &json!(["b", "c"])));
        let field = collection.trim_start_matches("/v1/");
        let items = [body(collection, &["c", "D"]), body(collection, &["d"]), body(collection, &["x,y"])];
        let batch = api.call_with("POST", &format!("{collection}/bulk"), json!({ field: items })).await.body;
        let shown: Vec<&Value> =
            batch["created"].as_array().unwrap().iter().map(|item| &item["data"]["tags"]).collect();
        assert_eq!(shown, [&json!(["c", "D"]), &json!(["D"])], "one spelling for both items");
        let [failed] = batch["failed"].as_array().unwrap().as_slice() else { panic!("{batch}") };
        assert_eq!((&failed["index"], &failed["error"]["value"]), (&json!(2), &json!("x,y")));
        assert_eq!(failed["error"]["details"][0]["field"], "tags[0]");
        let expected = [count("D", 2), count("c", 2), count("b", 1), count("a", 0)];
        assert_eq!(tags(&api).await, expected);
    }
}

#[actix_web::test]
async fn d122_each_invalid_name_has_its_own_violation() {
    let api = Api::start().await;
    let names = json!(["ok", "", "  ", "x".repeat(51), "a,b", "a\nb", 5, null, "ü".repeat(50)]);
    let expected = [
        ("tags[1]", "too_short"),
        ("tags[2]", "too_short"),
        ("tags[3]", "too_long"),
        ("tags[4]", "invalid_format"),
        ("tags[5]", "invalid_format"),
        ("tags[6]", "invalid_type"),
        ("tags[7]", "invalid_type"),
    ];
    for collection in KINDS {
        let path = link(&api, collection, &[]).await;
        let with = |tags: &Value| {
            let mut body = body(collection, &[]);
            body["tags"] = tags.clone();
            body
        };
        for (method, path) in [("POST", collection), ("PATCH", &path)] {
            let refused = api.call_with(method, path, with(&names)).await;
            assert_eq!(refused.violations(), expected, "{method} {path}");
            let many: Vec<String> = (0..21).map(|number| number.to_string()).collect();
            let refused = api.call_with(method, path, with(&json!(many))).await;
            assert_eq!(refused.violations(), [("tags", "too_many_items")], "{method} {path}");
            let refused = api.call_with(method, path, with(&json!("a"))).await;
            assert_eq!(refused.violations(), [("tags", "invalid_type")], "{method} {path}");
        }
    }
    assert_eq!(tags(&api).await, [], "a refused request creates no tag");
}

#[actix_web::test]
async fn d122_the_list_of_tags_shows_their_links() {
    let api = Api::start().await;
    let redirect = link(&api, KINDS[0], &["Sale"]).await;
    link(&api, KINDS[1], &["sale", "mail"]).await;
    let page = api.call("GET", "/v1/tags?limit=1").await.body;
    let id = page["data"][0]["id"].as_str().unwrap();
    assert!(is_id(id, "tag_"));
    let expected = json!({
        "id": id, "object": "tag", "name": "mail", "links_count": 1, "created_at": "2026-01-31T09:05:07.042Z",
    });
    assert_eq!((&page["data"], &page["pagination"]["has_more"]), (&json!([expected]), &json!(true)));
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    let next = api.call("GET", &format!("/v1/tags?limit=1&cursor={cursor}")).await.body;
    assert_eq!((&next["data"][0]["name"], &next["data"][0]["links_count"]), (&json!("Sale"), &json!(2)));
    assert_eq!(next["pagination"]["has_more"], json!(false));
    api.call("DELETE", &redirect).await.id(200);
    assert_eq!(tags(&api).await, [count("mail", 1), count("Sale", 1)]);
    let (_, stranger) = api.account("eve@example.com", "agency").await;
    let theirs = api.send(request("GET", "/v1/tags", &stranger)).await;
    assert_eq!(theirs.body["data"], json!([]), "D2");
}

#[actix_web::test]
async fn d122_links_show_the_new_name_of_a_tag_in_the_same_revision() {
    let api = Api::start().await;
    for collection in KINDS {
        let path = link(&api, collection, &["Old", "zebra"]).await;
        let before = api.call("GET", &path).await.body;
        let tag = path_of(&api, "Old").await;
        for (name, shown) in [("  Young ", "Young"), ("YOUNG", "YOUNG"), ("young", "young")] {
            let renamed = api.call_with("PATCH", &tag, json!({ "name": name })).await;
            assert_eq!(format!("/v1/tags/{}", renamed.id(200)), tag);
            assert_eq!((&renamed.body["name"], &renamed.body["links_count"]), (&json!(shown), &json!(1)));
            let mut expected = before.clone();
            expected["tags"] = json!([shown, "zebra"]);
            assert_eq!(api.call("GET", &path).await.body, expected);
        }
        let found = api.call("GET", &format!("{collection}?tag=YOUNG")).await.body;
        assert_eq!(found["data"][0]["tags"], json!(["young", "zebra"]));
        assert_eq!(api.call("GET", &format!("{collection}?tag=old")).await.body["data"], json!([]));
        api.call_with("PATCH", &tag, json!({"name": "Old"})).await.id(200);
        api.call("DELETE", &path).await.id(200);
    }
}

#[actix_web::test]
async fn d122_a_taken_name_merges_two_tags() {
    let api = Api::start().await;
    let both = link(&api, KINDS[0], &["from", "To"]).await;
    let one = link(&api, KINDS[1], &["from"]).await;
    let other = link(&api, KINDS[0], &["To"]).await;
    let before = api.call("GET", &one).await.body;
    let (from, to) = (path_of(&api, "from").await, path_of(&api, "To").await);
    let merged = api.call_with("PATCH", &from, json!({"name": "TO"})).await;
    assert_eq!(format!("/v1/tags/{}", merged.id(200)), to, "the answer is the tag that had the name");
    assert_eq!((&merged.body["name"], &merged.body["links_count"]), (&json!("To"), &json!(3)));
    for path in [&both, &one, &other] {
        let shown = api.call("GET", path).await.body;
        assert_eq!((&shown["tags"], &shown["revision"]), (&json!(["To"]), &json!(1)));
    }
    assert_eq!(api.call("GET", &one).await.body["updated_at"], before["updated_at"]);
    assert_eq!(tags(&api).await, [count("To", 3)]);
    let gone = api.call_with("PATCH", &from, json!({"name": "x"})).await;
    assert_eq!(gone.error(), (404, "invalid_request"));
    let usage = api.call("GET", "/v1/account").await.body["usage"]["tags"].take();
    assert_eq!(usage, json!(1));
}

#[actix_web::test]
async fn d122_the_links_of_a_deleted_tag_stay_without_it() {
    let api = Api::start().await;
    let paths = [link(&api, KINDS[0], &["a", "b"]).await, link(&api, KINDS[1], &["a"]).await];
    let tag = path_of(&api, "a").await;
    let deleted = api.call("DELETE", &tag).await;
    assert_eq!((deleted.id(200), &deleted.body["object"]), (tag.replace("/v1/tags/", ""), &json!("tag")));
    for (path, left) in paths.iter().zip([json!(["b"]), json!([])]) {
        let shown = api.call("GET", path).await.body;
        assert_eq!((&shown["tags"], &shown["revision"]), (&left, &json!(1)));
    }
    assert_eq!(tags(&api).await, [count("b", 1)]);
    for answer in [api.call("DELETE", &tag).await, api.call("DELETE", "/v1/tags/x").await] {
        assert_eq!(answer.error(), (404, "invalid_request"));
        assert_eq!(answer.body["error"].get("details"), None, "D6");
    }
    // A new tag of the name is another one.
    link(&api, KINDS[0], &["a"]).await;
    assert_ne!(path_of(&api, "a").await, tag);
}

#[actix_web::test]
async fn d122_a_new_name_is_required_and_judged_like_that_of_a_link() {
    let api = Api::start().await;
    link(&api, KINDS[0], &["a"]).await;
    let tag = path_of(&api, "a").await;
    for (body, violation) in [
        (json!({}), ("name", "required")),
        (json!({"name": null}), ("name", "not_nullable")),
        (json!({"name": " "}), ("name", "too_short")),
        (json!({"name": "a,b"}), ("name", "invalid_format")),
        (json!({"name": "x".repeat(51)}), ("name", "too_long")),
    ] {
        assert_eq!(api.call_with("PATCH", &tag, body).await.violations(), [violation]);
    }
    let unknown = api.call_with("PATCH", &format!("/v1/tags/{UNKNOWN}"), json!({"name": "b"})).await;
    assert_eq!(unknown.error(), (404, "invalid_request"));
    for (method, path) in [("POST", "/v1/tags"), ("GET", &tag)] {
        assert_eq!(
            api.call(method, path).await.status,
            405,
            "{method}: links create tags, and lists show them"
        );
    }
}

/// The API on a plan with two tags, both of which a link has.
async fn api_without_room() -> Api {
    let small = |plan: Plan| Plan { limits: PlanLimits { tags: 2, ..plan.limits }, ..plan };
    let api = Api::on(memory_on_plan(small), |_| {}).await;
    link(&api, KINDS[0], &["a", "b"]).await;
    api
}

#[actix_web::test]
async fn d137_a_link_that_needs_one_tag_too_many_is_refused() {
    let api = api_without_room().await;
    let account = api.call("GET", "/v1/account").await.body;
    assert_eq!((&account["limits"]["tags"], &account["usage"]["tags"]), (&json!(2), &json!(2)));
    for collection in KINDS {
        let path = link(&api, collection, &["B"]).await;
        for (method, path) in [("POST", collection), ("PATCH", &path)] {
            let refused = api.call_with(method, path, body(collection, &["a", "c"])).await;
            assert_eq!(refused.error(), (403, "plan_limit_reached"), "{method} {path}");
            let message = refused.body["error"]["message"].as_str().unwrap();
            assert!(message.contains("2 tags"), "{message}");
        }
        let by_external_id = format!("{collection}/by-external-id/{}", collection.len());
        let refused = api.call_with("PUT", &by_external_id, body(collection, &["c"])).await;
        assert_eq!(refused.error(), (403, "plan_limit_reached"));
        assert_eq!(api.call("GET", &path).await.body["tags"], json!(["b"]));
    }
    let names: Vec<String> = tags(&api).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["b", "a"], "none of the refused names");
    api.call("DELETE", &path_of(&api, "a").await).await.id(200);
    link(&api, KINDS[1], &["c"]).await;
}

#[actix_web::test]
async fn d137_only_the_items_of_a_batch_that_need_too_many_tags_fail() {
    for collection in KINDS {
        let api = api_without_room().await;
        api.call("DELETE", &path_of(&api, "b").await).await.id(200);
        let field = collection.trim_start_matches("/v1/");
        let items = [["c", "d"].as_slice(), &["A", "e"], &["f"], &["a"], &[], &["E"]]
            .map(|tags| body(collection, tags));
        let batch = api.call_with("POST", &format!("{collection}/bulk"), json!({ field: items })).await.body;
        let created: Vec<(u64, &Value)> = batch["created"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| (item["index"].as_u64().unwrap(), &item["data"]["tags"]))
            .collect();
        let expected = [(1, json!(["a", "e"])), (3, json!(["a"])), (4, json!([])), (5, json!(["e"]))];
        assert_eq!(created, expected.each_ref().map(|(index, tags)| (*index, tags)), "{batch}");
        for (failed, index) in batch["failed"].as_array().unwrap().iter().zip([0, 2]) {
            assert_eq!(
                (&failed["index"], &failed["error"]["code"]),
                (&json!(index), &json!("plan_limit_reached"))
            );
        }
        assert_eq!(api.call("GET", "/v1/account").await.body["usage"]["tags"], json!(2));
    }
}

#[actix_web::test]
async fn d126_lists_find_links_with_any_all_and_none_of_the_tags() {
    let api = Api::start().await;
    for collection in KINDS {
        let mut links = vec![];
        for tags in [["red", "blue"].as_slice(), &["red"], &["blue", "green"], &[]] {
            links.push(link(&api, collection, tags).await);
        }
        for (query, expected) in [
            ("tag=red", &[1, 0][..]),
            ("tag=RED", &[1, 0]),
            ("tag=red,green", &[2, 1, 0]),
            ("tag=red,unknown", &[1, 0]),
            ("tag=unknown", &[]),
            ("tag_all=red", &[1, 0]),
            ("tag_all=blue,%20Red", &[0]),
            ("tag_all=red,unknown", &[]),
            ("without_tag=red", &[3, 2]),
            ("without_tag=red,green", &[3]),
            ("without_tag=unknown", &[3, 2, 1, 0]),
            ("tag=red,green&without_tag=blue", &[1]),
            ("tag=blue&tag_all=green&without_tag=red", &[2]),
            ("tag=blue&q=first&is_active=true", &[2, 0]),
            ("tag=blue&q=other", &[]),
        ] {
            let listed = api.call("GET", &format!("{collection}?{query}")).await.body;
            let found: Vec<String> = listed["data"]
                .as_array()
                .unwrap()
                .iter()
                .map(|link| format!("{collection}/{}", link["id"].as_str().unwrap()))
                .collect();
            let expected: Vec<&String> = expected.iter().map(|number| &links[*number]).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query}");
        }
    }
    let (_, stranger) = api.account("eve@example.com", "agency").await;
    let answer: Answer = api.send(request("GET", "/v1/redirects?tag=red", &stranger)).await;
    assert_eq!(answer.body["data"], json!([]), "D2");
}

#[actix_web::test]
async fn d126_pages_of_a_tag_have_each_link_once() {
    let api = Api::start().await;
    for number in 0..7 {
        link(&api, KINDS[number % 2], &["all"]).await;
        link(&api, KINDS[0], &["other"]).await;
    }
    let mut sizes = vec![];
    let mut path = "/v1/redirects?tag=all&limit=2".to_owned();
    loop {
        let page = api.call("GET", &path).await.body;
        sizes.push(page["data"].as_array().unwrap().len());
        assert!(page["data"].as_array().unwrap().iter().all(|link| link["tags"] == json!(["all"])), "D125");
        let Some(cursor) = page["pagination"]["next_cursor"].as_str() else { break };
        path = format!("/v1/redirects?tag=all&limit=2&cursor={cursor}");
    }
    assert_eq!(sizes, [2, 2]);
}
