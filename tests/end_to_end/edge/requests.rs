//! Requests as browsers, programs and proxies really send them: raw bytes, and hosts that the settings do not name (D53, D54).

use serde_json::json;

use crate::harness::{BROWSER, Program, exchange, parse_response, redirect_body};

/// Sends a request with this target and these header lines, and returns status and head of the answer.
fn request(program: &Program, target: &str, lines: &str) -> (u16, String) {
    let request =
        format!("GET {target} HTTP/1.1\r\n{lines}User-Agent: {BROWSER}\r\nConnection: close\r\n\r\n");
    let (status, head, _) = parse_response(&exchange(&program.links, request.as_bytes()));
    (status, head)
}

#[test]
fn d53_no_byte_in_a_query_makes_a_visit_fail() {
    let program = Program::start();
    let link = json!({"slug": "menu", "target_url": "https://example.com/menu"});
    program.first_account().create_redirect(&redirect_body(link));
    let host = "Host: localhost:8081\r\n";
    for query in
        ["utm_campaign=größe", "q=日本", "q=\"a\"", "q=<b>", "q=%", "q=%zz", "q=%00", "q=\\^`{|}", "?&&=#ü"]
    {
        let (status, head) = request(&program, &format!("/menu?{query}"), host);
        assert_eq!(status, 302, "{query}: {head}");
        assert!(head.contains("\r\nlocation: https://example.com/menu\r\n"), "{query}: {head}");
    }
    for path in ["/größe", "/a\"b", "/<b>", "/menu/<b>"] {
        let (status, head) = request(&program, path, host);
        assert!(status == 404 && head.contains("text/html"), "{path}: {head}");
    }
    // HTTP has no place for these in a request line.
    for target in ["/menu?q=a b", "/menu?q=\t", "/menu?q=\u{7f}", "/menu?q=\0"] {
        assert_eq!(request(&program, target, host).0, 400, "{target:?}");
    }
}

#[test]
fn d54_loopback_names_are_the_system_domain_while_system_url_is_the_default() {
    let program = Program::start();
    program.first_account().create_redirect(&redirect_body(json!({"slug": "hello"})));
    let named = program.beside(&["--system-url", "http://go.example.com"]);
    for host in [
        "127.0.0.1:8081",
        "127.0.0.1",
        "[::1]:8081",
        "localhost",
        "LOCALHOST.:9",
        "go.localhost:8081",
        "a.b.localhost",
    ] {
        let lines = format!("Host: {host}\r\n");
        assert_eq!(request(&program, "/hello", &lines).0, 302, "{host}");
        assert_eq!(request(&named, "/hello", &lines).0, 404, "{host} of a named installation");
    }
    assert_eq!(request(&program, "/hello", "Host: localhost.example.com\r\n").0, 404);
}

#[test]
fn d54_hosts_at_which_no_link_can_open_are_logged() {
    let mut program = Program::builder().setting("system-url", "http://go.example.com").start();
    program.first_account().create_redirect(&redirect_body(json!({"slug": "hello"})));
    // The harness is a proxy on the loopback interface, which is trusted by default.
    for number in 0..50 {
        let replaced =
            format!("Host: signpost_links\r\nX-Forwarded-Host: shop{number}.example.com, proxy\r\n");
        assert_eq!(request(&program, "/hello", &replaced).0, 404);
    }
    program.await_log("X-Forwarded-Host names \"shop0.example.com\"");
    let right = "Host: go.example.com\r\nX-Forwarded-Host: go.example.com:80\r\n";
    assert_eq!(request(&program, "/hello", right).0, 302);
    assert!(!program.log().contains("neither the system domain"), "one warning is enough: {}", program.log());
    // Requests that name two hosts say nothing about the settings, and leave the warning of this hour to others.
    assert_eq!(request(&program, "http://evil.example/hello", "Host: go.example.com\r\n").0, 404);
    assert_eq!(request(&program, "/hello", "Host: go.example.com\r\nHost: evil.example\r\n").0, 400);
    let open_at_unknown = |number| {
        assert_eq!(request(&program, "/hello", &format!("Host: unknown{number}.example\r\n")).0, 404);
    };
    // A visit does not wait for the look-up of its host, so a later one could overtake it.
    open_at_unknown(0);
    program.await_log(
        "the host \"unknown0.example\", which is neither the system domain nor a connected domain",
    );
    (1..50).for_each(open_at_unknown);
    let log = program.stop_and_read_log();
    for warning in ["neither the system domain", "X-Forwarded-Host names"] {
        assert_eq!(log.matches(warning).count(), 1, "{warning}: {log}");
    }
    assert!(log.contains("the host \"signpost_links\"") && log.contains("`system-url`"), "{log}");
}
