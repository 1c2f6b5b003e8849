//! Every kind of write succeeds on nodes with very few connections, also several at once.

use serde_json::{Value, json};

use super::WHO;
use crate::harness::{Account, concurrently, redirect_body};
use crate::scene::Scene;

/// How many clients write at once.
const CLIENTS: usize = 6;

/// A unit of work needs only its own connection, so it never waits for itself.
#[test]
fn d6_every_write_succeeds_with_one_two_and_three_connections() {
    for connections in [1, 2, 3] {
        let scene = Scene::builder(WHO, 1).setting("database-connections", connections).start();
        let Some(scene) = scene else { return };
        every_write(&scene.account, 0);
        concurrently(CLIENTS, |client| every_write(&scene.balancer.pick(client).account, client + 1));
    }
}

/// Sends every kind of write, on the client's own resources.
fn every_write(account: &Account, client: usize) {
    let made = |path: &str, body: &Value| {
        account.post(path, body).expect_status(201).body["id"].as_str().unwrap().to_owned()
    };
    let pixel = |number: u32| {
        let id = format!("1234567890{number}");
        let body = json!({"pixel_type": "meta", "pixel_id": id, "name": "Shop"});
        made("/v1/pixels", &body)
    };
    let pixels = [pixel(1), pixel(2)];
    let groups = ["Spring", "Summer"].map(|name| made("/v1/groups", &json!({"name": name})));
    account.patch(&format!("/v1/groups/{}", groups[0]), &json!({"name": "Autumn"})).expect_status(200);
    let domain = made("/v1/domains", &json!({"hostname": format!("go.shop{client}.com")}));
    let body = redirect_body(json!({"group_id": groups[0], "pixel_ids": [pixels[0]]}));
    let redirect = format!("/v1/redirects/{}", made("/v1/redirects", &body));
    // Without and with a change of pixels, and with a slug, for which the link is read beforehand.
    for body in [
        json!({"name": "New"}),
        json!({"pixel_ids": pixels}),
        json!({"group_id": groups[1], "slug": format!("slug-{client}")}),
    ] {
        account.patch(&redirect, &body).expect_status(200);
    }
    let landing = format!("/v1/landings/{}", made("/v1/landings", &json!({"title": "X"})));
    account.patch(&landing, &json!({"title": "Y"})).expect_status(200);
    let items = vec![redirect_body(json!({"pixel_ids": pixels})); 3];
    let once = format!("batch-{client}");
    let batch = account.post_once(&once, "/v1/redirects/bulk", &json!({"redirects": items}));
    let batch = batch.expect_status(200).body;
    let links: Vec<&Value> =
        batch["created"].as_array().unwrap().iter().map(|item| &item["data"]["id"]).collect();
    for act in ["assign", "unassign"] {
        let path = format!("/v1/groups/{}/{act}", groups[0]);
        account.post(&path, &json!({"link_ids": links})).expect_status(200);
    }
    account.post("/v1/redirects/bulk/delete", &json!({"redirect_ids": links})).expect_status(200);
    let [domain, pixel, group] = [("domains", &domain), ("pixels", &pixels[0]), ("groups", &groups[1])]
        .map(|(kind, id)| format!("/v1/{kind}/{id}"));
    for path in [&domain, &pixel, &group, &redirect, &landing] {
        assert!(matches!(account.delete(path).status, 200 | 204), "{path}");
    }
}
