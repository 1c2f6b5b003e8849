//! Redirects by host and slug (D52, D53).

use serde_json::json;

use crate::harness::{Program, exchange, parse_response};

fn create(program: &Program, slug: &str) {
    program
        .first_account()
        .create_redirect(&json!({"name": "x", "target_url": "https://example.com/t?a=b", "slug": slug}));
}

#[test]
fn d53_a_redirect_answers_302_with_location_and_no_body() {
    let program = Program::start();
    create(&program, "sale");
    let visit = program.visitor().open("/sale");
    assert_eq!((visit.status, visit.location()), (302, Some("https://example.com/t?a=b")));
    assert_eq!(visit.header("cache-control"), Some("private, no-store"));
    assert_eq!(visit.body, "");
    assert_eq!(visit.header("set-cookie"), None);
}

#[test]
fn d53_head_is_answered_like_get_and_other_methods_with_405() {
    let program = Program::start();
    create(&program, "sale");
    let visitor = program.visitor();
    let host = [("Host", "localhost")];
    let head = visitor.request("HEAD", "/sale", &host);
    assert_eq!((head.status, head.location()), (302, Some("https://example.com/t?a=b")));
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"] {
        for path in ["/sale", "/nothing", "/"] {
            let visit = visitor.request(method, path, &host);
            assert_eq!((visit.status, visit.header("allow")), (405, Some("GET, HEAD")), "{method} {path}");
        }
    }
}

#[test]
fn d53_a_trailing_slash_is_ignored_and_the_query_not_passed_on() {
    let program = Program::start();
    create(&program, "sale");
    let visitor = program.visitor();
    for path in ["/sale", "/sale/", "/sale?x=y", "/sale/?utm_source=mail&a=b", "/%73ale", "/sale?"] {
        assert_eq!(visitor.open(path).location(), Some("https://example.com/t?a=b"), "{path}");
    }
    for path in ["/sale//", "//sale", "/sale/x", "/Sale", "/sale%2f", "/sale%00", "/sal", "/salee"] {
        assert_eq!(visitor.open(path).status, 404, "{path}");
    }
}

#[test]
fn d54_links_open_under_every_name_of_the_system_domain() {
    let program = Program::builder()
        .setting("system-url", "https://go.example.com")
        .setting("system-aliases", "old.example.com,older.example.com")
        .start();
    create(&program, "sale");
    let visitor = program.visitor();
    for host in [
        "go.example.com",
        "GO.Example.Com",
        "go.example.com.",
        "go.example.com:8081",
        "go.example.com:443",
        "old.example.com",
        "older.example.com:80",
    ] {
        assert_eq!(visitor.request("GET", "/sale", &[("Host", host)]).status, 302, "{host}");
    }
    for host in
        ["localhost", "example.com", "x.go.example.com", "go.example.com.evil.com", "127.0.0.1", "[::1]"]
    {
        assert_eq!(visitor.request("GET", "/sale", &[("Host", host)]).status, 404, "{host}");
    }
}

/// R47: the system domain moves by configuration alone.
#[test]
fn d61_a_moved_system_domain_shows_new_addresses_and_resolves_the_old_ones() {
    let program = Program::start();
    let account = program.first_account();
    create(&program, "sale");
    let link = account.walk("/v1/redirects", "")[0].clone();
    assert_eq!(link["url"], "http://localhost:8081/sale");
    let moved = program.beside(&["--system-url", "https://new.example.com", "--system-aliases", "localhost"]);
    let visitor = moved.visitor();
    for host in ["new.example.com", "localhost"] {
        assert_eq!(visitor.request("GET", "/sale", &[("Host", host)]).status, 302);
    }
    let again = moved.with_key(&account.key);
    let link = again.walk("/v1/redirects", "")[0].clone();
    assert_eq!(
        (&link["url"], &link["domain"]),
        (&json!("https://new.example.com/sale"), &json!("new.example.com"))
    );
}

#[test]
fn d54_malformed_requests_get_an_answer() {
    let program = Program::start();
    create(&program, "sale");
    for (request, expected) in [
        // RFC 9112 requires a 400 if there is no `Host` header.
        (b"GET /sale HTTP/1.1\r\nConnection: close\r\n\r\n".as_slice(), 400),
        (b"GET /sale HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", 404),
        (b"GET /sale HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n", 404),
        (b"GET /sale HTTP/1.1\r\nHost: \xff\r\nConnection: close\r\n\r\n", 404),
        (b"GET /%ff%fe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 404),
        (b"GET /%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 404),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 200),
        (b"GET http://localhost/sale HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 302),
    ] {
        let (status, head, _) = parse_response(&exchange(&program.links, request));
        assert_eq!(status, expected, "{}: {head}", String::from_utf8_lossy(request));
    }
}
