//! Paths and methods: D2, D5, D6, D7, D17.

use serde_json::json;

use crate::harness::{Program, exchange, parse_response};

#[test]
fn d6_a_path_that_no_endpoint_has_is_404_invalid_request() {
    let program = Program::start();
    let account = program.first_account();
    for path in [
        "/v1",
        "/v1/",
        "/v1/nothing",
        "/v1/redirects/",
        "/v1/redirects/a/b",
        "/v1/Redirects",
        "/v1//redirects",
    ] {
        let answer = account.get(path).expect_error(404, "invalid_request");
        assert!(answer.body["error"].get("details").is_none());
    }
}

#[test]
fn d7_without_a_key_an_unknown_path_under_v1_is_401() {
    let program = Program::start();
    let account = program.first_account();
    for path in ["/v1", "/v1/nothing", "/v1/redirects", "/v1/%zz", "/v1/?x=1"] {
        account.send_with("GET", path, &[], None).expect_error(401, "invalid_api_key");
    }
    for (method, path) in [("PUT", "/v1/redirects"), ("OPTIONS", "/v1/redirects"), ("BREW", "/v1/groups")] {
        account.send_with(method, path, &[], None).expect_error(401, "invalid_api_key");
    }
}

#[test]
fn d6_another_method_is_405_with_allow() {
    let program = Program::start();
    let account = program.first_account();
    let id = "0".repeat(32);
    for (path, allowed) in [
        ("/v1/redirects".to_owned(), vec!["GET", "HEAD", "POST"]),
        ("/v1/groups".to_owned(), vec!["GET", "HEAD", "POST"]),
        (format!("/v1/redirects/rdr_{id}"), vec!["DELETE", "GET", "HEAD", "PATCH"]),
        (format!("/v1/groups/grp_{id}"), vec!["DELETE", "GET", "HEAD", "PATCH"]),
        ("/v1/account".to_owned(), vec!["GET", "HEAD"]),
    ] {
        for method in ["PUT", "OPTIONS", "TRACE", "BREW", "POST", "PATCH", "DELETE"] {
            if allowed.contains(&method) {
                continue;
            }
            let answer = account.send(method, &path, None).expect_error(405, "invalid_request");
            let mut methods: Vec<_> = answer.header("allow").unwrap().split(", ").collect();
            methods.sort_unstable();
            assert_eq!(methods, allowed, "{path}");
        }
    }
}

#[test]
fn head_has_the_headers_of_get_and_no_body() {
    let program = Program::start();
    let account = program.first_account();
    let head = account.send("HEAD", "/v1/account", None).expect_status(200);
    assert!(head.body.is_null());
    assert_eq!(head.header("content-type"), account.get("/v1/account").header("content-type"));
}

#[test]
fn d2_malformed_ids_are_those_that_nothing_has() {
    let program = Program::start();
    let account = program.first_account();
    let (zeros, upper) = ("0".repeat(32), "A".repeat(32));
    for (collection, prefix, code) in
        [("redirects", "rdr_", "redirect_not_found"), ("groups", "grp_", "group_not_found")]
    {
        let unknown = account.get(&format!("/v1/{collection}/{prefix}{zeros}")).expect_error(404, code);
        for id in [
            "x".to_owned(),
            format!("{prefix}{upper}"),
            format!("{prefix}{zeros}0"),
            format!("{prefix}{}", &zeros[1..]),
            format!("xxx_{zeros}"),
            zeros.clone(),
            "%00".to_owned(),
            "%zz".to_owned(),
            "%ff%fe".to_owned(),
            "%".to_owned(),
            "%2e%2e%2f".to_owned(),
            format!("{prefix}{zeros}%20"),
            "a".repeat(5_000),
        ] {
            let answer = account.get(&format!("/v1/{collection}/{id}")).expect_error(404, code);
            assert_eq!(answer.without_request_id(), unknown.without_request_id(), "{id}");
        }
    }
}

#[test]
fn d5_creations_are_201_with_a_location_that_leads_to_the_resource() {
    let program = Program::start();
    let account = program.first_account();
    for (path, body) in [
        ("/v1/redirects", json!({"name": "x", "target_url": "https://example.com"})),
        ("/v1/groups", json!({"name": "x"})),
    ] {
        let created = account.post(path, &body).expect_status(201);
        let location = created.header("location").unwrap();
        assert_eq!(location, format!("{path}/{}", created.body["id"].as_str().unwrap()));
        assert_eq!(account.get(location).expect_status(200).body, created.body);
    }
}

/// Bad framing that no HTTP client sends.
#[test]
fn requests_that_are_hardly_http_get_an_answer() {
    let program = Program::start();
    for (request, expected) in [
        (b"GET /v1/redirects\xff\xfe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".as_slice(), 400),
        (b"GET /v1/redirects HTTP/1.1\r\nHost: x\r\nX-Bad: \0\r\nConnection: close\r\n\r\n", 400),
        (b"GET /v1/redirects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\xff\r\nConnection: close\r\n\r\n", 401),
        (b"POST /v1/groups HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\nConnection: close\r\n\r\n", 400),
        (b"POST /v1/groups HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{", 400),
        (b"\0\0\0\0\r\n\r\n", 400),
    ] {
        let (status, _, _) = parse_response(&exchange(&program.api, request));
        assert_eq!(status, expected, "{}", String::from_utf8_lossy(request));
    }
    program.first_account().get("/v1/account").expect_status(200);
}

/// A body whose framing breaks while its request runs is answered too, with the envelope.
#[test]
fn broken_chunks_get_an_answer_of_the_contracts_shape() {
    let program = Program::start();
    let key = &program.first_account().key;
    for chunks in ["zz\r\nabc\r\n0\r\n\r\n", "ffffffffffffffffff\r\nabc\r\n0\r\n\r\n", "-1\r\nabc\r\n"] {
        let request = format!(
            "POST /v1/redirects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n{chunks}"
        );
        for _ in 0..20 {
            let (status, _, body) = parse_response(&exchange(&program.api, request.as_bytes()));
            assert_eq!((status, body.contains(r#""code":"invalid_request""#)), (400, true), "{body}");
        }
    }
    assert!(program.first_account().walk("/v1/redirects", "").is_empty());
}
