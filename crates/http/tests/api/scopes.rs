//! The scopes and the expiry of keys (D80).

use std::time::Duration;

use serde_json::json;
use signpost_app::keys::{self, NewKey};
use signpost_domain::{Permission, PermissionSet, Timestamp};
use signpost_http::{Access, RouteMethod, route_table};

use crate::harness::{Api, request};

async fn key(api: &Api, scopes: impl IntoIterator<Item = Permission>) -> String {
    let scopes = Some(PermissionSet::from_iter(scopes));
    let new = NewKey { scopes, ..NewKey::default() };
    keys::issue(&api.app, api.account, new).await.unwrap().1.expose().to_owned()
}

const fn method(method: RouteMethod) -> &'static str {
    match method {
        RouteMethod::Get => "GET",
        RouteMethod::Post => "POST",
        RouteMethod::Put => "PUT",
        RouteMethod::Patch => "PATCH",
        RouteMethod::Delete => "DELETE",
    }
}

#[actix_web::test]
async fn d80_every_endpoint_asks_for_its_scope_before_it_reads_the_request() {
    let api = Api::start().await;
    for route in route_table().iter().filter(|route| route.access == Access::Admitted) {
        let path = route.pattern.replace("{id}", "x").replace("{external_id}", "x");
        let method = method(route.method);
        let Some(scope) = route.scope() else {
            assert_eq!(route.pattern, "/v1/account");
            let without = key(&api, []).await;
            assert_eq!(api.send(request(method, &path, &without)).await.status, 200);
            continue;
        };
        let others = Permission::SCOPES.into_iter().filter(|other| *other != scope);
        let refused = api.send(request(method, &path, &key(&api, others).await).set_json(json!(7))).await;
        assert_eq!(refused.error(), (403, "feature_not_available_on_current_plan"), "{method} {path}");
        let message = refused.body["error"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("`{}`", scope.as_str())), "{message}");
        let allowed = api.send(request(method, &path, &key(&api, [scope]).await)).await;
        assert_ne!(allowed.status, 403, "{method} {path}: {allowed:?}");
        api.memory.clock.advance(Duration::from_mins(1));
    }
}

#[actix_web::test]
async fn d80_clicks_of_listed_links_need_the_scope_of_analytics_too() {
    let api = Api::start().await;
    api.redirect("sale").await;
    let reader = key(&api, [Permission::Read]).await;
    assert_eq!(api.send(request("GET", "/v1/redirects", &reader)).await.status, 200);
    let refused = api.send(request("GET", "/v1/redirects?with=clicks", &reader)).await;
    assert_eq!(refused.error(), (403, "feature_not_available_on_current_plan"));
}

#[actix_web::test]
async fn d80_a_remembered_answer_is_not_for_a_key_without_the_scope() {
    let api = Api::start().await;
    let body = json!({ "name": "Spring" });
    let send = async |key: &str| {
        let call = request("POST", "/v1/groups", key).insert_header(("idempotency-key", "once"));
        api.send(call.set_json(&body)).await.status
    };
    assert_eq!(send(&api.key).await, 201);
    assert_eq!(send(&key(&api, [Permission::Read]).await).await, 403);
    assert_eq!(send(&key(&api, [Permission::WriteLinks]).await).await, 201, "replayed");
}

#[actix_web::test]
async fn d80_an_expired_key_is_invalid_from_its_instant_on() {
    let api = Api::start().await;
    let now = signpost_app::ports::Clock::now(&*api.memory.clock);
    let expires_at: Option<Timestamp> = Some(now.plus(Duration::from_mins(5)));
    let new = NewKey { expires_at, ..NewKey::default() };
    let key = keys::issue(&api.app, api.account, new).await.unwrap().1.expose().to_owned();
    api.memory.clock.advance(Duration::from_millis(5 * 60_000 - 1));
    assert_eq!(api.send(request("GET", "/v1/account", &key)).await.status, 200);
    api.memory.clock.advance(Duration::from_millis(1));
    let refused = api.send(request("GET", "/v1/account", &key)).await;
    assert_eq!(refused.error(), (401, "invalid_api_key"));
}

#[actix_web::test]
async fn d80_the_last_use_of_a_key_is_written_once_a_minute_off_the_request() {
    use signpost_app::background::{Job as _, NoteUses};

    let api = Api::start().await;
    let used = async || api.app.store.keys(api.account).await.unwrap()[0].last_used_at;
    api.call("GET", "/v1/account").await;
    assert_eq!(used().await, None, "not on the path of the request");
    let job = NoteUses::new(std::sync::Arc::clone(&api.app));
    job.step().await.unwrap();
    let first = used().await;
    assert_eq!(first, Some(signpost_app::ports::Clock::now(&*api.memory.clock)));
    api.memory.clock.advance(Duration::from_secs(59));
    api.call("GET", "/v1/account").await;
    job.step().await.unwrap();
    assert_eq!(used().await, first);
    api.memory.clock.advance(Duration::from_secs(1));
    api.call("GET", "/v1/account").await;
    job.step().await.unwrap();
    assert_ne!(used().await, first);
}
