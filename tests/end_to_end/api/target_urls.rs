//! Targets, written and followed: D24, D53. R9, R10 at a size that fits.

use serde_json::json;

use crate::harness::Program;

#[test]
fn d24_targets_that_are_no_plain_web_addresses_are_refused() {
    let program = Program::start();
    let account = program.first_account();
    for bad in [
        "",
        "example.com",
        "//example.com",
        "/path",
        "http:",
        "http://",
        "http:/example.com",
        "http:example.com",
        "https:///example.com",
        "http://\\example.com",
        "http://example.com\\@evil.com",
        "http:\\\\example.com",
        "ftp://example.com",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "mailto:a@example.com",
        "http://user@example.com",
        "http://user:pass@example.com",
        "http://:@example.com",
        "http://exa mple.com",
        "http://example.com/a b",
        " http://example.com",
        "http://example.com ",
        "http://example.com/\t",
        "http://example.com/\n",
        "http://example.com/\r\nSet-Cookie: a=b",
        "http://example.com/\u{0}",
        "http://example.com/\u{a0}",
        "http://example.com/\u{2028}",
        "http://example.com:99999",
        "http://example.com:port",
        "http://[::1",
        "http://[fe80::1%25eth0]/",
        "http://0x7f.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://exa%6dple.com/",
        "http://exam\u{ff0e}ple.com\u{3002}/",
    ] {
        let answer =
            account.post("/v1/redirects", &json!({"name": "x", "target_url": bad})).expect_status(400);
        let found = answer.violations();
        assert_eq!(found.len(), 1, "{bad:?}: {found:?}");
        assert_eq!(found[0].0, "target_url");
    }
    let bounds = |length: usize| format!("https://example.com/{}", "x".repeat(length - 20));
    account.post("/v1/redirects", &json!({"name": "x", "target_url": bounds(2_048)})).expect_status(201);
    account
        .post("/v1/redirects", &json!({"name": "x", "target_url": bounds(2_049)}))
        .expect_violations(&[("target_url", "too_long")]);
}

#[test]
fn d53_an_ascii_target_is_sent_byte_for_byte_and_others_encoded() {
    let program = Program::start();
    let account = program.first_account();
    let visitor = program.visitor();
    for (target, location) in [
        ("https://example.com", "https://example.com"),
        ("HTTPS://Example.COM:443/%7e/../a?b=c&d=%zz#f", "HTTPS://Example.COM:443/%7e/../a?b=c&d=%zz#f"),
        ("http://example.com/{a}|b^c`<d>\"e\"", "http://example.com/{a}|b^c`<d>\"e\""),
        ("http://127.0.0.1:9/x", "http://127.0.0.1:9/x"),
        ("http://[2001:db8::1]/x", "http://[2001:db8::1]/x"),
        ("https://example.com/ä/ö?ü=ß#é", "https://example.com/%C3%A4/%C3%B6?%C3%BC=%C3%9F#%C3%A9"),
        ("https://bücher.example/a/%20é", "https://xn--bcher-kva.example/a/%20%C3%A9"),
        ("https://例え.jp/パス", "https://xn--r8jz45g.jp/%E3%83%91%E3%82%B9"),
        ("https://example.com/🎉", "https://example.com/%F0%9F%8E%89"),
    ] {
        let link = account.create_redirect(&json!({"name": "x", "target_url": target}));
        assert_eq!(link["target_url"], target, "kept exactly as given");
        let visit = visitor.open(&format!("/{}", link["slug"].as_str().unwrap()));
        assert_eq!((visit.status, visit.location()), (302, Some(location)));
        assert_eq!(visit.headers.get_all("location").iter().count(), 1);
    }
}
