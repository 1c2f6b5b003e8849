//! R1: two accounts never see each other's resources, on any route (D2).

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use signpost_api_conformance::{IdOfEach, Sample};

use crate::harness::domains::{DomainScene, connect, listed, path_of, shown};
use crate::harness::{Account, Answer, DOCUMENT, Program, redirect_body};

/// A call of the document's examples, with this id in its path.
fn probe(sample: &Sample, account: &Account, id: &str, ids: &IdOfEach) -> Answer {
    // A `POST` without a body of its own takes an empty object (D42).
    let empty = (sample.method == "POST").then(|| json!({}));
    account.send(&sample.method, &sample.path(id), sample.body_with(ids).or(empty).as_ref())
}

/// Creates a resource whose ids have this prefix, and gives its id.
fn resource(account: &Account, prefix: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    account.create_by_example(prefix, NEXT.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn d2_foreign_unknown_and_malformed_ids_are_answered_alike_on_every_route() {
    // The name server knows no hostname, which is an answer too (D42).
    let scene = DomainScene::start();
    let program = scene.first();
    let (one, other) = (program.account("agency"), program.account("agency"));
    for sample in DOCUMENT.samples() {
        let Some(prefix) = &sample.id_prefix else { continue };
        // An account exports clicks once a minute.
        let exporting = sample.template.ends_with("/clicks").then(|| program.account("agency"));
        let one = exporting.as_ref().unwrap_or(&one);
        let ids: IdOfEach =
            sample.prefixes().into_iter().map(|prefix| (prefix.clone(), resource(one, &prefix))).collect();
        let own = probe(&sample, one, &ids[prefix], &ids);
        assert_eq!(own.status, 200, "{sample:?}: {own:?}");
        let foreign = resource(&other, prefix);
        let before = everything(&other);
        let answers = [
            foreign,
            format!("{prefix}{}", "0".repeat(32)),
            format!("{prefix}{}", "A".repeat(32)),
            "nonsense".to_owned(),
        ]
        .map(|id| probe(&sample, one, &id, &ids));
        for answer in &answers {
            assert_eq!(answer.status, 404, "{sample:?}: {answer:?}");
            assert_eq!(comparable(answer), comparable(&answers[0]));
        }
        assert_eq!(everything(&other), before, "nothing of the other account changed");
    }
}

#[test]
fn d2_ids_in_bodies_filters_and_cursors_reach_nothing_of_another_account() {
    let program = Program::start();
    let (one, other) = (program.account("agency"), program.account("agency"));
    let group = resource(&other, "grp_");
    let link = json!({"name": "x", "target_url": "https://example.com", "group_id": group});
    other.create_redirect(&link);
    other.create_redirect(&link);
    let before = everything(&other);
    one.post("/v1/redirects", &link).expect_error(404, "group_not_found");
    let mine = format!("/v1/redirects/{}", resource(&one, "rdr_"));
    one.patch(&mine, &json!({"group_id": group})).expect_error(404, "group_not_found");
    assert!(one.walk("/v1/redirects", &format!("?group_id={group}")).is_empty());
    let theirs = other.walk("/v1/redirects", "")[0]["id"].as_str().unwrap().to_owned();
    for filter in [format!("group_id={group}"), format!("link={theirs}")] {
        let answer = one.get(&format!("/v1/analytics?start_date=0&end_date=86400000&{filter}"));
        let counted = answer.body.pointer("/totals/clicks").is_none_or(|clicks| *clicks == json!(0));
        assert!(counted && answer.status < 500, "{filter}: {answer:?}");
    }
    let page = other.get("/v1/redirects?limit=1").body;
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    one.get(&format!("/v1/redirects?cursor={cursor}")).expect_violations(&[("cursor", "invalid_format")]);
    assert_eq!(everything(&other), before);
    assert_eq!(one.walk("/v1/redirects", "").len(), 1);
}

/// R1: foreign ids in the bodies of bulk operations get the same answer as unknown ones.
#[test]
fn d31_foreign_ids_in_a_batch_are_like_unknown_ids() {
    let program = Program::start();
    let (one, other) = (program.account("agency"), program.account("agency"));
    let landing = |account: &Account| resource(account, "lnd_");
    let foreign = [other.new_redirect()["id"].as_str().unwrap().to_owned(), landing(&other)];
    let unknown = ["rdr_", "lnd_"].map(|prefix| format!("{prefix}{}", "0".repeat(32)));
    let group = resource(&one, "grp_");
    let theirs = resource(&other, "grp_");
    other.post(&format!("/v1/groups/{theirs}/assign"), &json!({"link_ids": foreign})).expect_status(200);
    let before = everything(&other);
    for (path, field) in [
        ("/v1/redirects/bulk/delete".to_owned(), "redirect_ids"),
        ("/v1/landings/bulk/delete".to_owned(), "landing_ids"),
        (format!("/v1/groups/{group}/assign"), "link_ids"),
        (format!("/v1/groups/{group}/unassign"), "link_ids"),
    ] {
        // The only difference is the id itself, which is sent back.
        let [foreign, unknown] = [&foreign, &unknown].map(|ids| {
            let answer = one.post(&path, &json!({field: ids})).expect_status(200).body;
            assert_eq!(answer["failed_count"], 2, "{answer}");
            ids.iter().fold(answer.to_string(), |text, id| text.replace(id.as_str(), "<id>"))
        });
        assert_eq!(foreign, unknown, "{path}");
    }
    assert_eq!(everything(&other), before);
    for (path, field) in [("/v1/redirects/bulk", "redirects"), ("/v1/landings/bulk", "landings")] {
        let [foreign, unknown] = [&foreign, &unknown].map(|ids| {
            let items = ids.each_ref().map(|id| json!({"id": id, "is_active": false}));
            let answer = one.patch(path, &json!({ field: items })).expect_status(200).body;
            assert_eq!(answer["failed_count"], 2, "{answer}");
            ids.iter().fold(answer.to_string(), |text, id| text.replace(id.as_str(), "<id>"))
        });
        assert_eq!(foreign, unknown, "{path}");
    }
    let item = json!({"name": "x", "target_url": "https://example.com", "group_id": theirs});
    let answer = one.post("/v1/redirects/bulk", &json!({"redirects": [item]})).expect_status(200).body;
    assert_eq!(answer["failed"][0]["error"]["code"], "group_not_found");
    let change = json!({"id": one.new_redirect()["id"], "group_id": theirs});
    let answer = one.patch("/v1/redirects/bulk", &json!({"redirects": [change]})).expect_status(200).body;
    assert_eq!(answer["failed"][0]["error"]["code"], "group_not_found");
    assert_eq!(everything(&other), before);
}

/// R1: another account's hostname in a body or a filter is like an unknown one, in every status (D23).
#[test]
fn d23_foreign_hostnames_are_like_unknown_hostnames() {
    let scene = DomainScene::start();
    let [one, _] = scene.clients();
    let [other, _] = scene.clients();
    let active = scene.activate(&other, "active.shop.test");
    connect(&other, "pending.shop.test");
    let removed = connect(&other, "removed.shop.test");
    other.delete(&path_of(&removed)).expect_status(200);
    other.create_redirect(&redirect_body(json!({"domain": "active.shop.test", "slug": "x"})));
    other.create_redirect(&redirect_body(json!({"domain": "active.shop.test", "slug": null})));
    let mine = one.new_redirect();
    let page = one.post("/v1/landings", &json!({"title": "x"})).expect_status(201).body;
    let before = everything(&other);
    let probe = |hostname: &str| {
        let place = json!({"domain": hostname, "slug": "x"});
        let item = redirect_body(place.clone());
        let refused = [
            one.post("/v1/redirects", &item),
            one.post("/v1/landings", &json!({"title": "x", "domain": hostname})),
            one.patch(&path_of(&mine), &place),
            one.patch(&path_of(&page), &json!({"domain": hostname})),
        ];
        let mut told: Vec<String> = refused
            .into_iter()
            .map(|answer| {
                let answer = answer.expect_error(404, "domain_not_found");
                answer.without_request_id().to_string()
            })
            .collect();
        let bulk = one.post("/v1/redirects/bulk", &json!({"redirects": [item]})).expect_status(200).body;
        assert_eq!(bulk["failed"][0]["error"]["code"], "domain_not_found");
        told.push(bulk.to_string());
        for list in ["/v1/redirects", "/v1/landings"] {
            told.push(one.get(&format!("{list}?domain={hostname}")).expect_status(200).body.to_string());
        }
        // The only difference is the hostname itself, which may be sent back.
        told.into_iter().map(|told| told.replace(hostname, "<hostname>")).collect::<Vec<_>>()
    };
    let unknown = probe("nobodys.shop.test");
    for hostname in ["active.shop.test", "ACTIVE.shop.test", "pending.shop.test", "removed.shop.test"] {
        assert_eq!(probe(hostname), unknown, "{hostname}");
    }
    let page = other.get("/v1/domains?limit=1").body;
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    one.get(&format!("/v1/domains?cursor={cursor}")).expect_violations(&[("cursor", "invalid_format")]);
    assert_eq!(everything(&other), before);
    assert_eq!(one.walk("/v1/redirects", "").len(), 1);
    assert_eq!(shown(&other, &active), active);
}

fn everything(account: &Account) -> Vec<Vec<Value>> {
    let lists = DOCUMENT.lists().into_iter().map(|path| match path {
        // Without what the background changes meanwhile.
        "/v1/domains" => listed(account),
        _ => account.walk(path, ""),
    });
    lists.chain([vec![account.get("/v1/account").body]]).collect()
}

/// An answer without the parts that differ between any two requests: request id, date, remaining budget.
fn comparable(answer: &Answer) -> (Value, Vec<(String, String)>) {
    let varies = ["x-request-id", "date", "ratelimit-remaining-minute", "ratelimit-remaining-day"];
    let mut headers: Vec<_> = answer
        .headers
        .iter()
        .filter(|(name, _)| !varies.contains(&name.as_str()))
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    (answer.without_request_id(), headers)
}
