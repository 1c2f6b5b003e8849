//! How a body may be announced and sent: contract "Endpoints", D10.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{BodyRoute, Scene};
use crate::harness::{concurrently, exchange, parse_response};

impl Scene {
    /// The head of a request to `route` with the key, these lines, and no end yet.
    fn head(&self, route: &BodyRoute, lines: &str) -> String {
        let BodyRoute { method, path, .. } = route;
        let key = &self.account.key;
        format!(
            "{method} {path} HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n{lines}\r\n"
        )
    }

    /// The status and the error's code that these lines and this body get.
    fn framed(&self, route: &BodyRoute, lines: &str, body: &[u8]) -> (u16, String) {
        let mut request = self.head(route, lines).into_bytes();
        request.extend_from_slice(body);
        let (status, head, body) = parse_response(&exchange(&self.program.api, &request));
        let answer: Value =
            serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {head}\n{body}"));
        let id = answer["error"]["request_id"].as_str().unwrap_or_default();
        assert!(status < 400 || head.contains(&format!("x-request-id: {id}")), "{head}\n{body}");
        (status, answer["error"]["code"].as_str().unwrap_or_default().to_owned())
    }
}

/// What JSON is announced with.
const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn d10_r26_another_content_type_two_of_them_and_any_encoding_are_415_on_every_route() {
    let scene = Scene::new();
    let before = scene.everything();
    for route in &scene.routes {
        let body = route.valid.as_bytes();
        let length = format!("Content-Length: {}\r\n", body.len());
        for lines in [
            "",
            "Content-Type: \r\n",
            "Content-Type: text/plain\r\n",
            "Content-Type: text/json\r\n",
            "Content-Type: application/x-www-form-urlencoded\r\n",
            "Content-Type: multipart/form-data; boundary=x\r\n",
            "Content-Type: application/merge-patch+json\r\n",
            "Content-Type: application/json; charset=utf-16\r\n",
            "Content-Type: application/json; charset=utf-8; charset=utf-8\r\n",
            "Content-Type: application/json, application/json\r\n",
            "Content-Type: application/json\r\nContent-Type: application/json\r\n",
            "Content-Type: application/json\r\nContent-Type: text/plain\r\n",
            "Content-Type: text/plain\r\nContent-Type: application/json\r\n",
            "Content-Type: application/json\r\nContent-Encoding: gzip\r\n",
            "Content-Type: application/json\r\nContent-Encoding: identity\r\n",
            "Content-Type: application/json\r\nContent-Encoding: br, gzip\r\n",
            "Content-Type: application/json\r\nContent-Encoding: \r\n",
            "Content-Type: application/json\r\nContent-Encoding: x\r\nContent-Encoding: y\r\n",
        ] {
            let told = scene.framed(route, &format!("{lines}{length}"), body);
            assert_eq!(told, (415, "unsupported_media_type".to_owned()), "{} {lines:?}", route.path);
        }
    }
    assert_eq!(scene.everything(), before);
}

/// A body with an ambiguous end is not read, because another reader could find a second request behind it.
#[test]
fn d10_r26_a_body_whose_length_is_in_doubt_is_refused_on_every_route() {
    let scene = Scene::new();
    let before = scene.everything();
    for route in &scene.routes {
        let body = route.valid.as_bytes();
        let length = body.len();
        let chunked = |size: &str| format!("{size}\r\n{}\r\n0\r\n\r\n", route.valid).into_bytes();
        let right = format!("{length:x}");
        for (lines, body) in [
            (format!("Content-Length: {length}\r\nContent-Length: {length}\r\n"), body.to_vec()),
            (format!("Content-Length: {length}\r\nContent-Length: 0\r\n"), body.to_vec()),
            (format!("Content-Length: 0\r\nContent-Length: {length}\r\n"), body.to_vec()),
            (format!("Content-Length: {length}, {length}\r\n"), body.to_vec()),
            (format!("Content-Length: +{length}\r\n"), body.to_vec()),
            (format!("Content-Length: -{length}\r\n"), body.to_vec()),
            (format!("Content-Length: 0x{length:x}\r\n"), body.to_vec()),
            (format!("Content-Length: {length} {length}\r\n"), body.to_vec()),
            (format!("Content-Length: {length}.0\r\n"), body.to_vec()),
            ("Content-Length: \r\n".to_owned(), body.to_vec()),
            ("Content-Length: 99999999999999999999999\r\n".to_owned(), body.to_vec()),
            (format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"), chunked(&right)),
            (format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"), chunked(&right)),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n".to_owned(), chunked(&right)),
            ("Transfer-Encoding: chunked, chunked\r\n".to_owned(), chunked(&right)),
            ("Transfer-Encoding: xchunked\r\n".to_owned(), chunked(&right)),
            ("Transfer-Encoding: gzip\r\n".to_owned(), chunked(&right)),
            ("Transfer-Encoding: gzip, chunked\r\n".to_owned(), chunked(&right)),
            ("Transfer-Encoding: identity\r\n".to_owned(), body.to_vec()),
            ("Transfer-Encoding: chunked\r\n".to_owned(), chunked("x")),
            ("Transfer-Encoding: chunked\r\n".to_owned(), chunked("-1")),
            ("Transfer-Encoding: chunked\r\n".to_owned(), chunked(&format!("0x{right}"))),
            ("Transfer-Encoding: chunked\r\n".to_owned(), chunked("ffffffffffffffffff")),
            ("Transfer-Encoding: chunked\r\n".to_owned(), chunked("1")),
        ] {
            let (status, code) = scene.framed(route, &format!("{JSON}{lines}"), &body);
            assert_eq!((status, code.as_str()), (400, "invalid_request"), "{} {lines:?}", route.path);
        }
    }
    assert_eq!(scene.everything(), before);
    // Framed as they should be, the same bodies are taken: it was the framing.
    let (deleting, others): (Vec<_>, Vec<_>) =
        scene.routes.iter().partition(|route| route.pattern.ends_with("/delete"));
    for route in others.into_iter().chain(deleting) {
        let right = format!("{:x}", route.valid.len());
        let body = format!("{right}\r\n{}\r\n0\r\n\r\n", route.valid);
        let (status, code) =
            scene.framed(route, &format!("{JSON}Transfer-Encoding: chunked\r\n"), body.as_bytes());
        assert_eq!(status, route.status, "{}: {code}", route.path);
    }
}

/// A body that announces more than it may have is refused without being waited for.
#[test]
fn d10_r26_a_body_that_announces_too_much_is_413_on_every_route() {
    let scene = Scene::new();
    let lengths = ["1048577", "18446744073709551615"];
    let told = concurrently(scene.routes.len() * lengths.len(), |number| {
        let route = &scene.routes[number / lengths.len()];
        let lines = format!("{JSON}Content-Length: {}\r\n", lengths[number % lengths.len()]);
        scene.framed(route, &lines, b"{")
    });
    assert!(told.iter().all(|told| *told == (413, "payload_too_large".to_owned())), "{told:?}");
}

/// The answer to a client that sends a body piece by piece, and the time until then.
fn told_while_sending(scene: &Scene, route: &BodyRoute, piece: &[u8], pause: Duration) -> (String, Duration) {
    let mut stream = TcpStream::connect(&scene.program.api).unwrap();
    // The wait for an answer is the pause between two pieces.
    stream.set_read_timeout(Some(pause)).unwrap();
    let begun = Instant::now();
    stream.write_all(scene.head(route, &format!("{JSON}Content-Length: 1000\r\n")).as_bytes()).unwrap();
    stream.write_all(b"{").unwrap();
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while begun.elapsed() < Duration::from_mins(1) {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => answer.extend_from_slice(&buffer[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                // Once the server has answered and closed, writing fails.
                let _ = stream.write_all(piece);
            }
            Err(_) => break,
        }
    }
    (String::from_utf8_lossy(&answer).into_owned(), begun.elapsed())
}

/// R26 gives a body ten seconds. The rest is for the answer, and for a busy machine.
const REFUSED_WITHIN: Duration = Duration::from_secs(45);

/// Contract D10 sets no time; ten seconds are ours. A body that trickles has no more time than one that stops.
#[test]
fn r26_a_body_that_does_not_arrive_is_refused_in_bounded_time_on_every_route() {
    let scene = Scene::new();
    let before = scene.everything();
    let told = concurrently(scene.routes.len() * 2, |number| {
        let route = &scene.routes[number / 2];
        let piece: &[u8] = if number % 2 == 0 { b"" } else { b" " };
        told_while_sending(&scene, route, piece, Duration::from_millis(500))
    });
    for (answer, took) in told {
        let (status, _, body) = parse_response(&answer);
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &body["error"]["details"][0]["field"]), (400, &Value::from("body")), "{body}");
        assert!(took < REFUSED_WITHIN, "{took:?}");
    }
    // Others were served all the time, and nothing came of it.
    assert_eq!(scene.everything(), before);
}
