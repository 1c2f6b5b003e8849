//! Links on custom domains: contract "Redirect", "Landing", "PATCH /v1/redirects/{id}", D20 to D24, D29, D32, D43.

use std::time::Duration;

use serde_json::{Value, json};
use signpost_domain::CustomDomainScheme;

use crate::harness::{Answer, Api, is_id, request};

const HOST: &str = "links.shop.com";
const OTHER: &str = "go.other.org";

/// Where a link shows that it lives: its domain, its slug and its address.
fn place(link: &Value) -> [&Value; 3] {
    ["domain", "slug", "url"].map(|field| &link[field])
}

async fn create(api: &Api, domain: &Value, slug: &Value) -> Answer {
    let body = json!({"name": "a", "target_url": "https://example.com/", "domain": domain, "slug": slug});
    api.call_with("POST", "/v1/redirects", body).await
}

async fn patch(api: &Api, link: &str, body: Value) -> Answer {
    let resource = if link.starts_with("rdr_") { "redirects" } else { "landings" };
    api.call_with("PATCH", &format!("/v1/{resource}/{link}"), body).await
}

#[actix_web::test]
async fn d22_links_are_created_at_a_slug_and_at_the_root_of_a_domain() {
    let api = Api::start().await;
    api.active_domain(HOST).await;
    for (domain, slug, expected) in [
        (json!(HOST), json!("sale"), json!([HOST, "sale", "https://links.shop.com/sale"])),
        (json!(" Links.SHOP.com. "), json!(null), json!([HOST, null, "https://links.shop.com/"])),
        // Reserved on the system domain only (contract D21).
        (json!(HOST), json!("api"), json!([HOST, "api", "https://links.shop.com/api"])),
        (
            json!("GO.example.com"),
            json!("sale"),
            json!(["go.example.com", "sale", "https://go.example.com/sale"]),
        ),
        (json!(null), json!("other"), json!(["go.example.com", "other", "https://go.example.com/other"])),
    ] {
        let created = create(&api, &domain, &slug).await;
        let id = created.id(201);
        assert_eq!(json!(place(&created.body)), expected);
        let shown = api.call("GET", &format!("/v1/redirects/{id}")).await.body;
        assert_eq!(json!(place(&shown)), expected);
    }
    for slug in [json!("sale"), json!(null)] {
        assert_eq!(
            create(&api, &json!(HOST), &slug).await.error(),
            (409, "slug_already_taken"),
            "contract D20"
        );
        let landing = json!({"title": "a", "domain": HOST, "slug": slug});
        let answer = api.call_with("POST", "/v1/landings", landing).await;
        assert_eq!(answer.error(), (409, "slug_already_taken"), "contract D20");
    }
    let drawn = json!({"name": "a", "target_url": "https://example.com/", "domain": HOST});
    let drawn = api.call_with("POST", "/v1/redirects", drawn).await.body;
    assert_eq!(drawn["slug"].as_str().unwrap().len(), 7, "contract D21");
    for domain in [json!(null), json!("go.example.com")] {
        let refused = create(&api, &domain, &json!(null)).await;
        assert_eq!(refused.error(), (400, "slug_required_for_system_domain"));
    }
}

#[actix_web::test]
async fn d22_the_scheme_of_an_address_is_the_operators() {
    let api = Api::on(signpost_memory::InMemory::default(), |app| {
        app.custom_domain_scheme = CustomDomainScheme::Http;
    })
    .await;
    api.active_domain(HOST).await;
    let at = async |slug: Value| create(&api, &json!(HOST), &slug).await.body["url"].clone();
    assert_eq!(at(json!("sale")).await, json!("http://links.shop.com/sale"));
    assert_eq!(at(json!(null)).await, json!("http://links.shop.com/"));
}

/// The contract's table of PATCH, with D22: null moves a link to the root of its domain or back to the system domain, and a
/// PATCH is judged by where it ends.
#[actix_web::test]
async fn d22_null_moves_a_link_to_the_root_or_to_the_system_domain() {
    let api = Api::start().await;
    api.active_domain(HOST).await;
    api.active_domain(OTHER).await;
    let landing = json!({"title": "a", "slug": "sale"});
    let landing = api.call_with("POST", "/v1/landings", landing).await.id(201);
    let redirect = api.redirect("other").await;
    for (link, slug) in [(redirect, "other"), (landing, "sale")] {
        patch(&api, &link, json!({ "slug": slug })).await.id(200);
        let on_system = json!(["go.example.com", slug, format!("https://go.example.com/{slug}")]);
        for (body, expected) in [
            (json!({"domain": HOST}), json!([HOST, slug, format!("https://{HOST}/{slug}")])),
            (json!({"slug": null}), json!([HOST, null, format!("https://{HOST}/")])),
            (json!({"domain": OTHER}), json!([OTHER, null, format!("https://{OTHER}/")])),
            (json!({"slug": "x"}), json!([OTHER, "x", format!("https://{OTHER}/x")])),
            (json!({"slug": slug, "domain": null}), on_system.clone()),
            (json!({"slug": null, "domain": HOST}), json!([HOST, null, format!("https://{HOST}/")])),
            (json!({"slug": slug, "domain": "go.example.com"}), on_system.clone()),
        ] {
            let moved = patch(&api, &link, body.clone()).await;
            assert_eq!((moved.status, json!(place(&moved.body))), (200, expected), "{link} {body}");
        }
        for body in [json!({"slug": null}), json!({"slug": null, "domain": null})] {
            let refused = patch(&api, &link, body.clone()).await;
            assert_eq!(refused.error(), (400, "slug_required_for_system_domain"), "{link} {body}");
        }
        patch(&api, &link, json!({"slug": null, "domain": HOST})).await.id(200);
        for body in [json!({"domain": null}), json!({"domain": "go.example.com"})] {
            let refused = patch(&api, &link, body.clone()).await;
            assert_eq!(refused.error(), (400, "slug_required_for_system_domain"), "{link} {body}");
        }
        // The other link may have the root now.
        patch(&api, &link, json!({"slug": format!("away-from-{slug}")})).await.id(200);
    }
}

#[actix_web::test]
async fn d23_a_link_is_placed_only_on_an_active_domain_of_the_callers() {
    let api = Api::start().await;
    api.domain("pending.shop.com").await;
    api.domain("failed.shop.com").await;
    api.memory.clock.advance(Duration::from_hours(72));
    api.call_with("POST", "/v1/domains", json!({"hostname": "pending.shop.com"})).await.id(200);
    let (_, stranger) = api.account("eve@example.com", "agency").await;
    let theirs = request("POST", "/v1/domains", &stranger).set_json(json!({"hostname": "theirs.shop.com"}));
    let theirs = api.send(theirs).await;
    api.follow_instructions(&theirs.body);
    let path = format!("/v1/domains/{}/verify", theirs.id(201));
    assert_eq!(api.send(request("POST", &path, &stranger)).await.body["status"], json!("active"));
    let redirect = api.redirect("a").await;
    let landing = api.landing("b").await;
    for (domain, status, code) in [
        ("pending.shop.com", 409, "domain_not_active"),
        ("failed.shop.com", 409, "domain_not_active"),
        ("theirs.shop.com", 404, "domain_not_found"),
        ("nobodys.shop.com", 404, "domain_not_found"),
        ("not a hostname", 404, "domain_not_found"),
        ("", 404, "domain_not_found"),
    ] {
        for slug in [json!("x"), json!(null)] {
            assert_eq!(create(&api, &json!(domain), &slug).await.error(), (status, code), "{domain}");
            let body = json!({"title": "a", "domain": domain, "slug": slug});
            assert_eq!(api.call_with("POST", "/v1/landings", body).await.error(), (status, code), "{domain}");
            for link in [&redirect, &landing] {
                let answer = patch(&api, link, json!({"domain": domain, "slug": slug})).await;
                assert_eq!(answer.error(), (status, code), "{domain}");
            }
        }
        api.memory.clock.advance(Duration::from_mins(1));
    }
    for (resource, id) in [("redirects", redirect), ("landings", landing)] {
        let shown = api.call("GET", &format!("/v1/{resource}/{id}")).await.body;
        assert_eq!(shown["domain"], json!("go.example.com"));
    }
}

/// Contract D23: whether a domain is active matters only to a request that changes the placement.
#[actix_web::test]
async fn d23_a_link_on_a_domain_that_has_failed_can_be_changed_and_moved_away() {
    let api = Api::start().await;
    let id = api.active_domain(HOST).await;
    let link = create(&api, &json!(HOST), &json!("sale")).await.id(201);
    // It points elsewhere, and has done so for 72 hours (contract D39).
    api.memory.dns.set_alias(HOST, "elsewhere.example.net");
    let verify = async || api.call("POST", &format!("/v1/domains/{id}/verify")).await.body["status"].clone();
    assert_eq!(verify().await, json!("active"));
    api.memory.clock.advance(Duration::from_hours(72));
    assert_eq!(verify().await, json!("failed"));
    let renamed = patch(&api, &link, json!({"name": "b", "domain": HOST, "slug": "sale"})).await;
    assert_eq!((renamed.status, &renamed.body["name"]), (200, &json!("b")));
    assert_eq!(json!(place(&renamed.body)), json!([HOST, "sale", "https://links.shop.com/sale"]));
    for body in [json!({"slug": "new"}), json!({"slug": null})] {
        assert_eq!(patch(&api, &link, body).await.error(), (409, "domain_not_active"));
    }
    let away = patch(&api, &link, json!({"domain": null})).await;
    assert_eq!((away.status, &away.body["domain"]), (200, &json!("go.example.com")));
}

/// Contract D22, D43: removal takes the links' addresses and nothing else; a domain brings them back.
#[actix_web::test]
async fn d22_d43_a_link_that_lost_its_domain_keeps_its_slug_and_comes_back_when_a_domain_is_set() {
    let api = Api::start().await;
    let domain = api.active_domain(HOST).await;
    let at_slug = create(&api, &json!(HOST), &json!("sale")).await;
    let landing = json!({"title": "a", "domain": HOST, "slug": null});
    let at_root = api.call_with("POST", "/v1/landings", landing).await.id(201);
    api.memory.clock.advance(Duration::from_secs(1));
    api.call("DELETE", &format!("/v1/domains/{domain}")).await.id(200);

    let redirect = at_slug.id(201);
    let lost = api.call("GET", &format!("/v1/redirects/{redirect}")).await.body;
    let mut expected = at_slug.body.clone();
    for field in ["domain", "url"] {
        expected[field] = json!(null);
    }
    expected["updated_at"] = json!("2026-01-31T09:05:08.042Z");
    assert_eq!(lost, expected);
    let root = api.call("GET", &format!("/v1/landings/{at_root}")).await.body;
    assert_eq!(json!(place(&root)), json!([null, null, null]));
    assert_eq!(api.call("GET", "/v1/account").await.body["usage"]["links"], json!(2), "they stay");

    // Without a domain, a link has a slug or none and is lost all the same.
    for slug in [json!(null), json!("new"), json!("sale")] {
        let still = patch(&api, &redirect, json!({ "slug": slug })).await;
        assert_eq!((still.status, json!(place(&still.body))), (200, json!([null, slug, null])));
    }
    assert_eq!(patch(&api, &redirect, json!({"domain": HOST})).await.error(), (404, "domain_not_found"));
    let refused = patch(&api, &at_root, json!({"domain": null})).await;
    assert_eq!(refused.error(), (400, "slug_required_for_system_domain"));

    // The same account connects the hostname again: nothing comes back by itself.
    api.active_domain(HOST).await;
    for path in [format!("/v1/redirects/{redirect}"), format!("/v1/landings/{at_root}")] {
        assert_eq!(api.call("GET", &path).await.body["url"], json!(null));
    }
    let back = patch(&api, &redirect, json!({"domain": HOST})).await;
    assert_eq!(json!(place(&back.body)), json!([HOST, "sale", "https://links.shop.com/sale"]));
    let back = patch(&api, &at_root, json!({"domain": null, "slug": "menu"})).await;
    assert_eq!(json!(place(&back.body)), json!(["go.example.com", "menu", "https://go.example.com/menu"]));
}

#[actix_web::test]
async fn d24_a_link_on_a_domain_does_not_point_at_itself() {
    let api = Api::start().await;
    api.active_domain(HOST).await;
    let body =
        |target: &str, slug: Value| json!({"name": "a", "target_url": target, "domain": HOST, "slug": slug});
    for (target, slug) in [
        ("https://links.shop.com/sale", json!("sale")),
        ("HTTP://LINKS.shop.com./sale/?x#y", json!("sale")),
        ("https://links.shop.com", json!(null)),
    ] {
        let answer = api.call_with("POST", "/v1/redirects", body(target, slug)).await;
        assert_eq!(answer.violations(), [("target_url", "invalid_value")], "{target}");
    }
    let elsewhere = body("https://links.shop.com/sale", json!("elsewhere"));
    let link = api.call_with("POST", "/v1/redirects", elsewhere).await.id(201);
    let moved = patch(&api, &link, json!({"slug": "sale"})).await;
    assert_eq!(moved.violations(), [("slug", "invalid_value")]);
    let away = patch(&api, &link, json!({"domain": null, "slug": "sale"})).await;
    assert_eq!(away.status, 200);
    assert_eq!(patch(&api, &link, json!({"domain": HOST})).await.violations(), [("domain", "invalid_value")]);
}

#[actix_web::test]
async fn d29_a_bulk_creation_goes_over_several_domains() {
    let api = Api::start().await;
    api.active_domain(HOST).await;
    api.active_domain(OTHER).await;
    api.domain("pending.shop.com").await;
    create(&api, &json!(OTHER), &json!("held")).await.id(201);
    let item = |domain: Value, slug: Value| json!({"name": "a", "target_url": "https://example.com/", "domain": domain, "slug": slug});
    let items = [
        item(json!(HOST), json!("a")),
        item(json!(OTHER), json!("a")),
        item(json!(null), json!("a")),
        item(json!("LINKS.shop.com."), json!("a")),
        item(json!(HOST), json!(null)),
        item(json!(HOST), json!(null)),
        item(json!("pending.shop.com"), json!("a")),
        item(json!("nobodys.shop.com"), json!("a")),
        item(json!(null), json!(null)),
        item(json!(OTHER), json!("held")),
        item(json!(7), json!("a")),
    ];
    let answer = api.call_with("POST", "/v1/redirects/bulk", json!({"redirects": items})).await;
    assert_eq!(answer.status, 200);
    let urls: Vec<_> = answer.body["created"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["index"].as_u64().unwrap(), item["data"]["url"].as_str().unwrap()))
        .collect();
    let expected = [
        (0, "https://links.shop.com/a"),
        (1, "https://go.other.org/a"),
        (2, "https://go.example.com/a"),
        (4, "https://links.shop.com/"),
    ];
    assert_eq!(urls, expected);
    let told: Vec<_> = answer.body["failed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            let error = &item["error"];
            (item["index"].as_u64().unwrap(), error["code"].as_str().unwrap(), error["value"].as_str())
        })
        .collect();
    let expected = [
        (3, "duplicate_slug_in_batch", Some("a")),
        // It has no slug to show (ADR 13).
        (5, "duplicate_slug_in_batch", None),
        (6, "domain_not_active", Some("pending.shop.com")),
        (7, "domain_not_found", Some("nobodys.shop.com")),
        (8, "slug_required_for_system_domain", None),
        (9, "slug_already_taken", Some("held")),
        (10, "invalid_request", None),
    ];
    assert_eq!(told, expected);
}

#[actix_web::test]
async fn d32_links_are_listed_by_their_domain() {
    let api = Api::start().await;
    let domain = api.active_domain(HOST).await;
    api.active_domain(OTHER).await;
    let first = create(&api, &json!(HOST), &json!("a")).await.id(201);
    let second = create(&api, &json!(HOST), &json!(null)).await.id(201);
    create(&api, &json!(OTHER), &json!("a")).await.id(201);
    let on_system = api.redirect("a").await;
    assert!(is_id(&first, "rdr_"));
    let listed = async |query: &str| -> Vec<String> {
        let list = api.call("GET", &format!("/v1/redirects?{query}")).await.body;
        let items = list["data"].as_array().unwrap();
        items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed("domain=links.shop.com").await, [second.clone(), first.clone()]);
    assert_eq!(listed("domain=LINKS.shop.com.&limit=1").await, std::slice::from_ref(&second));
    assert_eq!(listed("domain=go.example.com").await, [on_system]);
    assert_eq!(listed("domain=shop.com").await, [""; 0]);
    api.call("DELETE", &format!("/v1/domains/{domain}")).await.id(200);
    assert_eq!(listed("domain=links.shop.com").await, [""; 0], "a lost link is on no domain");
    assert_eq!(listed("").await.len(), 4);
}
