//! The headers of every answer.

use crate::harness::{Answer, Dashboard};

/// Checks what every answer has. The harness calls it for each.
pub fn check(answer: &Answer) {
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
                  frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types signpost";
    let is_framed = answer.header("content-security-policy").starts_with("sandbox; default-src 'none'; ");
    let policy = if is_framed { answer.header("content-security-policy") } else { policy };
    for (name, value) in [
        ("content-security-policy", policy),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("referrer-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(answer.header(name), value, "{answer:?}");
    }
    assert!(answer.header("x-request-id").starts_with("req_"), "{answer:?}");
    let cached = answer.header("cache-control");
    assert!(cached == "no-store" || cached.ends_with("immutable"), "{answer:?}");
    assert!(is_framed || !answer.body.contains("style=\""), "{}", answer.body);
    assert!(!answer.body.contains("<script>"), "{}", answer.body);
}

#[actix_web::test]
async fn assets_are_immutable_under_names_that_change_with_them() {
    let dashboard = Dashboard::start().await;
    let browser = dashboard.browser();
    let page = browser.get("/sign-in").await;
    let assets: Vec<&str> = page
        .body
        .split('"')
        .filter(|text| text.starts_with("/assets/"))
        .map(|text| text.split('#').next().unwrap())
        .collect();
    assert!(assets.len() >= 3, "{assets:?}");
    for path in assets {
        let asset = browser.get(path).await;
        assert_eq!(
            (asset.status, asset.header("cache-control")),
            (200, "public, max-age=31536000, immutable"),
            "{path}"
        );
    }
    assert_eq!(browser.get("/assets/dashboard.000000000000.css").await.status, 404);
}

#[actix_web::test]
async fn unknown_paths_and_methods_are_pages_too() {
    let dashboard = Dashboard::start().await;
    let browser = dashboard.browser();
    for path in ["/nowhere", "/assets", "/v1/redirects"] {
        let answer = browser.get(path).await;
        assert!(matches!(answer.status, 303 | 404), "{path}: {}", answer.status);
    }
    let answer = browser.send(actix_web::test::TestRequest::delete().uri("/sign-in")).await;
    assert_eq!(answer.status, 405);
    assert!(answer.body.contains("<html"), "{}", answer.body);
}
