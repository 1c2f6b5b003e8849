//! Requests that try to reach another link, or to inject data into an answer.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use signpost_port_contracts::samples;
use signpost_test_servers::smuggling::{doubtful_chunks, doubtful_heads};

use crate::harness::{Edge, HOST, redirect_to};

/// The target of the only link that the requests address correctly.
const SALE: &str = "https://example.com/sale";

/// The expected answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// A redirect to `SALE`.
    Sale,
    /// The 404 page.
    NotFound,
    /// A refusal before any look-up.
    Refused,
}

use Expected::{NotFound, Refused, Sale};

async fn edge() -> Edge {
    let edge = Edge::start().await;
    edge.add(&samples::redirect("sale")).await;
    edge.add(&redirect_to("other", "https://other.example/secret")).await;
    edge
}

/// Sends these bytes and returns the answer. An answer that is not UTF-8 fails the test: it would reflect the
/// request.
fn answer_to(edge: &Edge, request: &[u8]) -> String {
    let mut stream = edge.connect();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    // The server may reset a refused client that still sends.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).expect("an answer is text")
}

/// Every header name that an answer of the edge may have.
const HEADERS: [&str; 12] = [
    "location",
    "cache-control",
    "connection",
    "content-length",
    "content-type",
    "content-security-policy",
    "x-content-type-options",
    "referrer-policy",
    "date",
    "retry-after",
    "allow",
    "vary",
];

#[track_caller]
fn judge(answer: &str, expected: Expected, request: &str) {
    let head = answer.split("\r\n\r\n").next().unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap();
    let locations: Vec<_> = head.lines().filter_map(|line| line.strip_prefix("location: ")).collect();
    match expected {
        Sale => {
            assert!(status.starts_with("HTTP/1.1 302 "), "{request:?}: {answer}");
            assert_eq!(locations, [SALE], "{request:?}");
        }
        NotFound => {
            assert!(status.starts_with("HTTP/1.1 404 "), "{request:?}: {answer}");
            assert!(locations.is_empty(), "{request:?}: {answer}");
        }
        Refused => {
            assert!(status.starts_with("HTTP/1.1 4") && !status.contains("404"), "{request:?}: {answer}");
            assert!(locations.is_empty() && head.contains("connection: close"), "{request:?}: {answer}");
        }
    }
    assert_eq!(answer.matches("HTTP/1.1").count(), 1, "one answer to {request:?}: {answer}");
    assert!(!answer.contains("evil") && !answer.contains("secret"), "{request:?} is reflected: {answer}");
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        assert!(HEADERS.contains(&name), "{line} in the answer to {request:?}");
        assert!(value.bytes().all(|byte| (0x20..=0x7e).contains(&byte)), "{line:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_target_reaches_another_link_or_a_header() {
    let edge = edge().await;
    for (target, expected) in [
        ("/sale", Sale),
        // Line breaks and other control characters: plain, encoded once or twice, and as truncation would
        // produce them.
        ("/sale\r\nX-Evil: evil", Refused),
        ("/sale\r\n\r\nGET /other", Refused),
        ("/sale\rX-Evil: evil", Refused),
        ("/sale\nX-Evil: evil", Refused),
        ("/sale\0", Refused),
        ("/sale\u{7f}", Refused),
        ("/sale\t", Refused),
        ("/sale%0d%0aX-Evil:%20evil", NotFound),
        ("/%0d%0aLocation:%20https://evil.example", NotFound),
        ("/sale%0D%0A", NotFound),
        ("/sale%0a", NotFound),
        ("/sale%00", NotFound),
        ("/sale%00evil", NotFound),
        ("/sale%250d%250a", NotFound),
        ("/sale%E5%98%8D%E5%98%8AX-Evil:evil", NotFound),
        ("/sale%c4%8d%c4%8aX-Evil:evil", NotFound),
        ("/sale?%0d%0aLocation:%20https://evil.example", Sale),
        ("/sale?x=%00&url=https://evil.example", Sale),
        // Dots and slashes.
        ("/../sale", NotFound),
        ("/./sale", NotFound),
        ("/sale/.", NotFound),
        ("/sale/..", NotFound),
        ("/sale/../other", NotFound),
        ("/x/../other", NotFound),
        ("/..", NotFound),
        ("/%2e%2e/other", NotFound),
        ("/%2e%2e%2fother", NotFound),
        ("/..%2fother", NotFound),
        ("/sale%2f..%2fother", NotFound),
        ("/sale/%2e%2e/other", NotFound),
        ("/%252e%252e/other", NotFound),
        ("/sale%5c..%5cother", NotFound),
        ("/\\other", NotFound),
        ("/sale\\..\\other", NotFound),
        ("//sale", NotFound),
        ("//evil.example/sale", NotFound),
        ("///other", NotFound),
        ("/sale//", NotFound),
        ("/sale/%2f", NotFound),
        ("/sale;other", NotFound),
        ("/sale,other", NotFound),
        ("/sale|other", NotFound),
        ("/sale%20", Sale),
        ("/%20sale", NotFound),
        ("/sale+", Sale),
        // Encodings that decode to the slug only with a decoder that is too lenient.
        ("/s%61le", Sale),
        ("/%2573ale", NotFound),
        ("/%u0073ale", NotFound),
        ("/s%c1%a1le", NotFound),
        ("/s%e0%81%a1le", NotFound),
        ("/s%ef%bd%81le", NotFound),
        ("/%ef%bc%8fsale", NotFound),
        ("/s%ad%61le", NotFound),
        ("/sale%", NotFound),
        ("/sale%2", NotFound),
        ("/sale%zz", NotFound),
        ("/SALE", NotFound),
        // Raw bytes that a URI cannot hold, which are read as their encoding.
        ("/s\u{e1}le", NotFound),
        ("/sale\"", Sale),
        ("/sale>", Sale),
        ("/\"sale", NotFound),
        ("/sale<evil>", NotFound),
        ("/sale?q=\"<evil>\u{e1}\u{65e5}`{|}^\\", Sale),
        ("/sale?q=%&r=%zz&s=%00", Sale),
        ("/sale?q=\0", Refused),
        ("/sale?q=\u{7f}", Refused),
        ("/sale?q=a evil", Refused),
        ("http://go.example.com/sale?q=\u{e1}", Sale),
        ("http://evil\u{e1}.example/sale", Refused),
        // Other forms of targets.
        ("*", NotFound),
        ("sale", NotFound),
        ("http:/sale", Refused),
        ("http://go.example.com/sale", Sale),
        ("https://go.example.com/sale", Sale),
        ("http://GO.example.com:80/sale", Sale),
        ("http://evil.example/sale", NotFound),
        ("http://go.example.com.evil.example/sale", NotFound),
        ("http://go.example.com@evil.example/sale", NotFound),
        ("http://evil@go.example.com/sale", NotFound),
        ("http://go.example.com:99999/sale", NotFound),
        ("http://[::1]/sale", NotFound),
        ("/http://evil.example/", NotFound),
        ("/https:%2f%2fevil.example", NotFound),
        ("javascript:evil()", NotFound),
    ] {
        let request = format!("GET {target} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n");
        judge(&answer_to(&edge, request.as_bytes()), expected, target);
    }
    let long = format!("GET /{} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n", "a".repeat(30_000));
    judge(&answer_to(&edge, long.as_bytes()), NotFound, "30 kB of a slug");
    for byte in 0x80..=0xff_u8 {
        let request =
            [b"GET /sale", &[byte][..], b" HTTP/1.1\r\nHost: go.example.com\r\nConnection: close\r\n\r\n"];
        judge(&answer_to(&edge, &request.concat()), NotFound, &format!("byte {byte:#x}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_host_reaches_another_link_or_a_header() {
    let edge = edge().await;
    let long = format!("Host: {}.example.com\r\n", "a".repeat(300));
    let labels = format!("Host: {}go.example.com\r\n", "a.".repeat(150));
    for (lines, expected) in [
        ("Host: go.example.com\r\n", Sale),
        ("Host: GO.EXAMPLE.COM\r\n", Sale),
        ("Host:go.example.com\r\n", Sale),
        ("Host:  go.example.com  \r\n", Sale),
        ("Host: go.example.com.\r\n", Sale),
        ("Host: go.example.com:8081\r\n", Sale),
        ("Host: go.example.com.:443\r\n", Sale),
        ("", Refused),
        ("Host: go.example.com\r\nHost: evil.example\r\n", Refused),
        ("Host: evil.example\r\nHost: go.example.com\r\n", Refused),
        ("Host: go.example.com\r\nhost: go.example.com\r\n", Refused),
        ("Host : go.example.com\r\n", Refused),
        (" Host: go.example.com\r\n", Refused),
        ("Host: go.example.com\r\n evil.example\r\n", Refused),
        ("Host: go.example.com\0.evil.example\r\n", Refused),
        ("Host: \r\n", NotFound),
        ("Host: evil.example\r\n", NotFound),
        ("Host: .go.example.com\r\n", NotFound),
        ("Host: go.example.com..\r\n", NotFound),
        ("Host: go..example.com\r\n", NotFound),
        ("Host: go.example.com:99999\r\n", NotFound),
        ("Host: go.example.com:-1\r\n", NotFound),
        ("Host: go.example.com:80:80\r\n", NotFound),
        ("Host: go.example.com:evil\r\n", NotFound),
        ("Host: go.example.com:80@evil.example\r\n", NotFound),
        ("Host: go.example.com@evil.example\r\n", NotFound),
        ("Host: evil@go.example.com\r\n", NotFound),
        ("Host: evil:evil@go.example.com\r\n", NotFound),
        ("Host: go.example.com evil.example\r\n", NotFound),
        ("Host: go.example.com, evil.example\r\n", NotFound),
        ("Host: go.example.com,evil.example\r\n", NotFound),
        ("Host: go.example.com/other\r\n", NotFound),
        ("Host: go.example.com?evil\r\n", NotFound),
        ("Host: go.example.com#evil\r\n", NotFound),
        ("Host: go.example.com\\.evil.example\r\n", NotFound),
        ("Host: http://go.example.com\r\n", NotFound),
        ("Host: go%2eexample.com\r\n", NotFound),
        ("Host: go\u{3002}example\u{3002}com\r\n", NotFound),
        ("Host: \u{ff47}o.example.com\r\n", NotFound),
        ("Host: g\u{00ad}o.example.com\r\n", NotFound),
        ("Host: [::1]\r\n", NotFound),
        ("Host: [::1]:8081\r\n", NotFound),
        ("Host: [::1\r\n", NotFound),
        ("Host: [::ffff:127.0.0.1]\r\n", NotFound),
        ("Host: [fe80::1%25eth0]\r\n", NotFound),
        ("Host: 127.0.0.1\r\n", NotFound),
        ("Host: 2130706433\r\n", NotFound),
        ("Host: 0x7f.1\r\n", NotFound),
        ("Host: localhost\r\n", NotFound),
        ("Host: *\r\n", NotFound),
        ("Host: \"go.example.com\"\r\n", NotFound),
        (&long, NotFound),
        (&labels, NotFound),
        // Other headers with hosts and paths are ignored.
        ("Host: go.example.com\r\nX-Forwarded-Host: evil.example\r\n", Sale),
        ("Host: go.example.com\r\nX-Host: evil.example\r\nX-Forwarded-Server: evil.example\r\n", Sale),
        ("Host: go.example.com\r\nForwarded: host=evil.example;proto=evil\r\n", Sale),
        ("Host: go.example.com\r\nX-Original-URL: /other\r\nX-Rewrite-URL: /other\r\n", Sale),
        ("Host: go.example.com\r\nX-Forwarded-Prefix: /evil\r\nX-Forwarded-Proto: evil\r\n", Sale),
        ("Host: go.example.com\r\nX-HTTP-Method-Override: DELETE\r\n", Sale),
        ("Host: evil.example\r\nX-Forwarded-Host: go.example.com\r\n", NotFound),
        ("Host: evil.example\r\nForwarded: host=go.example.com\r\n", NotFound),
        ("Host: go.example.com\r\nSec-GPC: evil\r\nDNT: evil\r\n", Sale),
        ("Host: go.example.com\r\nSec-GPC: 1\r\nSec-GPC: 0\r\nDNT: \u{ff}\r\n", Sale),
        ("Host: go.example.com\r\nOrigin: https://evil.example\r\nReferer: https://evil.example/\r\n", Sale),
        ("Host: go.example.com\r\nCookie: evil=evil\r\nAuthorization: Bearer evil\r\n", Sale),
        ("Host: go.example.com\r\nRange: bytes=0-1\r\nIf-None-Match: *\r\nExpect: evil\r\n", Sale),
        ("Host: go.example.com\r\nUpgrade: h2c\r\nHTTP2-Settings: evil\r\nConnection: Upgrade\r\n", Sale),
    ] {
        let request = format!("GET /sale HTTP/1.1\r\n{lines}Connection: close\r\n\r\n");
        judge(&answer_to(&edge, request.as_bytes()), expected, lines);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d54_repeated_hosts_must_agree() {
    let edge = edge().await;
    for (target, host, expected) in [
        ("http://go.example.com/sale", "go.example.com", Sale),
        ("http://go.example.com:8081/sale", "GO.example.com", Sale),
        ("http://go.example.com/sale", "evil.example", NotFound),
        ("http://evil.example/sale", "go.example.com", NotFound),
        ("http://evil.example/sale", "evil.example", NotFound),
        ("http://go.example.com/sale", "go.example.com@evil.example", NotFound),
        ("http://go.example.com/sale", "", NotFound),
    ] {
        let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        judge(&answer_to(&edge, request.as_bytes()), expected, &request);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r25_heads_of_100_kilobytes_are_refused() {
    let edge = edge().await;
    let one = format!("X-Evil: {}\r\n", "evil".repeat(25_000));
    let many =
        (0..4_000).map(|number| format!("X-Evil-{number}: evil-evil-evil\r\n")).collect::<Vec<_>>().concat();
    let cookies = "Cookie: evil=evil-evil-evil-evil-evil-evil\r\n".repeat(2_300);
    let path = format!("/{}", "evil/".repeat(20_000));
    for (target, lines) in [("/sale", one), ("/sale", many), ("/sale", cookies), (&path, String::new())] {
        let request = format!("GET {target} HTTP/1.1\r\nHost: {HOST}\r\n{lines}\r\n");
        assert!(request.len() > 100_000);
        judge(&answer_to(&edge, request.as_bytes()), Refused, "100 kB");
    }
    assert_eq!(edge.get("/sale").status, 302);
}

/// The listener owns this table. The test shows that the edge uses its verdicts.
#[tokio::test(flavor = "multi_thread")]
async fn r27_nothing_is_smuggled_past_the_edge() {
    let edge = edge().await;
    // The request hidden behind another one would open a link here.
    let visiting = |bytes: &str| bytes.replace("/smuggled", "/other");
    for doubtful in doubtful_heads() {
        judge(&answer_to(&edge, visiting(&doubtful.bytes).as_bytes()), Refused, doubtful.flaw);
    }
    for doubtful in doubtful_chunks() {
        let answer = answer_to(&edge, visiting(&doubtful.bytes).as_bytes());
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{}: {answer}", doubtful.flaw);
        assert!(!answer.contains("secret"), "{}: {answer}", doubtful.flaw);
    }
}

/// A visitor who sends a head slowly does not delay others.
#[tokio::test(flavor = "multi_thread")]
async fn r25_visitors_are_answered_while_other_heads_are_unfinished() {
    let edge = edge().await;
    let unfinished: Vec<_> = (0..200)
        .map(|_| {
            let mut stream = edge.connect();
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            stream.write_all(b"GET /sale HTTP/1.1\r\nHost: go.example.com\r\nX-Slow: ").unwrap();
            stream
        })
        .collect();
    for _ in 0..20 {
        assert_eq!(edge.get("/sale").status, 302);
    }
    drop(unfinished);
}
