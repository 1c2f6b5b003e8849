//! Requests that other sites send (D74).

use actix_web::test::TestRequest;
use signpost_dashboard::{ROUTES, RouteMethod};
use signpost_domain::Role;

use crate::harness::{Dashboard, HOST, ORIGIN};

/// What a browser says about where a request comes from.
const FOREIGN: [(&str, &[(&str, &str)]); 6] = [
    ("cross-site", &[("sec-fetch-site", "cross-site")]),
    ("same-site", &[("sec-fetch-site", "same-site")]),
    ("cross-site with our origin", &[("sec-fetch-site", "cross-site"), ("origin", ORIGIN)]),
    ("a foreign origin", &[("origin", "https://evil.example")]),
    ("a null origin", &[("origin", "null")]),
    ("neither header", &[]),
];

#[actix_web::test]
async fn d74_no_unsafe_route_answers_other_sites() {
    let dashboard = Dashboard::start().await;
    let mut owner = dashboard.member("owner@example.com", Role::Owner).await;
    owner.site = None;
    let links = || async { dashboard.app.store.usage(dashboard.account).await.unwrap() };
    let before = links().await;
    for route in ROUTES.iter().filter(|route| route.method == RouteMethod::Post) {
        for (who, headers) in FOREIGN {
            let path = route
                .pattern
                .replace("{account}", &dashboard.account.to_string())
                .replace("{id}", "rdr_00000000000000000000000000000000")
                .replace("{token}", &"0".repeat(64));
            let mut request = TestRequest::post()
                .uri(&path)
                .insert_header(("host", HOST))
                .insert_header(("content-type", "application/x-www-form-urlencoded"))
                .set_payload(
                    "name=x&target_url=https%3A%2F%2Fexample.com&pixel_type=meta&pixel_id=123456789012345",
                );
            for header in headers {
                request = request.insert_header(*header);
            }
            let answer = owner.send_raw(request).await;
            assert_eq!(answer.status, 403, "{who} at {}: {}", route.pattern, answer.body);
            assert!(answer.body.contains("another site"), "{}", answer.body);
        }
    }
    assert_eq!(links().await, before);
    owner.site = Some("same-origin");
    assert!(owner.is_signed_in().await);
}

#[actix_web::test]
async fn d74_an_own_origin_is_enough_where_the_browser_says_no_site() {
    let dashboard = Dashboard::start().await;
    let mut owner = dashboard.member("owner@example.com", Role::Owner).await;
    owner.site = None;
    let request = TestRequest::post()
        .uri(&dashboard.path("groups"))
        .insert_header(("host", HOST))
        .insert_header(("origin", ORIGIN))
        .insert_header(("content-type", "application/x-www-form-urlencoded"))
        .set_payload("name=Autumn");
    assert_eq!(owner.send_raw(request).await.status, 303);
}

#[actix_web::test]
async fn d74_another_host_is_421_before_all_else_and_names_the_setting() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    for host in ["evil.example", "localhost:8082", "dash.example.com:8443"] {
        for path in ["/", "/sign-in", "/me", "/nowhere", "/assets/x"] {
            let request = TestRequest::get().uri(path).insert_header(("host", host));
            let answer = owner.send_raw(request).await;
            assert_eq!(answer.status, 421, "{host}{path}");
            assert!(answer.body.contains("dashboard-url"), "{}", answer.body);
        }
    }
}

#[actix_web::test]
async fn d74_a_loopback_dashboard_answers_to_loopback_names_only() {
    let dashboard = Dashboard::at("http://localhost:8082").await;
    let browser = dashboard.browser();
    for (host, status) in
        [("localhost:8082", 200), ("127.0.0.1:9999", 200), ("[::1]:8082", 200), ("192.168.0.7:8082", 421)]
    {
        let request = TestRequest::get().uri("/sign-in").insert_header(("host", host));
        assert_eq!(browser.send_raw(request).await.status, status, "{host}");
    }
}
