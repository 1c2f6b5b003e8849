//! Redirects with a limit of clicks (D128, D130, D137).

use serde_json::{Value, json};
use signpost_app::ports::UnusedClicks;
use signpost_app::visits::{give_back_clicks, take_clicks};
use signpost_domain::{FeatureSet, Plan, PlanName, RedirectId};

use crate::harness::{Answer, Api, commit, memory_on_plan};

const COLLECTION: &str = "/v1/redirects";

/// A body of a creation with this limit.
fn body(max_clicks: &Value) -> Value {
    json!({"name": "First", "target_url": "https://example.com/", "max_clicks": max_clicks})
}

/// The limit, what is left of it, and the state.
fn limit(link: &Value) -> Value {
    json!([link["max_clicks"], link["clicks_left"], link["state"]])
}

fn id(created: &Answer) -> RedirectId {
    created.id(201).parse().unwrap()
}

#[actix_web::test]
async fn d128_every_call_that_writes_redirects_takes_a_limit() {
    let api = Api::start().await;
    let created = api.call_with("POST", COLLECTION, body(&json!(1_000_000_000))).await;
    let path = format!("{COLLECTION}/{}", created.id(201));
    let whole = json!([1_000_000_000, 1_000_000_000, "active"]);
    assert_eq!(limit(&created.body), whole);
    assert_eq!(api.call("GET", &path).await.body, created.body);
    let listed = api.call("GET", COLLECTION).await.body["data"][0].take();
    assert_eq!(limit(&listed), whole, "D125");

    let plain = json!([null, null, "active"]);
    let patch = async |fields: Value| api.call_with("PATCH", &path, fields).await.body;
    assert_eq!(limit(&patch(json!({"note": "x"})).await), whole, "absent fields stay");
    assert_eq!(limit(&patch(json!({"max_clicks": null})).await), plain);
    let same = patch(json!({"max_clicks": null})).await;
    assert_eq!((limit(&same), &same["revision"]), (plain.clone(), &json!(3)), "D33");
    assert_eq!(limit(&patch(json!({"max_clicks": 1})).await), json!([1, 1, "active"]));

    let by_external_id = format!("{COLLECTION}/by-external-id/1");
    let put = async |max: Value| api.call_with("PUT", &by_external_id, body(&max)).await;
    let made = put(json!(7)).await;
    assert_eq!((made.status, limit(&made.body)), (201, json!([7, 7, "active"])));
    let changed = put(json!(null)).await;
    assert_eq!((changed.status, limit(&changed.body)), (200, plain.clone()));

    let bulk = format!("{COLLECTION}/bulk");
    let items = json!({"redirects": [body(&json!(7)), body(&json!(null))]});
    let batch = api.call_with("POST", &bulk, items).await.body;
    let data = |number: usize| &batch["created"][number]["data"];
    assert_eq!([limit(data(0)), limit(data(1))], [json!([7, 7, "active"]), plain.clone()]);
    let items = json!({"redirects": [{"id": data(1)["id"], "max_clicks": 8}, {"id": data(0)["id"], "max_clicks": null}]});
    let batch = api.call_with("PATCH", &bulk, items).await.body;
    let data = |number: usize| limit(&batch["updated"][number]["data"]);
    assert_eq!([data(0), data(1)], [json!([8, 8, "active"]), plain]);
}

#[actix_web::test]
async fn d128_a_limit_out_of_range_is_refused() {
    let api = Api::start().await;
    let path = format!("{COLLECTION}/{}", api.redirect("mine").await);
    for (max, code) in [
        (json!(0), "out_of_range"),
        (json!(-1), "out_of_range"),
        (json!(1_000_000_001), "out_of_range"),
        (json!(1.5), "invalid_type"),
        (json!("10"), "invalid_type"),
        (json!(true), "invalid_type"),
    ] {
        let expected = [("max_clicks", code)];
        assert_eq!(api.call_with("POST", COLLECTION, body(&max)).await.violations(), expected, "{max}");
        let patched = api.call_with("PATCH", &path, json!({ "max_clicks": max })).await;
        assert_eq!(patched.violations(), expected, "{max}");
    }
    // What is left follows from visits, and landing pages have no limit.
    let left = api.call_with("PATCH", &path, json!({"clicks_left": 1})).await;
    assert_eq!(left.violations(), [("clicks_left", "unknown_field")]);
    let landing = api.call_with("POST", "/v1/landings", json!({"title": "A", "max_clicks": 1})).await;
    assert_eq!(landing.violations(), [("max_clicks", "unknown_field")]);
}

/// D128: a higher limit opens the link again, one below what is taken exhausts it, and null forgets what was taken.
#[actix_web::test]
async fn d128_a_link_is_exhausted_when_its_last_click_is_taken() {
    let api = Api::start().await;
    let created = api.call_with("POST", COLLECTION, body(&json!(2))).await;
    let (id, path) = (id(&created), format!("{COLLECTION}/{}", created.id(201)));
    let patch =
        async |max: Value| limit(&api.call_with("PATCH", &path, json!({ "max_clicks": max })).await.body);
    let shown = async || limit(&api.call("GET", &path).await.body);
    let taken = take_clicks(&api.app, api.account, id).await.unwrap().taken().unwrap();
    assert_eq!((taken.number, shown().await), (1, json!([2, 1, "active"])));
    take_clicks(&api.app, api.account, id).await.unwrap().taken().unwrap();
    assert_eq!(shown().await, json!([2, 0, "exhausted"]));
    assert_eq!(take_clicks(&api.app, api.account, id).await.unwrap().taken(), None);
    let listed = api.call("GET", COLLECTION).await.body["data"][0].take();
    assert_eq!(limit(&listed), json!([2, 0, "exhausted"]));

    let unused = UnusedClicks { account: api.account, link: id, clicks: taken };
    give_back_clicks(&api.app, &[unused]).await.unwrap();
    assert_eq!(shown().await, json!([2, 1, "active"]));
    take_clicks(&api.app, api.account, id).await.unwrap().taken().unwrap();
    for (max, expected) in [
        (json!(3), json!([3, 1, "active"])),
        (json!(1), json!([1, 0, "exhausted"])),
        (json!(null), json!([null, null, "active"])),
        (json!(2), json!([2, 2, "active"])),
    ] {
        assert_eq!(patch(max.clone()).await, expected, "{max}");
    }
}

/// D137: after a downgrade a link keeps its limit and may lose it, but gets no other.
#[actix_web::test]
async fn d137_a_new_limit_needs_the_feature_link_access() {
    let bare = PlanName::parse("bare").unwrap();
    let plan = |plan: Plan| Plan { name: bare.clone(), features: FeatureSet::none(), ..plan };
    let api = Api::on(memory_on_plan(plan), |_| {}).await;
    let created = api.call_with("POST", COLLECTION, body(&json!(9))).await;
    let (id, path) = (id(&created), format!("{COLLECTION}/{}", created.id(201)));
    for _ in 0..4 {
        take_clicks(&api.app, api.account, id).await.unwrap().taken().unwrap();
    }
    let mut work = api.app.store.begin().await.unwrap();
    assert!(work.set_plan(api.account, &bare).await.unwrap());
    commit(work).await;

    let refused = (403, "feature_not_available_on_current_plan");
    assert_eq!(api.call_with("POST", COLLECTION, body(&json!(2))).await.error(), refused);
    let patch = async |fields: Value| api.call_with("PATCH", &path, fields).await;
    for kept in [json!({"note": "x"}), json!({"max_clicks": 9})] {
        assert_eq!(limit(&patch(kept).await.body), json!([9, 5, "active"]));
    }
    for other in [8, 10] {
        assert_eq!(patch(json!({ "max_clicks": other })).await.error(), refused);
    }
    assert_eq!(limit(&patch(json!({"max_clicks": null})).await.body), json!([null, null, "active"]));
    assert_eq!(patch(json!({"max_clicks": 9})).await.error(), refused);
}
