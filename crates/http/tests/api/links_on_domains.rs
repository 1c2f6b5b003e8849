//! Links on custom domains: contract "Redirect", "Landing", "PATCH /v1/redirects/{id}", D20 to D24, D29, D32, D43.

use serde_json::{Value, json};
use signpost_domain::{CustomDomainScheme, SystemDomain};
use signpost_memory::InMemory;

use crate::harness::{Answer, Api};

const HOST: &str = "links.shop.com";

/// The placement that a link shows: its domain, its slug and its address.
fn place(link: &Value) -> [&Value; 3] {
    ["domain", "slug", "url"].map(|field| &link[field])
}

async fn create(api: &Api, domain: &Value, slug: &Value) -> Answer {
    let body = json!({"name": "a", "target_url": "https://example.com/", "domain": domain, "slug": slug});
    api.call_with("POST", "/v1/redirects", body).await
}

fn path_of(link: &str) -> String {
    let resource = if link.starts_with("rdr_") { "redirects" } else { "landings" };
    format!("/v1/{resource}/{link}")
}

async fn patch(api: &Api, link: &str, body: Value) -> Answer {
    api.call_with("PATCH", &path_of(link), body).await
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
    for link in [api.redirect("redirect").await, api.landing("landing").await] {
        for (body, expected) in [
            (json!({"slug": "x", "domain": HOST}), json!([HOST, "x", "https://links.shop.com/x"])),
            (json!({"slug": null}), json!([HOST, null, "https://links.shop.com/"])),
            (
                json!({"slug": "y", "domain": null}),
                json!(["go.example.com", "y", "https://go.example.com/y"]),
            ),
        ] {
            let moved = patch(&api, &link, body.clone()).await;
            assert_eq!((moved.status, json!(place(&moved.body))), (200, expected), "{link} {body}");
        }
        let refused = patch(&api, &link, json!({"slug": null})).await;
        assert_eq!(refused.error(), (400, "slug_required_for_system_domain"), "{link}");
        api.call("DELETE", &path_of(&link)).await.id(200);
    }
}

#[actix_web::test]
async fn d29_a_failed_item_names_its_inactive_domain() {
    let api = Api::start().await;
    api.domain(HOST).await;
    let item = json!({"name": "a", "target_url": "https://example.com/", "domain": HOST, "slug": "a"});
    let answer = api.call_with("POST", "/v1/redirects/bulk", json!({"redirects": [item]})).await;
    let error = &answer.body["failed"][0]["error"];
    assert_eq!((&error["code"], &error["value"]), (&json!("domain_not_active"), &json!(HOST)));
}

/// In bodies and in queries, as people write the name.
#[actix_web::test]
async fn d22_an_internationalised_system_host_is_named_in_unicode() {
    let system = SystemDomain::new("https://пример.рф", vec![]).unwrap();
    let api = Api::on(InMemory::new(system), |_| {}).await;
    let body = json!({"name": "a", "target_url": "https://example.com/", "slug": "a", "domain": "Пример.рф"});
    let created = api.call_with("POST", "/v1/redirects", body).await;
    let id = created.id(201);
    assert_eq!(created.body["domain"], "xn--e1afmkfd.xn--p1ai");
    let moved = api.call_with("PATCH", &format!("/v1/redirects/{id}"), json!({"domain": "пример.рф"})).await;
    assert_eq!(moved.status, 200, "{moved:?}");
    let encoded = "%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80.%D1%80%D1%84";
    for (domain, links) in [(encoded, 1), ("xn--e1afmkfd.xn--p1ai", 1), ("%D0%B0.%D1%80%D1%84", 0)] {
        let list = api.call("GET", &format!("/v1/redirects?domain={domain}")).await;
        assert_eq!(list.body["data"].as_array().unwrap().len(), links, "{domain}");
        let report = format!("/v1/analytics?start_date=0&end_date=3600000&domain={domain}");
        assert_eq!(api.call("GET", &report).await.status, 200, "{domain}");
    }
    let connected = api.call_with("POST", "/v1/domains", json!({"hostname": "go.пример.рф"})).await;
    assert_eq!(connected.error().1, "hostname_is_system_domain");
}
