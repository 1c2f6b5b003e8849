//! Request bodies: contract "Endpoints"; D8, D10. R26.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Account, Answer, Program, exchange, parse_response};

fn send(account: &Account, body: &[u8]) -> Answer {
    account.send_bytes("POST", "/v1/groups", "application/json", body)
}

#[test]
fn d8_a_body_that_is_no_json_is_a_violation_of_body() {
    let program = Program::start();
    let account = program.first_account();
    for body in [
        b"".as_slice(),
        b" ",
        b"{",
        b"}",
        b"{\"name\": \"x\"",
        b"{\"name\": \"x\"} {}",
        b"{\"name\": \"x\"}x",
        b"{name: \"x\"}",
        b"{'name': 'x'}",
        b"{\"name\": \"x\",}",
        b"{\"name\": NaN}",
        b"{\"name\": Infinity}",
        b"{\"name\": 1e400}",
        b"{\"name\": 01}",
        b"{\"name\": \"\\ud800\"}",
        b"{\"name\": \"\\udc00\\ud800\"}",
        b"{\"name\": \"\\x\"}",
        b"{\"name\": \"\x01\"}",
        b"{\"name\": \"\xff\"}",
        b"{\"name\": \"\xc0\xaf\"}",
        b"\xef\xbb\xbf{\"name\": \"x\"}",
        b"\xff\xfe{\0}\0",
        b"\0",
        b"name=x",
        b"<name>x</name>",
    ] {
        let answer = send(&account, body).expect_violations(&[("body", "invalid_json")]);
        assert_eq!(answer.status, 400, "{}", String::from_utf8_lossy(body));
    }
    assert!(account.walk("/v1/groups", "").is_empty());
}

#[test]
fn d8_a_body_that_is_no_object_is_a_violation_of_body() {
    let program = Program::start();
    let account = program.first_account();
    for body in ["[]", "null", "true", "1", "\"name\"", "[{\"name\": \"x\"}]"] {
        send(&account, body.as_bytes()).expect_violations(&[("body", "invalid_type")]);
    }
}

#[test]
fn d10_a_key_that_stands_twice_is_invalid_json() {
    let program = Program::start();
    let account = program.first_account();
    for body in [
        r#"{"name": "a", "name": "b"}"#,
        r#"{"name": "a", "name": "a"}"#,
        r#"{"name": "a", "\u006eame": "b"}"#,
        r#"{"name": {"x": 1, "x": 2}}"#,
    ] {
        send(&account, body.as_bytes()).expect_violations(&[("body", "invalid_json")]);
    }
}

#[test]
fn d10_nesting_is_limited_to_32() {
    let program = Program::start();
    let account = program.first_account();
    let nested = |depth: usize| {
        // The object itself is the first level.
        let arrays = depth - 1;
        format!("{{\"name\": {}{}}}", "[".repeat(arrays), "]".repeat(arrays))
    };
    send(&account, nested(32).as_bytes()).expect_violations(&[("name", "invalid_type")]);
    send(&account, nested(33).as_bytes()).expect_violations(&[("body", "invalid_json")]);
    send(&account, nested(100_000).as_bytes()).expect_violations(&[("body", "invalid_json")]);
}

#[test]
fn d10_bodies_are_limited_to_one_mebibyte() {
    let program = Program::start();
    let account = program.first_account();
    let of_size = |size: usize| {
        let frame = "{\"name\": \"x\"}";
        format!("{frame}{}", " ".repeat(size - frame.len()))
    };
    send(&account, of_size(1_048_576).as_bytes()).expect_status(201);
    send(&account, of_size(1_048_577).as_bytes()).expect_error(413, "payload_too_large");
    send(&account, of_size(2 * 1_048_576).as_bytes()).expect_error(413, "payload_too_large");
    send(&account, &vec![0; 5 * 1_048_576]).expect_error(413, "payload_too_large");
}

#[test]
fn d10_a_chunked_body_is_limited_too() {
    let program = Program::start();
    let account = program.first_account();
    let mut request = format!(
        "POST /v1/groups HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        account.key
    )
    .into_bytes();
    for _ in 0..32 {
        request.extend_from_slice(b"10000\r\n");
        request.extend_from_slice(&vec![b' '; 0x10000]);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"0\r\n\r\n");
    let (status, _, body) = parse_response(&exchange(&program.api, &request));
    assert_eq!((status, body.contains("payload_too_large")), (413, true), "{body}");
}

/// R26: a million keys, and whatever else fits into the size limit, in bounded time.
#[test]
fn d10_hostile_bodies_are_refused_in_bounded_time() {
    let program = Program::start();
    let account = program.first_account();
    let many_keys =
        format!("{{{}}}", (0..100_000).map(|n| format!("\"{n}\":1")).collect::<Vec<_>>().join(","));
    let same_prefix = format!(
        "{{{}}}",
        (0..20_000).map(|n| format!("\"aaaaaaaaaaaaaaaa{n}\":[]")).collect::<Vec<_>>().join(",")
    );
    let long_number = format!("{{\"name\": {}}}", "9".repeat(1_000_000));
    let long_string = format!("{{\"name\": \"{}\"}}", "\\u0041".repeat(170_000));
    for body in [many_keys, same_prefix, long_number, long_string] {
        let begun = Instant::now();
        send(&account, body.as_bytes()).expect_status(400);
        assert!(begun.elapsed() < Duration::from_secs(10), "took {:?}", begun.elapsed());
    }
}

#[test]
fn endpoints_other_content_types_are_unsupported_media_type() {
    let program = Program::start();
    let account = program.first_account();
    let authorization = format!("Bearer {}", account.key);
    let body = br#"{"name": "x"}"#;
    let send = |headers: &[(&str, &str)]| {
        let mut all = vec![("Authorization", authorization.as_str())];
        all.extend_from_slice(headers);
        account.send_with("POST", "/v1/groups", &all, Some(body))
    };
    for good in [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        "application/json; charset=\"utf-8\"",
    ] {
        send(&[("Content-Type", good)]).expect_status(201);
    }
    for bad in [
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "application/json-patch+json",
        "application/vnd.api+json",
        "application/json; charset=latin1",
        "application/json; charset=utf-16",
        "application/json, text/plain",
        "application",
        "",
    ] {
        send(&[("Content-Type", bad)]).expect_error(415, "unsupported_media_type");
    }
    // D10: no content type at all, and any encoding.
    let raw = format!(
        "POST /v1/groups HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{}",
        body.len(),
        String::from_utf8_lossy(body)
    );
    let (status, _, answer) = parse_response(&exchange(&program.api, raw.as_bytes()));
    assert_eq!((status, answer.contains("unsupported_media_type")), (415, true), "{answer}");
    for encoding in ["gzip", "deflate", "br", "identity"] {
        send(&[("Content-Type", "application/json"), ("Content-Encoding", encoding)])
            .expect_error(415, "unsupported_media_type");
    }
}

#[test]
fn d10_a_missing_body_is_an_empty_document() {
    let program = Program::start();
    let account = program.first_account();
    let raw = |head: &str| {
        let request = format!(
            "POST /v1/groups HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n{head}Connection: close\r\n\r\n",
            account.key
        );
        parse_response(&exchange(&program.api, request.as_bytes()))
    };
    for head in ["", "Content-Length: 0\r\n", "Content-Type: application/json\r\nContent-Length: 0\r\n"] {
        let (status, _, body) = raw(head);
        assert_eq!((status, body.contains("invalid_json")), (400, true), "{head:?}: {body}");
    }
}

/// D8: a misspelt field must not be dropped in silence.
#[test]
fn d8_unknown_and_read_only_fields_are_violations() {
    let program = Program::start();
    let account = program.first_account();
    let link = account.new_redirect();
    let path = format!("/v1/redirects/{}", link["id"].as_str().unwrap());
    for field in ["nmae", "id", "object", "url", "created_at", "updated_at", "pixels", "account_id", "Name"] {
        let mut create = json!({"name": "x", "target_url": "https://example.com"});
        create[field] = Value::Null;
        account.post("/v1/redirects", &create).expect_violations(&[(field, "unknown_field")]);
        account.patch(&path, &json!({ field: 1 })).expect_violations(&[(field, "unknown_field")]);
    }
    assert_eq!(account.get(&path).body, link);
    account
        .patch(&path, &json!({"analytics_enabled": true}))
        .expect_violations(&[("analytics_enabled", "unknown_field")]);
    account
        .post("/v1/groups", &json!({"name": "x", "landings_count": 1}))
        .expect_violations(&[("landings_count", "unknown_field")]);
}

/// D8: one answer lists every violation, wrong types included.
#[test]
fn d8_all_violations_are_in_one_answer() {
    let program = Program::start();
    let account = program.first_account();
    let body = json!({
        "name": "",
        "target_url": 5,
        "slug": "not a slug",
        "note": "x".repeat(257),
        "domain": [],
        "group_id": {},
        "is_active": "yes",
        "antibot_enabled": null,
        "analytics_enabled": 1,
        "geo_blocklists": {"countries": ["DE", "XX", 7], "more": 1},
        "colour": "red"
    });
    account.post("/v1/redirects?verbose=1", &body).expect_violations(&[
        ("name", "too_short"),
        ("target_url", "invalid_type"),
        ("slug", "invalid_format"),
        ("note", "too_long"),
        ("domain", "invalid_type"),
        ("group_id", "invalid_type"),
        ("is_active", "invalid_type"),
        ("antibot_enabled", "not_nullable"),
        ("analytics_enabled", "invalid_type"),
        ("geo_blocklists.countries[1]", "invalid_value"),
        ("geo_blocklists.countries[2]", "invalid_type"),
        ("geo_blocklists.more", "unknown_field"),
        ("colour", "unknown_field"),
        ("verbose", "unknown_field"),
    ]);
    account
        .post("/v1/redirects", &json!({}))
        .expect_violations(&[("name", "required"), ("target_url", "required")]);
    account
        .post("/v1/groups", &json!({"x": 1}))
        .expect_violations(&[("name", "required"), ("x", "unknown_field")]);
}

/// D8: what only shows when fields are looked at together is in the same answer.
#[test]
fn d8_a_loop_is_listed_beside_the_violations_of_single_fields() {
    let program = Program::start();
    let account = program.first_account();
    let body = json!({"name": 1, "slug": "loop", "target_url": "http://localhost:8081/loop"});
    account
        .post("/v1/redirects", &body)
        .expect_violations(&[("name", "invalid_type"), ("target_url", "invalid_value")]);
    let link =
        account.create_redirect(&json!({"name": "x", "slug": "mine", "target_url": "https://example.com"}));
    let path = format!("/v1/redirects/{}", link["id"].as_str().unwrap());
    account
        .patch(&path, &json!({"name": null, "target_url": "http://localhost:8081/mine"}))
        .expect_violations(&[("name", "not_nullable"), ("target_url", "invalid_value")]);
}
