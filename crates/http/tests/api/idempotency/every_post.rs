//! What holds for every `POST`: the route table is walked, and one that this file does not know fails it.

use std::time::Duration;

use serde_json::{Value, json};
use signpost_http::{RouteInfo, RouteMethod, route_table};

use super::{everything, post, redirect};
use crate::harness::Api;

/// A request that has an effect, made for what is there.
struct Doing {
    path: String,
    body: Value,
    /// Another body that the same path takes.
    other: Value,
}

/// What the route can do; whatever that needs is created.
async fn doing(api: &Api, route: &RouteInfo) -> Doing {
    let named = |path: &str, body, other| Doing { path: path.to_owned(), body, other };
    let unknown = "rdr_00000000000000000000000000000000";
    match route.pattern {
        path @ "/v1/redirects" => named(path, redirect("one"), redirect("two")),
        path @ "/v1/landings" => named(path, json!({"title": "a"}), json!({"title": "b"})),
        path @ "/v1/groups" => named(path, json!({"name": "a"}), json!({"name": "b"})),
        path @ "/v1/pixels" => {
            let pixel = |code: &str| json!({"pixel_type": "meta", "pixel_id": code});
            named(path, pixel("123456789012345"), pixel("123456789012346"))
        }
        path @ "/v1/domains" => {
            named(path, json!({"hostname": "go.shop.com"}), json!({"hostname": "new.shop.com"}))
        }
        pattern @ "/v1/domains/{id}/verify" => {
            let domain = api.domain("ready.shop.com").await;
            api.follow_instructions(&domain);
            // It takes no other body, but what is sent under its key is told apart all the same.
            named(&pattern.replace("{id}", domain["id"].as_str().unwrap()), json!({}), json!({"nonsense": 1}))
        }
        path @ "/v1/redirects/bulk" => {
            // Some succeed, some fail, each in its own way.
            let items = |slug: &str| json!({"redirects": [redirect(slug), redirect(slug), {"name": ""}, redirect("api")]});
            named(path, items("three"), items("four"))
        }
        path @ "/v1/redirects/bulk/delete" => {
            let id = api.redirect("doomed").await;
            named(path, json!({"redirect_ids": [id, unknown]}), json!({"redirect_ids": [id]}))
        }
        path @ "/v1/landings/bulk/delete" => {
            let id = api.landing("doomed").await;
            named(path, json!({"landing_ids": [id, unknown]}), json!({"landing_ids": [id]}))
        }
        pattern @ ("/v1/groups/{id}/assign" | "/v1/groups/{id}/unassign") => {
            let (group, link) = (api.group("g").await, api.landing("member").await);
            let ids = json!({"link_ids": [link, unknown]});
            if pattern.ends_with("unassign") {
                api.call_with("POST", &format!("/v1/groups/{group}/assign"), ids.clone()).await;
            }
            named(&pattern.replace("{id}", &group), ids, json!({"link_ids": [link]}))
        }
        unknown => panic!("what does {unknown} do? tell this test"),
    }
}

fn posts() -> impl Iterator<Item = &'static RouteInfo> {
    route_table().iter().filter(|route| route.method == RouteMethod::Post)
}

#[actix_web::test]
async fn d12_every_post_is_carried_out_once_and_answered_the_same() {
    for route in posts() {
        let api = Api::start().await;
        let Doing { path, body, other: _ } = doing(&api, route).await;
        let before = everything(&api).await;
        let first = post(&api, &path, "k", &body).await;
        assert!(matches!(first.status, 200 | 201) && !first.is_replayed(), "{path}: {first:?}");
        let after = everything(&api).await;
        assert_ne!(before, after, "{path} does nothing");
        let left = api.call("GET", "/v1/account").await.rate_limits().unwrap()[1];
        for number in 1..=3 {
            api.memory.clock.advance(Duration::from_secs(1));
            let again = post(&api, &path, "k", &body).await;
            assert!(again.is_replayed(), "{path}");
            assert_eq!(again.repeated(), first.repeated(), "{path}");
            assert_ne!(again.header("x-request-id"), first.header("x-request-id"), "contract D4: {path}");
            assert_eq!(again.rate_limits().unwrap()[1], left - number, "it costs quota: {path}");
        }
        assert_eq!(everything(&api).await, after, "{path}");
    }
}

#[actix_web::test]
async fn d12_a_used_key_is_refused_for_another_body_and_another_path_of_every_post() {
    for route in posts() {
        let api = Api::start().await;
        let Doing { path, body, other } = doing(&api, route).await;
        let elsewhere = doing(&api, posts().find(|other| other.pattern != route.pattern).unwrap()).await;
        post(&api, &path, "k", &body).await;
        let after = everything(&api).await;
        let is_verify = path.ends_with("/verify");
        let of_other: &[_] = if is_verify { &[("nonsense", "unknown_field")] } else { &[] };
        post(&api, &path, "k", &other).await.assert_key_is_anothers_beside(of_other);
        post(&api, &elsewhere.path, "k", &elsewhere.body).await.assert_key_is_anothers();
        if !is_verify {
            let of_body = api.call_with("POST", &path, json!({})).await;
            let with_key = post(&api, &path, "k", &json!({})).await;
            with_key.assert_key_is_anothers_beside(&of_body.violations());
        }
        assert_eq!(everything(&api).await, after, "{path}");
        assert!(post(&api, &path, "k", &body).await.is_replayed(), "{path}");
    }
}

#[actix_web::test]
async fn d12_without_a_key_every_post_is_carried_out_each_time() {
    for route in posts() {
        let api = Api::start().await;
        let Doing { path, body, other: _ } = doing(&api, route).await;
        let first = api.call_with("POST", &path, body.clone()).await;
        let again = api.call_with("POST", &path, body).await;
        assert!(!first.is_replayed() && !again.is_replayed(), "{path}");
        // A link that is in the group, and a domain that is connected or verified, is what was asked for.
        let is_kept = path.ends_with("/assign") || path.starts_with("/v1/domains");
        assert_eq!(first.text == again.text, is_kept, "what was done before is done again: {path}");
    }
}
