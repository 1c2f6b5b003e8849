//! Revisions, `ETag` and `If-Match` (D120).

use serde_json::{Value, json};

use crate::harness::{Answer, Api, request};

/// Sends a request with this `If-Match`.
async fn send(api: &Api, method: &str, path: &str, condition: &str, body: Option<&Value>) -> Answer {
    let request = request(method, path, &api.key).insert_header(("if-match", condition));
    api.send(if let Some(body) = body { request.set_json(body) } else { request }).await
}

/// One of each resource that has a revision: its path, and two bodies that change it.
#[allow(clippy::many_single_char_names, reason = "pairs of bodies")]
async fn resources(api: &Api) -> [(String, Value, Value); 4] {
    let bodies = |field: &str| (json!({ field: "Second" }), json!({ field: "Third" }));
    let path = |list: &str, id: String| format!("/v1/{list}/{id}");
    let [redirect, landing, group] = [
        path("redirects", api.redirect("r").await),
        path("landings", api.landing("l").await),
        path("groups", api.group("First").await),
    ];
    let domain = path("domains", api.domain("links.shop.com").await["id"].as_str().unwrap().to_owned());
    let ((a, b), (c, d)) = (bodies("name"), bodies("title"));
    let of_domain = |path: &str| json!({"root_url": format!("https://example.com/{path}")});
    let (e, f) = (of_domain("second"), of_domain("third"));
    [(redirect, a.clone(), b.clone()), (landing, c, d), (group, a, b), (domain, e, f)]
}

#[actix_web::test]
async fn d120_a_revision_grows_with_each_change_and_only_then() {
    let api = Api::start().await;
    for (path, second, third) in resources(&api).await {
        for (body, revision) in [(&second, 2), (&second, 2), (&third, 3), (&second, 4)] {
            let changed = api.call_with("PATCH", &path, body.clone()).await;
            assert_eq!((changed.status, &changed.body["revision"]), (200, &json!(revision)), "{path}");
            assert_eq!(api.call("GET", &path).await.body["revision"], json!(revision), "{path}");
        }
    }
}

#[actix_web::test]
async fn d120_a_change_for_another_revision_is_refused_and_changes_nothing() {
    let api = Api::start().await;
    for (path, second, third) in resources(&api).await {
        assert_eq!(send(&api, "PATCH", &path, "\"r1\"", Some(&second)).await.status, 200, "{path}");
        let stored = api.call("GET", &path).await.body;
        for condition in ["\"r1\"", "\"r3\", \"r1\"", "W/\"r2\"", "r2", ""] {
            for (method, body) in [("PATCH", Some(&third)), ("DELETE", None)] {
                let refused = send(&api, method, &path, condition, body).await;
                assert_eq!(refused.error(), (412, "invalid_request"), "{method} {path} {condition}");
                let detail = &refused.body["error"]["details"][0];
                assert_eq!(
                    (&detail["field"], &detail["code"]),
                    (&json!("If-Match"), &json!("invalid_value"))
                );
                assert!(refused.body["error"]["message"].as_str().unwrap().contains("\"r2\""));
            }
        }
        assert_eq!(api.call("GET", &path).await.body, stored);
        assert_eq!(send(&api, "PATCH", &path, "\"r9\", \"r2\"", Some(&third)).await.status, 200);
        assert_eq!(send(&api, "PATCH", &path, "*", Some(&second)).await.status, 200);
        assert_eq!(send(&api, "DELETE", &path, "\"r4\"", None).await.status, 200);
        // What does not exist is not found, whatever the condition is.
        for condition in ["*", "\"r4\""] {
            assert_eq!(send(&api, "PATCH", &path, condition, Some(&second)).await.status, 404);
            assert_eq!(send(&api, "DELETE", &path, condition, None).await.status, 404);
        }
    }
}

#[actix_web::test]
async fn d120_the_condition_comes_before_violations() {
    let api = Api::start().await;
    for (path, _, _) in resources(&api).await {
        let name = if path.contains("landings") { "title" } else { "name" };
        let invalid = json!({ name: "" });
        let stale = send(&api, "PATCH", &path, "\"r9\"", Some(&invalid)).await;
        assert_eq!(stale.error(), (412, "invalid_request"), "{path}");
        let current = send(&api, "PATCH", &path, "\"r1\"", Some(&invalid)).await;
        assert_eq!(current.error(), (400, "invalid_request"), "{path}");
    }
}

#[actix_web::test]
async fn d120_only_changes_of_one_resource_take_a_condition() {
    let api = Api::start().await;
    for (path, _, _) in resources(&api).await {
        let list = path.rsplit_once('/').unwrap().0;
        for path in [path.as_str(), list] {
            assert_eq!(send(&api, "GET", path, "\"r9\"", None).await.status, 200, "{path}");
        }
    }
    let refused = send(&api, "DELETE", "/v1/groups/grp_1", &"\"r1\",".repeat(101), None).await;
    assert_eq!(refused.violations(), [("If-Match", "too_long")]);
}

#[actix_web::test]
async fn d12_d120_a_replayed_creation_has_the_tag_of_its_answer() {
    let api = Api::start().await;
    let create = async || {
        let request = request("POST", "/v1/groups", &api.key).insert_header(("idempotency-key", "once"));
        api.send(request.set_json(json!({"name": "Spring"}))).await
    };
    let id = create().await.id(201);
    api.call_with("PATCH", &format!("/v1/groups/{id}"), json!({"name": "Summer"})).await;
    let replay = create().await;
    assert_eq!((replay.header("idempotent-replayed"), replay.header("etag")), (Some("true"), Some("\"r1\"")));
}
