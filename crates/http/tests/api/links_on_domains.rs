//! Links on custom domains: contract "Redirect", "Landing", "PATCH /v1/redirects/{id}", D20 to D24, D29, D32, D43.

use serde_json::{Value, json};
use signpost_domain::CustomDomainScheme;

use crate::harness::{Answer, Api};

const HOST: &str = "links.shop.com";
const OTHER: &str = "go.other.org";

/// The placement that a link shows: its domain, its slug and its address.
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
async fn d22_the_operator_sets_the_scheme_of_addresses() {
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
/// PATCH is checked by its result.
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
        // Now the root is free for the other link.
        patch(&api, &link, json!({"slug": format!("away-from-{slug}")})).await.id(200);
    }
}

#[actix_web::test]
async fn d29_a_bulk_creation_covers_several_domains() {
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
