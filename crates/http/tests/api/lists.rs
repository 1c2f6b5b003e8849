//! Lists: contract "List envelope", "Pagination rules", "List filters for links", D11, D32.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::harness::{Api, request};

fn ids(list: &Value) -> Vec<String> {
    list["data"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[actix_web::test]
async fn an_empty_list_has_the_list_envelope() {
    let api = Api::start().await;
    for path in ["/v1/redirects", "/v1/groups"] {
        let pagination = json!({"has_more": false, "next_cursor": null});
        let expected = json!({"object": "list", "data": [], "pagination": pagination});
        assert_eq!(api.call("GET", path).await.body, expected, "{path}");
    }
}

#[actix_web::test]
async fn lists_are_paged_newest_first_with_any_page_size() {
    let api = Api::start().await;
    let mut created = Vec::new();
    for number in 0..7 {
        created.push(api.redirect(&format!("r{number}")).await);
        api.group(&format!("g{number}")).await;
    }
    created.reverse();
    for limit in [1, 2, 3, 6, 7, 8] {
        let (mut walked, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = api.call("GET", &format!("/v1/redirects?limit={limit}{cursor}")).await.body;
            walked.extend(ids(&page));
            let next = &page["pagination"]["next_cursor"];
            assert_eq!(page["pagination"]["has_more"], json!(!next.is_null()));
            match next.as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(walked, created, "limit {limit}");
    }
    let groups = api.call("GET", "/v1/groups").await.body;
    assert_eq!(groups["data"].as_array().unwrap().len(), 7);
    assert_eq!(groups["data"][0]["name"], json!("g6"));
}

#[actix_web::test]
async fn d11_the_page_size_may_change_between_pages() {
    let api = Api::start().await;
    for number in 0..5 {
        api.redirect(&format!("r{number}")).await;
    }
    let first = api.call("GET", "/v1/redirects?limit=2").await.body;
    let cursor = first["pagination"]["next_cursor"].as_str().unwrap();
    let rest = api.call("GET", &format!("/v1/redirects?limit=50&cursor={cursor}")).await.body;
    let all: HashSet<_> = ids(&first).into_iter().chain(ids(&rest)).collect();
    assert_eq!(all.len(), 5);
}

#[actix_web::test]
async fn d11_a_cursor_of_another_account_list_or_filter_is_refused() {
    let api = Api::start().await;
    for number in 0..3 {
        api.redirect(&format!("r{number}")).await;
        api.group("g").await;
    }
    let cursor = async |path: &str| {
        let page = api.call("GET", path).await.body;
        page["pagination"]["next_cursor"].as_str().unwrap().to_owned()
    };
    let redirects = cursor("/v1/redirects?limit=1").await;
    let groups = cursor("/v1/groups?limit=1").await;
    let (_, stranger) = api.account("eve@example.com", "agency").await;
    for answer in [
        api.call("GET", &format!("/v1/redirects?cursor={groups}")).await,
        api.call("GET", &format!("/v1/groups?cursor={redirects}")).await,
        api.call("GET", &format!("/v1/redirects?is_active=true&cursor={redirects}")).await,
        api.call("GET", &format!("/v1/redirects?group_id=none&cursor={redirects}")).await,
        api.send(request("GET", &format!("/v1/redirects?cursor={redirects}"), &stranger)).await,
        api.call("GET", &format!("/v1/redirects?cursor={}", &redirects[1..])).await,
    ] {
        assert_eq!(answer.violations(), [("cursor", "invalid_format")]);
    }
    let long = api.call("GET", &format!("/v1/redirects?cursor={}", "A".repeat(513))).await;
    assert_eq!(long.violations(), [("cursor", "too_long")]);
}

#[actix_web::test]
async fn d27_items_of_a_list_have_neither_pixels_nor_country_blocks() {
    let api = Api::start().await;
    let id = api.redirect("a").await;
    let mut single = api.call("GET", &format!("/v1/redirects/{id}")).await.body;
    for field in ["pixels", "geo_blocklists"] {
        single.as_object_mut().unwrap().remove(field).unwrap();
    }
    assert_eq!(api.call("GET", "/v1/redirects").await.body["data"], json!([single]));
}

#[actix_web::test]
async fn d32_all_filters_of_redirects_must_match() {
    let api = Api::start().await;
    let group = api.group("Spring").await;
    let (a, b, c) = (api.redirect("aa").await, api.redirect("bb").await, api.redirect("cc").await);
    api.call_with("PATCH", &format!("/v1/redirects/{a}"), json!({"group_id": group})).await.id(200);
    api.call_with("PATCH", &format!("/v1/redirects/{b}"), json!({"is_active": false, "name": "Straße"}))
        .await
        .id(200);
    for (query, expected) in [
        (format!("group_id={group}"), vec![&a]),
        ("group_id=none".to_owned(), vec![&c, &b]),
        ("group_id=grp_00000000000000000000000000000000".to_owned(), vec![]),
        ("group_id=nonsense".to_owned(), vec![]),
        ("is_active=false".to_owned(), vec![&b]),
        ("is_active=true&group_id=none".to_owned(), vec![&c]),
        ("q=STRASSE".to_owned(), vec![&b]),
        ("q=%43C".to_owned(), vec![&c]),
        ("domain=GO.example.com".to_owned(), vec![&c, &b, &a]),
        ("domain=links.example.org".to_owned(), vec![]),
        ("domain=not+a+host".to_owned(), vec![]),
    ] {
        let found = ids(&api.call("GET", &format!("/v1/redirects?{query}")).await.body);
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query}");
    }
}

#[actix_web::test]
async fn lists_of_groups_have_no_filter() {
    let api = Api::start().await;
    let answer = api.call("GET", "/v1/groups?q=a&limit=x").await;
    assert_eq!(answer.violations(), [("limit", "invalid_type"), ("q", "unknown_field")]);
}
