//! Files that browsers, crawlers and researchers request from every site.

use signpost_edge::EdgeOptions;
use signpost_memory::InMemory;

use crate::harness::{Edge, HOST, SECURITY_CONTACT, options};

#[tokio::test(flavor = "multi_thread")]
async fn d54_site_files_exist_on_every_hostname() {
    let edge = Edge::start().await;
    for (path, content_type) in [
        ("/robots.txt", "text/plain; charset=utf-8"),
        ("/favicon.ico", "image/vnd.microsoft.icon"),
        ("/apple-touch-icon.png", "image/png"),
        ("/apple-touch-icon-120x120-precomposed.png", "image/png"),
        ("/.well-known/security.txt", "text/plain; charset=utf-8"),
    ] {
        let answer = edge.get(path);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(content_type)), "{path}");
        assert_eq!(answer.header("cache-control"), Some("public, max-age=3600"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert!(!answer.content.is_empty());
        assert_eq!(edge.request_with("GET", path, "Host: unknown.example\r\n"), answer, "{path}");
        let head = edge.request("HEAD", path);
        assert_eq!((head.status, &head.headers, head.content.len()), (200, &answer.headers, 0), "{path}");
        assert_eq!(edge.request("POST", path).status, 405, "{path}");
        let etag = answer.header("etag").unwrap();
        let again = edge.request_with("GET", path, &format!("Host: {HOST}\r\nIf-None-Match: {etag}\r\n"));
        assert_eq!((again.status, again.header("etag"), again.content.len()), (304, Some(etag), 0), "{path}");
    }
    assert!(edge.get("/robots.txt").body.starts_with("User-agent: *\n"));
    assert_eq!(&edge.get("/favicon.ico").content[..4], [0, 0, 1, 0]);
    assert_eq!(&edge.get("/apple-touch-icon.png").content[..4], b"\x89PNG");
}

#[tokio::test(flavor = "multi_thread")]
async fn security_txt_exists_when_a_contact_is_set() {
    let edge = Edge::start().await;
    let text = edge.get("/.well-known/security.txt").body;
    assert!(text.starts_with(&format!("Contact: mailto:{SECURITY_CONTACT}\nExpires: ")), "{text}");
    let without = EdgeOptions { security_contact: None, ..options(0) };
    let edge = Edge::start_with(InMemory::default(), without, |_| {}).await;
    assert_eq!(edge.get("/.well-known/security.txt"), edge.get("/none"));
}
