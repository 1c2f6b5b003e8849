//! The life of links: when they start and end, where they lead afterwards, and their state (D128).

use std::time::Duration;

use serde_json::{Value, json};
use signpost_domain::{CheckPlan, CustomDomain, CustomDomainStatus, HostBlocklist, LinkState};

use crate::harness::{Api, commit, link_body};

const KINDS: [&str; 2] = ["/v1/redirects", "/v1/landings"];

const HOST: &str = "links.shop.com";

/// The fields about the life of a link, without its state.
fn life(link: &Value) -> Value {
    json!([link["starts_at"], link["expires_at"], link["fallback_url"]])
}

#[actix_web::test]
async fn d128_every_call_that_writes_links_takes_their_life() {
    let fields = json!({
        "starts_at": "2026-01-31T10:00:00+01:00", "expires_at": "2036-01-31T09:00:00.0429Z",
        "fallback_url": "https://example.com/over",
    });
    let shown = json!(["2026-01-31T09:00:00.000Z", "2036-01-31T09:00:00.042Z", "https://example.com/over"]);
    let nulls = json!({"starts_at": null, "expires_at": null, "fallback_url": null});
    let plain = json!([null, null, null]);
    for collection in KINDS {
        let api = Api::start().await;
        let created = api.call_with("POST", collection, link_body(collection, fields.clone())).await;
        let path = format!("{collection}/{}", created.id(201));
        assert_eq!(life(&created.body), shown);
        assert_eq!(api.call("GET", &path).await.body, created.body);
        let listed = api.call("GET", collection).await.body["data"][0].take();
        assert_eq!((life(&listed), &listed["state"]), (shown.clone(), &json!("active")), "D125");

        let patch = async |fields: &Value| api.call_with("PATCH", &path, fields.clone()).await.body;
        assert_eq!(life(&patch(&json!({"note": "x"})).await), shown, "absent fields stay");
        assert_eq!(life(&patch(&nulls).await), plain);
        let same = patch(&nulls).await;
        assert_eq!((life(&same), &same["revision"]), (plain.clone(), &json!(3)), "D33");
        assert_eq!(life(&patch(&fields).await), shown);

        let by_external_id = format!("{collection}/by-external-id/1");
        let put = async |fields: &Value| {
            api.call_with("PUT", &by_external_id, link_body(collection, fields.clone())).await
        };
        let made = put(&fields).await;
        assert_eq!((made.status, life(&made.body)), (201, shown.clone()));
        let changed = put(&json!({"expires_at": null})).await;
        let kept = json!([shown[0], null, shown[2]]);
        assert_eq!((changed.status, life(&changed.body)), (200, kept));

        let (field, bulk) = (collection.trim_start_matches("/v1/"), format!("{collection}/bulk"));
        let items =
            json!({ field: [link_body(collection, fields.clone()), link_body(collection, json!({}))] });
        let batch = api.call_with("POST", &bulk, items).await.body;
        let data = |number: usize| &batch["created"][number]["data"];
        assert_eq!([life(data(0)), life(data(1))], [shown.clone(), plain.clone()]);
        let mut item = fields.clone();
        item["id"] = data(1)["id"].clone();
        let batch = api.call_with("PATCH", &bulk, json!({ field: [item] })).await.body;
        assert_eq!(life(&batch["updated"][0]["data"]), shown);
    }
}

#[actix_web::test]
async fn d128_an_end_at_or_before_the_start_is_refused() {
    let (early, late) = ("2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z");
    for collection in KINDS {
        let api = Api::start().await;
        let refused = [("expires_at", "invalid_value")];
        for fields in [
            json!({"starts_at": late, "expires_at": early}),
            json!({"starts_at": early, "expires_at": "2026-03-01T01:00:00+01:00"}),
        ] {
            let answer = api.call_with("POST", collection, link_body(collection, fields)).await;
            assert_eq!(answer.violations(), refused);
        }
        let both = link_body(collection, json!({"starts_at": early, "expires_at": late}));
        let path = format!("{collection}/{}", api.call_with("POST", collection, both).await.id(201));
        // A PATCH is judged by its result.
        for (fields, is_valid) in [
            (json!({"starts_at": late}), false),
            (json!({"expires_at": early}), false),
            (json!({"expires_at": null, "starts_at": late}), true),
            (json!({"expires_at": late}), false),
            (json!({"starts_at": null, "expires_at": early}), true),
            (json!({"starts_at": early}), false),
        ] {
            let answer = api.call_with("PATCH", &path, fields.clone()).await;
            if is_valid {
                assert_eq!(answer.status, 200, "{fields}");
            } else {
                assert_eq!(answer.violations(), refused, "{fields}");
            }
        }
        let field = collection.trim_start_matches("/v1/");
        let items =
            json!({ field: [link_body(collection, json!({"starts_at": late, "expires_at": early}))] });
        let batch = api.call_with("POST", &format!("{collection}/bulk"), items).await.body;
        let error = &batch["failed"][0]["error"];
        let detail = (&error["details"][0]["field"], &error["details"][0]["code"], &error["value"]);
        assert_eq!(detail, (&json!("expires_at"), &json!("invalid_value"), &json!(early)));
    }
}

#[actix_web::test]
async fn d128_malformed_fields_are_named() {
    let api = Api::start().await;
    let long = format!("https://example.com/{}", "a".repeat(2_048));
    for (fields, code) in [
        (json!({"starts_at": "2026-03-01", "expires_at": "tomorrow"}), "invalid_format"),
        (
            json!({"starts_at": "1969-12-31T23:59:59Z", "expires_at": "9999-12-31T23:59:59-01:00"}),
            "out_of_range",
        ),
        (json!({"starts_at": 1_769_850_307, "expires_at": true}), "invalid_type"),
    ] {
        let answer = api.call_with("POST", KINDS[0], link_body(KINDS[0], fields)).await;
        assert_eq!(answer.violations(), [("expires_at", code), ("starts_at", code)]);
    }
    for (url, code) in [
        (json!("ftp://example.com/"), "invalid_format"),
        (json!(long), "too_long"),
        (json!(7), "invalid_type"),
    ] {
        let answer =
            api.call_with("POST", KINDS[1], link_body(KINDS[1], json!({ "fallback_url": url }))).await;
        assert_eq!(answer.violations(), [("fallback_url", code)]);
    }
}

/// As a target is: the link's own address, our own widgets and QR codes, and the operator's list (D24).
#[actix_web::test]
async fn d24_d128_a_fallback_follows_the_rules_of_targets() {
    for collection in KINDS {
        let api = Api::start().await;
        api.memory.target_blocklist.replace(HostBlocklist::parse("blocked.example").unwrap());
        let refused = [("fallback_url", "invalid_value")];
        for url in [
            "https://go.example.com/mine",
            "http://GO.example.com:80/mine#x",
            "https://go.example.com/menu/qr.png",
            "https://blocked.example/",
        ] {
            let fields = json!({"slug": "mine", "fallback_url": url});
            let created = api.call_with("POST", collection, link_body(collection, fields)).await;
            assert_eq!(created.violations(), refused, "{url}");
        }
        let fields = json!({"slug": "mine", "fallback_url": "https://go.example.com/other"});
        let created = api.call_with("POST", collection, link_body(collection, fields)).await;
        let path = format!("{collection}/{}", created.id(201));
        let moved = api.call_with("PATCH", &path, json!({"slug": "other"})).await;
        assert_eq!(moved.violations(), [("slug", "invalid_value")], "the move closes the loop");
        let own = api.call_with("PATCH", &path, json!({"fallback_url": "https://go.example.com/mine"})).await;
        assert_eq!(own.violations(), refused);
    }
}

/// The first state that applies, each by the clock of the answer. The filter of lists says the same (D126).
#[actix_web::test]
async fn d128_a_link_shows_its_state() {
    for collection in KINDS {
        let api = Api::start().await;
        let now = api.app.clock.now();
        let [start, end] = [1, 3].map(|seconds| now.plus(Duration::from_secs(seconds)).to_string());
        let domain = api.active_domain(HOST).await;
        let fields = json!({"slug": "a", "domain": HOST, "starts_at": start, "expires_at": end});
        let created = api.call_with("POST", collection, link_body(collection, fields)).await;
        let path = format!("{collection}/{}", created.id(201));
        let state = async || {
            let single = api.call("GET", &path).await.body["state"].take();
            let listed = api.call("GET", collection).await.body["data"][0]["state"].take();
            assert_eq!(single, listed);
            let others = LinkState::ALL.map(LinkState::as_str).into_iter().filter(|other| single != *other);
            let others = others.collect::<Vec<_>>().join(",");
            let chosen = api.call("GET", &format!("{collection}?state={}", single.as_str().unwrap())).await;
            let left_out = api.call("GET", &format!("{collection}?state={others}")).await;
            let states = [&chosen, &left_out].map(|list| list.body["data"][0]["state"].clone());
            assert_eq!(states, [single.clone(), Value::Null]);
            single
        };
        assert_eq!(created.body["state"], json!("scheduled"));
        for (millis, expected) in [(999, "scheduled"), (1, "active"), (1_999, "active"), (1, "expired")] {
            api.memory.clock.advance(Duration::from_millis(millis));
            assert_eq!(state().await, json!(expected), "{millis}");
        }
        becomes(&api, CustomDomainStatus::Failed).await;
        assert_eq!(state().await, json!("domain_inactive"));
        let off = api.call_with("PATCH", &path, json!({"is_active": false})).await;
        assert_eq!((&off.body["state"], state().await), (&json!("inactive"), json!("inactive")));
        assert_eq!(api.call("DELETE", &format!("/v1/domains/{domain}")).await.status, 200);
        assert_eq!(state().await, json!("lost"));
        let back = json!({"domain": null, "is_active": true, "starts_at": null, "expires_at": null});
        assert_eq!(api.call_with("PATCH", &path, back).await.body["state"], json!("active"));
    }
}

/// Gives the domain at [`HOST`] a status.
async fn becomes(api: &Api, status: CustomDomainStatus) {
    let hostname = signpost_domain::Hostname::parse(HOST).unwrap();
    let domain = api.app.store.holder_of(&hostname).await.unwrap().unwrap();
    let mut work = api.app.store.begin().await.unwrap();
    work.lock_custom_domain(domain.account_id, domain.id).await.unwrap().unwrap();
    let never = CheckPlan { next_check_at: None, checks_made: 0 };
    work.update_custom_domain(&CustomDomain { status, ..domain }, never).await.unwrap();
    commit(work).await;
}

/// What no link can have is a violation of the request, and the rest fails link by link.
#[actix_web::test]
async fn d124_d128_many_redirects_get_the_same_life() {
    let api = Api::start().await;
    let late = link_body(KINDS[0], json!({"starts_at": "2036-01-01T00:00:00Z"}));
    let late = api.call_with("POST", KINDS[0], late).await.id(201);
    api.redirect("mine").await;
    let change = async |patch: Value| {
        let body = json!({"filter": {"all": true}, "patch": patch});
        api.call_with("POST", "/v1/redirects/update-matching", body).await
    };
    for (patch, field) in [
        (
            json!({"starts_at": "2027-01-01T00:00:00Z", "expires_at": "2026-01-01T00:00:00Z"}),
            "patch.expires_at",
        ),
        (json!({"fallback_url": "https://go.example.com/x/qr.svg"}), "patch.fallback_url"),
    ] {
        assert_eq!(change(patch).await.violations(), [(field, "invalid_value")]);
    }
    let ended = change(json!({"expires_at": "2030-01-01T00:00:00Z"})).await.body;
    assert_eq!((&ended["updated_count"], &ended["failed"][0]["id"]), (&json!(1), &json!(late)));
    assert_eq!(ended["failed"][0]["error"]["details"][0]["field"], json!("expires_at"));
    let own = change(json!({"fallback_url": "https://go.example.com/mine"})).await.body;
    assert_eq!((&own["updated_count"], &own["failed_more"]), (&json!(1), &json!(0)));
    assert_eq!(own["failed"][0]["error"]["value"], json!("https://go.example.com/mine"));
}
