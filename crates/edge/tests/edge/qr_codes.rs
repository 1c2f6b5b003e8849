//! QR codes of links (D59). The tests of `signpost-pages` decode them.

use signpost_domain::{HostBlocklist, Redirect};
use signpost_pages::{QrCode, QrQuery};
use signpost_port_contracts::samples;

use crate::harness::{Edge, HOST};

/// The code of a link with the options of a query.
fn code(link: &str, query: &str) -> QrCode {
    QrCode::new(&QrCode::marked(link), QrQuery::parse(query).unwrap().options).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn d59_code_of_a_link_contains_its_address() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    edge.add(&samples::landing("menu")).await;
    for slug in ["sale", "menu"] {
        let link = format!("https://go.example.com/{slug}");
        for query in ["", "size=1024&level=H&margin=2", "size=300&color=1a2b3c&background=fff8e0"] {
            let svg = edge.get(&format!("/{slug}/qr.svg?{query}"));
            assert_eq!((svg.status, svg.header("content-type")), (200, Some("image/svg+xml")), "{query}");
            assert_eq!(svg.body, code(&link, query).svg());
            let png = edge.get(&format!("/{slug}/qr.png?{query}"));
            assert_eq!((png.status, png.header("content-type")), (200, Some("image/png")), "{query}");
            assert_eq!(png.content, code(&link, query).png());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d59_code_is_cacheable_and_has_an_etag() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    for path in ["/sale/qr.svg", "/sale/qr.png"] {
        let answer = edge.get(path);
        assert_eq!(answer.header("cache-control"), Some("public, max-age=3600"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("content-security-policy"), Some("default-src 'none'"));
        let head = edge.request("HEAD", path);
        assert_eq!((head.status, &head.headers, head.content.len()), (200, &answer.headers, 0));
        let etag = answer.header("etag").unwrap();
        let if_changed = |path: &str| {
            edge.request_with("GET", path, &format!("Host: {HOST}\r\nIf-None-Match: {etag}\r\n"))
        };
        let known = if_changed(path);
        assert_eq!((known.status, known.content.len(), known.header("etag")), (304, 0, Some(etag)));
        assert_eq!(if_changed(&format!("{path}?size=100")).status, 200, "another image has another tag");
        assert_eq!(edge.request("POST", path).status, 405);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d59_parameter_out_of_bounds_is_a_400_naming_it() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    for (query, parameter) in [
        ("size=63", "size"),
        ("level=X", "level"),
        ("margin=17", "margin"),
        ("color=red", "color"),
        ("background=0000", "background"),
        ("color=eeeeee", "color"),
        ("download=yes", "download"),
    ] {
        let answer = edge.get(&format!("/sale/qr.png?{query}"));
        assert_eq!((answer.status, answer.header("content-type")), (400, Some("text/plain; charset=utf-8")));
        assert!(answer.body.starts_with(&format!("`{parameter}` must ")), "{}", answer.body);
        assert_eq!(edge.get(&format!("/none/qr.png?{query}")).status, 404, "a missing link takes precedence");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d59_unknown_parameter_is_a_400_naming_it() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    for (query, name) in
        [("colour=red", "colour"), ("src=qr", "src"), ("size=100&v=3", "v"), ("utm_source=x", "utm_source")]
    {
        let answer = edge.get(&format!("/sale/qr.svg?{query}"));
        assert_eq!((answer.status, answer.header("x-content-type-options")), (400, Some("nosniff")));
        assert!(answer.body.starts_with(&format!("`{name}` is not a parameter")), "{}", answer.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d59_download_has_a_file_name_and_the_same_image() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("Summer-Sale_1")).await;
    for ending in ["svg", "png"] {
        let path = format!("/Summer-Sale_1/qr.{ending}");
        let shown = edge.get(&path);
        assert_eq!(shown.header("content-disposition"), None);
        let saved = edge.get(&format!("{path}?download=1"));
        let expected = format!("attachment; filename=\"qr-Summer-Sale_1.{ending}\"");
        assert_eq!(saved.header("content-disposition"), Some(expected.as_str()));
        assert_eq!((saved.header("etag"), &saved.content), (shown.header("etag"), &shown.content));
        assert_eq!(saved.header("cache-control"), shown.header("cache-control"));
        assert_eq!(edge.request("HEAD", &format!("{path}?download=1")).headers, saved.headers);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d54_link_that_does_not_open_has_no_code() {
    let edge = Edge::start().await;
    edge.add(&Redirect { is_active: false, ..samples::redirect("inactive") }).await;
    edge.add(&samples::redirect("listed")).await;
    edge.memory.target_blocklist.replace(HostBlocklist::parse("example.com").unwrap());
    let missing = edge.get("/none");
    for path in ["/inactive/qr.svg", "/listed/qr.svg", "/none/qr.png", "/qr.svg", "/a/b/qr.svg"] {
        assert_eq!(edge.get(path), missing, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d48_request_for_a_code_is_not_a_click() {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    edge.get("/sale/qr.svg");
    assert_eq!(edge.clicks().await, []);
}
