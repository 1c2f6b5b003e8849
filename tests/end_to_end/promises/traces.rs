//! R31: no request breaks a line of the log, and no data about its sender is stored or logged (D48).

use serde_json::Value;

use crate::harness::{Program, Store, concurrently, exchange, parse_response};

/// How many requests are sent for each form of the log, half of them to each listener.
const REQUESTS: usize = 5_000;

const SENDERS: usize = 8;

/// Bytes that may end a line, control a terminal, or reverse the reading order.
const HOSTILE: [&[u8]; 16] = [
    b"plain",
    b"a\rb",
    b"a\nb",
    b"a\r\n{\"level\":\"ERROR\",\"message\":\"forged\"}",
    b"\x1b[31mred\x1b[0m",
    b"\x1b]0;title\x07",
    b"\0",
    b"\x7f\x08\x08",
    "\u{9b}31m".as_bytes(),
    "\u{85}a\u{2028}b\u{2029}".as_bytes(),
    "\u{202e}drowssap\u{202c}".as_bytes(),
    "\u{2066}a\u{2069}\u{200f}".as_bytes(),
    b"\xff\xfe",
    b"%0d%0a%1b%5b31m%00%e2%80%ae",
    b"\"}\\\\'",
    b"\\r\\n\\u001b",
];

/// The headers that carry them.
const HEADERS: [&str; 13] = [
    "Host",
    "User-Agent",
    "Referer",
    "Cookie",
    "X-Forwarded-For",
    "Forwarded",
    "X-Request-Id",
    "Authorization",
    "Content-Type",
    "Content-Encoding",
    "Accept-Language",
    "Idempotency-Key",
    "Origin",
];

/// The part of a request that carries them.
#[derive(Debug, Clone, Copy)]
enum Part {
    Method,
    Path,
    Query,
    Body,
    HeaderName,
    Header(&'static str),
}

/// Words of one sender, by which a trace is recognised.
const AGENT: &str = "secretagent";
const QUERY: &str = "secretquery";
const REFERRER: &str = "secretreferrer";
const COOKIE: &str = "secretcookie";

/// How the addresses of all senders begin.
const V4: &str = "198.51.100.";
const V6: &str = "2001:db8:5ec:";

/// How the bytes of an IPv6 address begin that is such, and how they are shown in hexadecimal digits.
const V6_BYTES: [u8; 6] = [0x20, 0x01, 0x0d, 0xb8, 0x05, 0xec];
const V6_DIGITS: &str = "20010db805ec";

fn part(number: usize) -> Part {
    let parts = [Part::Method, Part::Path, Part::Query, Part::Body, Part::HeaderName];
    let of_headers = HEADERS.iter().map(|header| Part::Header(header));
    let parts: Vec<Part> = parts.into_iter().chain(of_headers).collect();
    parts[number % parts.len()]
}

/// The address from which the request with this number comes, by the word of the proxy in front.
fn sender(number: usize) -> String {
    if number.is_multiple_of(2) {
        format!("{V4}{}", number % 255 + 1)
    } else {
        format!("{V6}{number:x}::{number:x}")
    }
}

/// A request as bytes, with `hostile` in one part of it. Without hostile bytes it is an ordinary one.
fn request(number: usize, path: &str, host: &str, key: &str, hostile: Option<(Part, &[u8])>) -> Vec<u8> {
    let at = |part: fn(Part) -> bool| match hostile {
        Some((place, bytes)) if part(place) => bytes,
        _ => b"".as_slice(),
    };
    let method: &[u8] = if matches!(hostile, Some((Part::Body, _))) { b"POST" } else { b"GET" };
    let body = at(|place| matches!(place, Part::Body));
    let mut request = [method, at(|place| matches!(place, Part::Method)), b" ", path.as_bytes()].concat();
    request.extend([at(|place| matches!(place, Part::Path)), b"?q=", QUERY.as_bytes()].concat());
    request.extend([at(|place| matches!(place, Part::Query)), b" HTTP/1.1\r\n"].concat());
    let address = sender(number);
    let mut headers = vec![
        ("Host", host.to_owned()),
        ("User-Agent", AGENT.to_owned()),
        ("Referer", format!("https://news.example/{REFERRER}?{REFERRER}")),
        ("Cookie", COOKIE.to_owned()),
        ("X-Forwarded-For", address),
        ("Authorization", format!("Bearer {key}")),
        ("Content-Type", "application/json".to_owned()),
    ];
    if let Some((Part::Header(name), _)) = hostile
        && headers.iter().all(|(known, _)| *known != name)
    {
        headers.push((name, String::new()));
    }
    for (name, value) in headers {
        let bytes = match hostile {
            Some((Part::Header(place), bytes)) if place == name => bytes,
            _ => b"",
        };
        request.extend([name.as_bytes(), b": ", value.as_bytes(), bytes, b"\r\n"].concat());
    }
    let name = at(|place| matches!(place, Part::HeaderName));
    if !name.is_empty() {
        request.extend([b"X-", name, b": x\r\n"].concat());
    }
    request.extend(format!("Content-Length: {}\r\nConnection: close\r\n\r\n", body.len()).bytes());
    request.extend(body);
    request
}

/// Sends all requests, and gives how many visits were led on.
fn send_all(program: &Program, key: &str) -> usize {
    let hosts = [(&program.links, "localhost:8081"), (&program.api, "api")];
    let sent = concurrently(SENDERS, |sender| {
        let mut led_on = 0;
        for number in (sender..REQUESTS).step_by(SENDERS) {
            let (listener, host) = hosts[number % 2];
            let path = match (number % 2, number / 2 % 3) {
                (0, 0) => "/here",
                (0, _) => "/nothing",
                (_, 0) => "/v1/redirects",
                (_, 1) => "/v1/nothing",
                (_, _) => "/tls-allowed",
            };
            let hostile = HOSTILE[number / 2 % HOSTILE.len()];
            let place = (number / 2 % 7 != 0).then(|| (part(number / 2 / HOSTILE.len()), hostile));
            let answer = exchange(listener, &request(number, path, host, key, place));
            let (status, _, _) = parse_response(&answer);
            assert!(status < 500, "{place:?}: {answer}");
            led_on += usize::from(status == 302);
        }
        led_on
    });
    sent.into_iter().sum()
}

#[track_caller]
fn nothing_of_a_sender_in(place: &str, bytes: &[u8]) {
    let secrets = [AGENT, QUERY, REFERRER, COOKIE, V4, V6, V6_DIGITS].map(str::as_bytes);
    for secret in secrets.into_iter().chain([V6_BYTES.as_slice()]) {
        if let Some(at) = bytes.windows(secret.len()).position(|window| window == secret) {
            let around = &bytes[at.saturating_sub(200)..bytes.len().min(at + 200)];
            panic!(
                "{:?} is in {place}: {}",
                String::from_utf8_lossy(secret),
                String::from_utf8_lossy(around)
            );
        }
    }
}

/// A line that begins with its time and level, and has only visible text.
fn assert_is_one_line_of_text(line: &str) {
    let mut words = line.split_whitespace();
    let time = words.next().unwrap_or_default();
    let is_time = time.len() == "2026-01-01T00:00:00.000000Z".len() && time.ends_with('Z');
    let level = words.next().unwrap_or_default();
    assert!(is_time && ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"].contains(&level), "{line:?}");
    let is_visible = |c: char| c == ' ' || !(c.is_control() || c.is_whitespace() || is_bidi(c));
    assert!(line.chars().all(is_visible), "{line:?}");
}

const fn is_bidi(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The log says that there were visits, and with `RUST_LOG` says as much as operators can make it say; the store is looked at as
/// it is while the program runs, and after it has stopped.
#[test]
fn d48_r31_hostile_requests_leave_no_trace_of_their_sender_and_no_forged_line() {
    for (format, level) in [("text", "debug"), ("json", "trace")] {
        let flags = ["--log-format", format, "--trusted-proxies", "127.0.0.0/8"];
        let limits = ["--throttle-per-minute", "0", "--miss-throttle-per-minute", "0"];
        let flags: Vec<String> = flags.iter().chain(&limits).map(|word| (*word).to_owned()).collect();
        let variables = [("RUST_LOG".to_owned(), level.to_owned())];
        let mut program = Program::start_in_with(tempfile::tempdir().unwrap(), &flags, &variables);
        let account = program.first_account();
        account.create_redirect(&crate::harness::redirect_body(serde_json::json!({"slug": "here"})));
        let led_on = send_all(&program, &account.key);
        assert!(led_on > REQUESTS / 20, "{led_on} visits were led on");
        let open = program.kept();
        let log = program.stop_and_read_log();
        let closed = program.kept();
        let visits = log.lines().filter(|line| line.contains("redirected") && line.contains("visit")).count();
        assert_eq!(visits, led_on, "visits are logged");
        assert!(log.lines().filter(|line| line.contains("answered")).count() > REQUESTS / 4, "so are calls");
        for line in log.lines() {
            if format == "json" {
                let parsed: Value =
                    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
                assert!(parsed["level"].is_string() && parsed["timestamp"].is_string(), "{line:?}");
            } else {
                assert_is_one_line_of_text(line);
            }
        }
        nothing_of_a_sender_in("the log", log.as_bytes());
        // No peer of a connection is named, beside where the program itself listens. On servers the log also names the
        // stores, which are on the same machine.
        let listeners = [Some(&program.api), Some(&program.links), program.dashboard.as_ref()];
        let peers = listeners.into_iter().flatten().fold(log, |log, listener| log.replace(listener, ""));
        assert!(
            Store::of_this_run() == Store::Servers || !peers.contains("127.0.0.1:"),
            "the log names a peer"
        );
        for (name, bytes) in open.iter().chain(&closed) {
            nothing_of_a_sender_in(name, bytes);
        }
        assert!(closed.iter().any(|(_, bytes)| bytes.windows(4).any(|window| window == b"here")));
    }
}
