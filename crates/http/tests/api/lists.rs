//! Lists: contract "List envelope", "Pagination rules", "List filters for links", D11, D32.

use std::time::Duration;

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
async fn d11_a_cursor_of_another_account_list_or_filter_is_refused() {
    let api = Api::start().await;
    for number in 0..2 {
        api.redirect(&format!("r{number}")).await;
    }
    let page = api.call("GET", "/v1/redirects?limit=1").await.body;
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    let (_, stranger) = api.account("eve@example.com", "agency").await;
    for (path, key) in [
        ("/v1/groups?", &api.key),
        ("/v1/landings?", &api.key),
        ("/v1/redirects?is_active=true&", &api.key),
        ("/v1/redirects?", &stranger),
    ] {
        let answer = api.send(request("GET", &format!("{path}cursor={cursor}"), key)).await;
        assert_eq!(answer.violations(), [("cursor", "invalid_format")], "{path}");
    }
}

#[actix_web::test]
async fn d27_d125_items_of_a_list_lack_the_fields_that_only_single_answers_show() {
    let api = Api::start().await;
    let page_fields = [
        "description",
        "avatar_url",
        "theme",
        "accent_color",
        "search_engines",
        "language",
        "background",
        "button_style",
        "font",
        "widgets",
    ];
    for (list, id, omitted) in [
        (
            "/v1/redirects",
            api.redirect("a").await,
            &["pixels", "geo_blocklists", "utm", "final_url", "rules", "preview"][..],
        ),
        ("/v1/landings", api.landing("b").await, &page_fields),
    ] {
        let mut single = api.call("GET", &format!("{list}/{id}")).await.body;
        for field in omitted {
            single.as_object_mut().unwrap().remove(*field).unwrap();
        }
        assert_eq!(api.call("GET", list).await.body["data"], json!([single]));
    }
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
        ("is_active=true&group_id=none".to_owned(), vec![&c]),
        ("q=STRASSE&domain=GO.example.com".to_owned(), vec![&b]),
        ("q=%43C&slug=cc".to_owned(), vec![&c]),
        ("domain=links.example.org".to_owned(), vec![]),
    ] {
        let found = ids(&api.call("GET", &format!("/v1/redirects?{query}")).await.body);
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query}");
    }
}

#[actix_web::test]
async fn d126_redirects_are_found_by_the_host_of_their_target() {
    let api = Api::start().await;
    let mut ids_of = Vec::new();
    for target in ["https://Example.com:8443/", "https://www.example.com/", "https://b\u{fc}cher.example/"] {
        let body = json!({"name": "x", "target_url": target});
        ids_of.push(api.call_with("POST", "/v1/redirects", body).await.id(201));
    }
    let [apex, www, unicode] = ids_of.as_slice() else { panic!("{ids_of:?}") };
    let list = async |path: &str| {
        let answer = api.call("GET", path).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    };
    for (host, expected) in [
        ("EXAMPLE.com", vec![www, apex]),
        ("www.example.com.", vec![www]),
        ("b%C3%BCcher.example", vec![unicode]),
        ("xn--bcher-kva.example", vec![unicode]),
        ("ample.com", vec![]),
        ("com", vec![www, apex]),
        ("example.com&is_active=false", vec![]),
    ] {
        let found = ids(&list(&format!("/v1/redirects?target_host={host}")).await);
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{host}");
    }
    let page = list("/v1/redirects?target_host=example.com&limit=1").await;
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    let next = list(&format!("/v1/redirects?target_host=Example.COM&limit=1&cursor={cursor}")).await;
    assert_eq!((ids(&page), ids(&next)), (vec![www.clone()], vec![apex.clone()]));
    api.landing("menu").await;
    assert_eq!(list("/v1/landings?target_host=example.com").await["data"], json!([]));
    for path in ["/v1/redirects", "/v1/landings"] {
        for host in ["", "https://example.com", "example.com:443", "*.example.com"] {
            let answer = api.call("GET", &format!("{path}?target_host={host}")).await;
            assert_eq!(answer.violations(), [("target_host", "invalid_value")], "{host}");
        }
    }
}

#[actix_web::test]
async fn d126_links_are_found_by_their_state() {
    let api = Api::start().await;
    let late = api.app.clock.now().plus(Duration::from_secs(5)).to_string();
    let mut ids_of = Vec::new();
    for fields in [
        json!({}),
        json!({"is_active": false}),
        json!({"starts_at": late}),
        json!({"expires_at": "2001-01-01T00:00:00Z"}),
        json!({"max_clicks": 1}),
    ] {
        let mut body = json!({"name": "x", "target_url": "https://example.com/"});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        ids_of.push(api.call_with("POST", "/v1/redirects", body).await.id(201));
        api.memory.clock.advance(Duration::from_millis(1));
    }
    let [active, off, later, ended, limited] = ids_of.as_slice() else { panic!("{ids_of:?}") };
    let list = async |query: &str| {
        let answer = api.call("GET", &format!("/v1/redirects?{query}")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    };
    for (query, expected) in [
        ("state=active", vec![limited, active]),
        ("state=inactive", vec![off]),
        ("state=scheduled", vec![later]),
        ("state=expired", vec![ended]),
        ("state=exhausted,lost,domain_inactive", vec![]),
        ("state=expired,scheduled,inactive", vec![ended, later, off]),
        ("state=active,expired&is_active=true&target_host=example.com", vec![limited, ended, active]),
        ("state=active&is_active=false", vec![]),
    ] {
        assert_eq!(ids(&list(query).await).iter().collect::<Vec<_>>(), expected, "{query}");
    }
    // Each page has the states at its own instant.
    let page = list("state=active,scheduled&limit=1").await;
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    api.memory.clock.advance(Duration::from_secs(5));
    let next = list(&format!("state=scheduled,active&limit=1&cursor={cursor}")).await;
    assert_eq!((ids(&page), ids(&next)), (vec![limited.clone()], vec![later.clone()]));
    assert_eq!(next["data"][0]["state"], json!("active"));
    api.landing("menu").await;
    for (state, count) in [("active", 1), ("inactive,expired", 0), ("exhausted", 0)] {
        let pages = api.call("GET", &format!("/v1/landings?state={state}")).await.body;
        assert_eq!(ids(&pages).len(), count, "{state}");
    }
    for path in ["/v1/redirects", "/v1/landings"] {
        for state in ["", "on", "Active", "active,", "active,paused", "active%20"] {
            let answer = api.call("GET", &format!("{path}?state={state}")).await;
            assert_eq!(answer.violations(), [("state", "invalid_value")], "{state}");
            let message = answer.body["error"]["details"][0]["message"].as_str().unwrap();
            assert!(message.contains("domain_inactive, scheduled, expired"), "{message}");
        }
    }
}
