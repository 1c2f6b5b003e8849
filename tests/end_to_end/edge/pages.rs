//! Pages that visitors see, QR codes, and well-known files (D34, D57, D59).

use serde_json::json;

use crate::harness::Program;

/// From the API to the page, to a widget's target, and back to the API: a change shows to the next visitor.
#[test]
fn d34_d59_widgets_lead_through_the_address_of_their_page() {
    let program = Program::start();
    let account = program.first_account();
    let page = account.post(
        "/v1/landings",
        &json!({"title": "Morgenbrot <Bakery>", "slug": "bakery", "accent_color": "#c2410c", "search_engines": true,
            "widgets": [{"type": "heading", "text": "Today"},
                {"type": "link", "title": "Order", "url": "https://example.com/order?a=b"},
                {"type": "social", "network": "instagram", "url": "https://www.instagram.com/example"}]}),
    );
    assert_eq!(page.status, 201);
    let visitor = program.visitor();
    let shown = visitor.open("/bakery");
    assert_eq!(shown.status, 200);
    for part in ["Morgenbrot &#60;Bakery&#62;", "Today", "Order", "example.com", "Instagram", "#c2410c"] {
        assert!(shown.body.contains(part), "no {part} in {}", shown.body);
    }
    assert!(!shown.body.contains("noindex") && !shown.body.contains("/order?a=b"));
    let policy = shown.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");

    let link = page.body["widgets"][1]["id"].as_str().unwrap();
    let through = format!("/bakery/w/{link}");
    assert!(shown.body.contains(&format!("<a href=\"{through}\">")), "{}", shown.body);
    let sent = visitor.open(&through);
    assert_eq!((sent.status, sent.location()), (302, Some("https://example.com/order?a=b")));

    let id = page.body["id"].as_str().unwrap();
    let changed =
        json!({"widgets": [{"id": link, "type": "link", "title": "Order", "url": "https://example.org/"}]});
    assert_eq!(account.patch(&format!("/v1/landings/{id}"), &changed).status, 200);
    assert_eq!(visitor.open(&through).location(), Some("https://example.org/"));
    assert!(!visitor.open("/bakery").body.contains("Today"));
    assert_eq!(account.delete(&format!("/v1/landings/{id}")).status, 200);
    assert_eq!(visitor.open(&through).status, 404);
}

#[test]
fn d57_a_redirect_with_pixels_fires_them_unless_the_visitor_refuses() {
    let program = Program::start();
    let account = program.first_account();
    let pixel = account.post("/v1/pixels", &json!({"pixel_type": "meta", "pixel_id": "123456789012345"}));
    let id = pixel.body["id"].as_str().unwrap();
    account.create_redirect(
        &json!({"name": "x", "target_url": "https://example.com/t", "slug": "sale", "pixel_ids": [id]}),
    );
    let visitor = program.visitor();
    let page = visitor.open("/sale");
    assert_eq!((page.status, page.location()), (200, None));
    assert!(page.body.contains("fbq('init','123456789012345')"), "{}", page.body);
    assert!(page.body.contains("content=\"0; url=https://example.com/t\""), "{}", page.body);
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.contains("script-src 'nonce-") && policy.contains("https://connect.facebook.net"),
        "{policy}"
    );
    let refusing = visitor.request("GET", "/sale", &[("Host", "localhost"), ("Sec-GPC", "1")]);
    assert_eq!((refusing.status, refusing.location()), (302, Some("https://example.com/t")));
    assert_eq!(account.delete(&format!("/v1/pixels/{id}")).status, 200);
    assert_eq!(visitor.open("/sale").location(), Some("https://example.com/t"), "without its pixel");
}

#[test]
fn d59_a_link_has_a_qr_code() {
    let program = Program::builder().setting("system-url", "https://go.example.com").start();
    let body = json!({"name": "x", "target_url": "https://example.com", "slug": "sale"});
    program.first_account().create_redirect(&body);
    let get = |path: &str| program.visitor().request("GET", path, &[("Host", "go.example.com")]);
    let code = get("/sale/qr.svg?size=256&level=H");
    assert_eq!((code.status, code.header("content-type")), (200, Some("image/svg+xml")));
    assert!(code.body.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"256\" height=\"256\""));
    assert!(code.header("etag").is_some());
    assert_eq!(get("/sale/qr.svg?size=1").status, 400);
    assert_eq!(get("/none/qr.svg").status, 404);
}

#[test]
fn well_known_files_and_the_root_page_are_served() {
    let program = Program::builder().setting("security-contact", "security@example.com").start();
    let visitor = program.visitor();
    assert!(visitor.open("/robots.txt").body.starts_with("User-agent: *"));
    let text = visitor.open("/.well-known/security.txt").body;
    assert!(text.starts_with("Contact: mailto:security@example.com\nExpires: 2"), "{text}");
    let root = visitor.request("GET", "/", &[("Host", "localhost"), ("Accept-Language", "de")]);
    assert_eq!(root.status, 200);
    assert!(root.body.contains("Hier wohnen Kurzlinks"), "{}", root.body);
    assert_eq!(Program::start().visitor().open("/.well-known/security.txt").status, 404);
}
