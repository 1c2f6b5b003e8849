//! What a body may hold: D8, D10.

use super::{BodyRoute, Scene};
use crate::harness::Answer;

/// The template with this in place of the `@`.
fn filled(template: &str, hostile: &[u8]) -> Vec<u8> {
    let (before, after) = template.split_once('@').unwrap();
    [before.as_bytes(), hostile, after.as_bytes()].concat()
}

/// Each alone makes a document that is not JSON, or none that D10 accepts.
const NOT_JSON: [&[u8]; 43] = [
    b"",
    b"NaN",
    b"-NaN",
    b"Infinity",
    b"-Infinity",
    b"undefined",
    b"1e400",
    b"-1e400",
    b"1e99999999999999999999",
    b"01",
    b"-01",
    b"+1",
    b".5",
    b"1.",
    b"1e",
    b"0x10",
    b"0b1",
    b"1_000",
    b"--1",
    b"'x'",
    b"x",
    b"True",
    b"nul",
    b"\"x",
    b"\"\\x41\"",
    b"\"\\u12\"",
    b"\"\\ud800\"",
    b"\"\\udc00\"",
    b"\"\\udc00\\ud800\"",
    b"\"\\ud800\\ud800\"",
    b"{\"\\udfff\":1}",
    b"\"\xff\"",
    b"\"\xc0\xaf\"",
    b"\"\xed\xa0\x80\"",
    b"\"\xf4\x90\x80\x80\"",
    b"\"\0\"",
    b"\"a\nb\"",
    b"\"a\tb\"",
    b"[1,]",
    b"{\"a\":1,}",
    b"{\"a\":1,\"a\":1}",
    b"[{\"a\":{\"b\":1,\"\\u0062\":2}}]",
    b"/**/1",
];

/// Well-formed values that no field takes here.
fn no_value() -> Vec<(String, bool)> {
    let string = |text: String| (text, true);
    let other = |text: &str| (text.to_owned(), false);
    vec![
        other("1e308"),
        other("-0.0"),
        other("1e-999999999"),
        other("123456789012345678901234567890"),
        other("true"),
        other("[]"),
        other("{}"),
        other("[[[[[[]]]]]]"),
        other(r#"{"a":{"b":{"c":null}}}"#),
        other(r#"{"__proto__":{"admin":true},"constructor":1,"$ref":"/x"}"#),
        (format!("{{{}}}", keys(50_000)), false),
        (format!("[{}1]", "1,".repeat(400_000)), false),
        string(format!("\"{}\"", "x".repeat(900_000))),
        string(format!("\"{}\"", "\\u0000".repeat(150_000))),
        string(format!("\"{}\"", "\\ud83e\\udd80".repeat(80_000))),
        string("\"\\u0000\"".to_owned()),
        string("\"\\u001b[31m\"".to_owned()),
        string("\"\"".to_owned()),
    ]
}

fn keys(count: usize) -> String {
    (0..count).map(|number| format!("\"{number}\":0")).collect::<Vec<_>>().join(",")
}

/// A refusal as a whole, or of every item.
#[track_caller]
fn refused(route: &BodyRoute, answer: &Answer) {
    // Items of a batch fail one by one, so that a batch of failures is a 200 (contract "Bulk results").
    if answer.status == 200 && answer.body["failed_count"].as_u64() > Some(0) {
        let counts = answer.body.as_object().unwrap().iter().filter(|(name, _)| name.ends_with("_count"));
        let succeeded: u64 = counts
            .filter(|(name, _)| *name != "failed_count")
            .map(|(_, count)| count.as_u64().unwrap())
            .sum();
        assert_eq!(succeeded, 0, "{answer:?}");
    } else {
        assert_eq!((answer.status, answer.code()), (400, "invalid_request"), "{} {answer:?}", route.path);
    }
}

#[test]
fn d10_r26_one_invalid_part_makes_the_body_invalid_on_every_route() {
    let scene = Scene::new();
    let before = scene.everything();
    for (route, template) in scene.templates() {
        for hostile in NOT_JSON {
            let body = filled(template, hostile);
            let answer = scene.send(route, &body).expect_violations(&[("body", "invalid_json")]);
            assert_eq!(answer.status, 400, "{}: {}", route.path, String::from_utf8_lossy(&body));
        }
    }
    assert_eq!(scene.everything(), before);
}

#[test]
fn d10_r26_nesting_of_32_is_read_and_of_33_refused_on_every_route() {
    let scene = Scene::new();
    let before = scene.everything();
    for (route, template) in scene.templates() {
        let (outside, _) = template.split_once('@').unwrap();
        let opened = |brackets: [char; 2]| outside.chars().filter(|c| brackets.contains(c)).count();
        let left = 32 - (opened(['{', '[']) - opened(['}', ']']));
        let nested =
            |depth: usize| filled(template, format!("{}{}", "[".repeat(depth), "]".repeat(depth)).as_bytes());
        let answer = scene.send(route, &nested(left));
        refused(route, &answer);
        assert!(!answer.violations().iter().any(|(field, _)| field == "body"), "{answer:?}");
        for depth in [left + 1, 1_000, 250_000] {
            scene.send(route, &nested(depth)).expect_violations(&[("body", "invalid_json")]);
        }
        // Objects nest like arrays do, and an opening without an end is as deep.
        let objects = format!("{}1{}", r#"{"a":"#.repeat(left + 1), "}".repeat(left + 1));
        scene
            .send(route, &filled(template, objects.as_bytes()))
            .expect_violations(&[("body", "invalid_json")]);
        scene.send(route, "[".repeat(1_000_000).as_bytes()).expect_violations(&[("body", "invalid_json")]);
    }
    assert_eq!(scene.everything(), before);
}

#[test]
fn d8_r26_well_formed_hostile_values_are_refused_on_every_route() {
    let scene = Scene::new();
    let before = scene.everything();
    for (route, template) in scene.templates() {
        for (value, is_string) in no_value() {
            let body = filled(template, value.as_bytes());
            let answer = scene.send(route, &body);
            if body.len() > 1_048_576 {
                answer.expect_error(413, "payload_too_large");
                continue;
            }
            refused(route, &answer);
            // Contract D31: an element that is not a string is a violation of the whole request.
            let is_of_ids =
                ["link_ids", "redirect_ids", "landing_ids"].iter().any(|ids| template.contains(ids));
            assert!(!is_of_ids || is_string == (answer.status == 200), "{value:.80}: {answer:?}");
        }
    }
    assert_eq!(scene.everything(), before);
}

#[test]
fn d10_r26_malformed_whole_bodies_are_refused_on_every_route() {
    let scene = Scene::new();
    let before = scene.everything();
    for route in &scene.routes {
        let valid = route.valid.as_bytes();
        let utf16: Vec<u8> = route.valid.encode_utf16().flat_map(u16::to_le_bytes).collect();
        // The first bytes of a gzip file, without a Content-Encoding.
        let gzip = [b"\x1f\x8b\x08\0\0\0\0\0\0\x03".as_slice(), valid].concat();
        for body in [
            b"".as_slice(),
            b" \r\n\t",
            b"\0",
            b"{",
            b"name=x",
            b"<x/>",
            b"--x\r\n\r\n--x--",
            &[b"\xef\xbb\xbf".as_slice(), valid].concat(),
            &[b"\xff\xfe".as_slice(), &utf16].concat(),
            &utf16,
            &gzip,
            &[valid, valid].concat(),
            &[valid, b"\0"].concat(),
            &[valid, b"//"].concat(),
            &[b")]}',\n".as_slice(), valid].concat(),
            &valid[..valid.len() - 1],
        ] {
            scene.send(route, body).expect_violations(&[("body", "invalid_json")]);
        }
        for body in [b"null".as_slice(), b"[]", b"1", b"\"x\"", &[b"[".as_slice(), valid, b"]"].concat()] {
            scene.send(route, body).expect_violations(&[("body", "invalid_type")]);
        }
    }
    assert_eq!(scene.everything(), before);
}

#[test]
fn d10_r26_one_byte_over_a_mebibyte_and_a_million_keys_are_too_large_on_every_route() {
    let scene = Scene::new();
    let before = scene.everything();
    let million = format!("{{{}}}", keys(1_000_000));
    assert!(million.len() > 8 * 1_048_576);
    for route in &scene.routes {
        let mut body = route.valid.clone().into_bytes();
        body.resize(1_048_577, b' ');
        scene.send(route, &body).expect_error(413, "payload_too_large");
        scene.send(route, million.as_bytes()).expect_error(413, "payload_too_large");
        // As many as fit. Contract D8: a hundred are listed, and the others counted.
        let answer = scene.send(route, format!("{{{}}}", keys(100_000)).as_bytes());
        let answer = answer.expect_error(400, "invalid_request");
        assert_eq!(answer.violations().len(), 101);
        assert_eq!(answer.violations().last(), Some(&("body".to_owned(), "truncated".to_owned())));
        assert!(answer.body.to_string().len() < 32 * 1024, "{}", answer.body.to_string().len());
    }
    assert_eq!(scene.everything(), before);
}

/// Read-only fields, and names that have a meaning elsewhere.
const NO_FIELDS: [&str; 38] = [
    "revision",
    "id",
    "object",
    "url",
    "created_at",
    "updated_at",
    "account",
    "account_id",
    "owner",
    "user_id",
    "tenant",
    "plan",
    "landings_count",
    "redirects_count",
    "links_count",
    "pixels",
    "deleted",
    "is_deleted",
    "message",
    "index",
    "data",
    "failed",
    "request_id",
    "key",
    "api_key",
    "admin",
    "role",
    "__proto__",
    "constructor",
    "$schema",
    "$ref",
    "Name",
    "NAME",
    " name",
    "name ",
    "name.x",
    "name[0]",
    "geo_blocklists.countries",
];

#[test]
fn d8_r26_unknown_and_read_only_fields_are_refused_on_every_route() {
    let scene = Scene::new();
    let before = scene.everything();
    for route in &scene.routes {
        let is_field = |field: &&str| route.valid.contains(&format!("\"{field}\":"));
        for field in NO_FIELDS.into_iter().filter(|field| !is_field(field)) {
            for value in ["null", "1", "{}", "\"rdr_00000000000000000000000000000000\""] {
                // At the end and at the beginning of a body that would do something without it.
                let rest = route.valid.strip_prefix('{').unwrap();
                let first = format!("{{\"{field}\":{value},{rest}");
                let last = format!("{},\"{field}\":{value}}}", route.valid.strip_suffix('}').unwrap());
                for body in [first, last] {
                    let answer = scene.send(route, body.as_bytes());
                    answer.expect_violations(&[(field, "unknown_field")]);
                }
            }
        }
    }
    assert_eq!(scene.everything(), before);
}

/// Contract D29: an item with such a field fails, and its message names the field.
#[test]
fn d29_r26_unknown_and_read_only_fields_of_an_item_fail_the_item() {
    let scene = Scene::new();
    let before = scene.everything();
    let items: Vec<String> = NO_FIELDS
        .iter()
        .map(|field| format!(r#"{{"name":"x","target_url":"https://example.com","{field}":"offending"}}"#))
        .collect();
    let is_creation = |route: &&BodyRoute| route.method == "POST" && route.pattern == "/v1/redirects/bulk";
    let route = scene.routes.iter().find(is_creation).unwrap();
    let answer =
        scene.send(route, format!("{{\"redirects\":[{}]}}", items.join(",")).as_bytes()).expect_status(200);
    assert_eq!(answer.body["created_count"], 0, "{answer:?}");
    assert_eq!(answer.body["failed"].as_array().unwrap().len(), NO_FIELDS.len(), "{answer:?}");
    for (item, field) in answer.body["failed"].as_array().unwrap().iter().zip(NO_FIELDS) {
        assert_eq!(item["error"]["code"], "invalid_request");
        assert_eq!(item["error"]["value"], "offending", "{field}");
        let message = item["error"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("`{field}`")), "{field}: {message}");
    }
    assert_eq!(scene.everything(), before);
}
