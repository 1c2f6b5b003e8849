//! The served document and page.

use std::collections::BTreeSet;

use signpost_http::{OpenApiVersion, Operations, openapi_document};

use crate::harness::{Answer, Api, bare};

async fn get(api: &Api, path: &str) -> Answer {
    api.send(bare("GET", path)).await
}

#[actix_web::test]
async fn the_document_is_served_without_a_key() {
    let api = Api::start().await;
    let answer = get(&api, "/openapi.json").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.text, openapi_document(OpenApiVersion::V3_1, Operations::All).unwrap());
    assert_eq!(answer.body["openapi"], "3.1.0");
    assert_eq!(answer.body["info"]["version"], "1");
    assert_eq!(answer.rate_limits(), None);
}

#[actix_web::test]
async fn the_page_loads_its_own_files_and_nothing_else() {
    let api = Api::start().await;
    let page = get(&api, "/docs").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let loaded: BTreeSet<&str> = ["src=\"", "href=\""]
        .iter()
        .flat_map(|attribute| page.text.split(attribute).skip(1))
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    let expected = [
        ("docs/favicon-32x32.png", "image/png"),
        ("docs/start.js", "text/javascript; charset=utf-8"),
        ("docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
        ("docs/swagger-ui.css", "text/css; charset=utf-8"),
        ("openapi.json", "application/json"),
    ];
    assert_eq!(loaded, expected.iter().map(|(path, _)| *path).collect());
    for (path, content_type) in expected {
        let file = get(&api, &format!("/{path}")).await;
        assert_eq!((file.status, file.header("content-type")), (200, Some(content_type)), "{path}");
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert!(file.bytes.len() > 300, "{path}");
        // Unchanged and uncompressed.
        assert_eq!(content_type == "image/png", std::str::from_utf8(&file.bytes).is_err(), "{path}");
    }
    // A style sheet can load other style sheets and images.
    let style = get(&api, "/docs/swagger-ui.css").await.text;
    assert!(!style.contains("@import"));
    assert!(
        style
            .split("url(")
            .skip(1)
            .all(|address| address.trim_start_matches(['"', '\'']).starts_with("data:"))
    );
}

#[actix_web::test]
async fn the_page_runs_its_own_scripts_and_calls_its_own_origin_only() {
    let api = Api::start().await;
    for path in ["/docs", "/docs/start.js", "/openapi.json"] {
        let answer = get(&api, path).await;
        let policy = answer.header("content-security-policy").unwrap();
        let directives: Vec<_> = policy.split("; ").collect();
        for directive in [
            "default-src 'none'",
            "script-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(directives.contains(&directive), "{path}: {policy}");
        }
        assert!(!policy.contains("http") && !policy.contains('*'), "{policy}");
    }
    let page = get(&api, "/docs").await.text;
    assert!(
        page.split("<script").skip(1).all(|script| script.contains("src=") && script.contains("></script>"))
    );
    assert!(!page.contains("style="));
}

#[actix_web::test]
async fn unknown_files_of_the_page_get_the_same_404_as_other_paths() {
    let api = Api::start().await;
    for path in ["/docs/index.html", "/docs/..%2Fopenapi.json", "/docs/swagger-ui.css/x", "/docs/%FF"] {
        assert_eq!(get(&api, path).await.error(), (404, "invalid_request"), "{path}");
    }
}

#[actix_web::test]
async fn documentation_is_read_with_get_and_head_only() {
    let api = Api::start().await;
    for path in ["/openapi.json", "/docs", "/docs/start.js"] {
        assert_eq!(api.send(bare("HEAD", path)).await.status, 200, "{path}");
        let post = api.send(bare("POST", path)).await;
        assert_eq!((post.status, post.header("allow")), (405, Some("GET, HEAD")), "{path}");
    }
}
