//! What passwords of links may cost: tries, bytes, hashes and connections (D131).

use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use signpost_domain::{Redirect, TrustedProxies};
use signpost_edge::EdgeOptions;
use signpost_memory::{Fault, InMemory, Step};
use signpost_port_contracts::samples;

use crate::harness::{Answer, Edge, HOST, options, redirect_to};

const PASSWORD: &str = "plover";
const TARGET: &str = "https://example.com/the/secret/target";

fn secret(slug: &str) -> Redirect {
    redirect_to(slug, TARGET)
}

/// An edge behind a proxy, with two links.
async fn edge() -> Edge {
    let networks = vec!["127.0.0.0/8".parse().unwrap()];
    let memory = InMemory { trusted_proxies: TrustedProxies::new(networks), ..InMemory::default() };
    let edge = Edge::start_with(memory, options(0), |_| {}).await;
    edge.stay_in_sync();
    for slug in ["prices", "other"] {
        edge.add_protected(&secret(slug), PASSWORD).await;
    }
    edge
}

/// Sends a password from an address.
fn send_from(edge: &Edge, address: &str, path: &str, password: &str) -> Answer {
    edge.post_with(path, &format!("X-Forwarded-For: {address}\r\n"), &format!("password={password}"))
}

/// Checks that it is the page for too many wrong passwords. The fakes' clock is at second 7.042 of its minute.
#[track_caller]
fn is_throttled(answer: &Answer) {
    assert_eq!((answer.status, answer.header("retry-after")), (429, Some("53")), "{answer:?}");
    assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    assert!(
        answer.body.contains("Too many wrong passwords") && !answer.body.contains("secret"),
        "{answer:?}"
    );
    assert_eq!(answer.header("location"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn d131_after_ten_wrong_passwords_an_address_waits_for_the_next_minute() {
    let edge = edge().await;
    let first = "203.0.113.1";
    for number in 0..10 {
        // A right one resets nothing.
        assert_eq!(send_from(&edge, first, "/prices", PASSWORD).status, 303, "{number}");
        // What cannot be a password counts too, and is not hashed.
        let text = if number % 2 == 0 { "wrong" } else { "no" };
        let work = edge.memory.link_passwords.work();
        assert_eq!(send_from(&edge, first, "/prices", text).status, 403, "{number}");
        assert_eq!(edge.memory.link_passwords.work() - work, usize::from(text == "wrong"));
    }
    let work = edge.memory.link_passwords.work();
    let reads = edge.memory.store.link_reads().count();
    for password in ["wrong", PASSWORD, ""] {
        is_throttled(&send_from(&edge, first, "/prices", password));
    }
    assert_eq!(edge.memory.link_passwords.work(), work, "judged before the hash");
    assert_eq!(edge.memory.store.link_reads().count(), reads);
    // The form is there, and other links and addresses have their own tries.
    assert_eq!(edge.get("/prices").status, 200);
    assert_eq!(send_from(&edge, first, "/other", PASSWORD).status, 303);
    assert_eq!(send_from(&edge, "203.0.113.2", "/prices", PASSWORD).status, 303);
    edge.memory.clock.advance(Duration::from_secs(53));
    assert_eq!(send_from(&edge, first, "/prices", PASSWORD).status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn d131_ipv6_addresses_share_the_tries_of_their_64() {
    let edge = edge().await;
    for number in 1..=10 {
        let address = format!("2001:db8::{number}");
        assert_eq!(send_from(&edge, &address, "/prices", "wrong").status, 403, "{number}");
    }
    is_throttled(&send_from(&edge, "2001:db8::ffff", "/prices", PASSWORD));
    assert_eq!(send_from(&edge, "2001:db8:0:1::1", "/prices", PASSWORD).status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn d131_after_600_wrong_passwords_a_link_opens_for_nobody_until_the_next_minute() {
    let edge = edge().await;
    for number in 0..600 {
        let address = format!("198.51.{}.{}", number / 200, number % 200);
        assert_eq!(send_from(&edge, &address, "/prices", "wrong").status, 403, "{number}");
    }
    for password in [PASSWORD, "wrong"] {
        is_throttled(&send_from(&edge, "203.0.113.1", "/prices", password));
    }
    assert_eq!(edge.get("/prices").status, 200);
    assert_eq!(send_from(&edge, "203.0.113.1", "/other", PASSWORD).status, 303);
    edge.memory.clock.advance(Duration::from_secs(53));
    assert_eq!(send_from(&edge, "203.0.113.1", "/prices", PASSWORD).status, 303);
}

/// What cannot be checked is 503, and is no wrong password.
#[tokio::test(flavor = "multi_thread")]
async fn d131_without_a_place_or_a_store_it_is_503_and_counts_for_nothing() {
    let edge = edge().await;
    assert_eq!(edge.get("/prices").status, 200);
    let refused = |retry_after: &str| {
        for password in ["wrong", PASSWORD].repeat(8) {
            let answer = edge.send_password("/prices", password);
            assert_eq!((answer.status, answer.header("retry-after")), (503, Some(retry_after)), "{answer:?}");
            assert!(!answer.body.contains("secret"), "{answer:?}");
        }
        assert_eq!(edge.get("/prices").status, 200, "the form is there");
    };
    edge.memory.link_passwords.set_busy(true);
    refused("1");
    edge.memory.link_passwords.set_busy(false);
    edge.memory.store.faults().set_unavailable(true);
    refused("5");
    edge.memory.store.faults().set_unavailable(false);
    for fault in [Fault::Unavailable, Fault::Corrupt] {
        edge.memory.store.faults().fail_next(Step::Read, fault, 1);
        assert_eq!(edge.send_password("/prices", PASSWORD).status, 503, "{fault:?}");
    }
    assert_eq!(edge.send_password("/prices", PASSWORD).status, 303);
}

#[tokio::test(flavor = "multi_thread")]
async fn d131_a_form_has_at_most_2_kib_and_its_password_1_kib() {
    let edge = edge().await;
    let field = "password=";
    for (form, status) in [
        (format!("{field}{}", "x".repeat(1_024)), 403),
        (format!("{field}{}", "x".repeat(1_025)), 413),
        (format!("{field}{}", "%78".repeat((2_048 - field.len()) / 3)), 403),
        (format!("{field}{}", "%78".repeat(2_048 / 3)), 413),
        (format!("{field}wrong&a={}", "x".repeat(2_048 - field.len() - "wrong&a=".len())), 403),
        (format!("{field}wrong&a={}", "x".repeat(2_049 - field.len() - "wrong&a=".len())), 413),
        ("x".repeat(60_000), 413),
    ] {
        let answer = edge.post_with("/prices", "", &form);
        assert_eq!(answer.status, status, "{} bytes: {answer:?}", form.len());
        assert_eq!(answer.body.contains("<form"), status == 403);
        assert!(!answer.body.contains("xxx"), "{answer:?}");
    }
}

/// Too long and unreadable forms cost no try and no hash: nothing in them was compared.
#[tokio::test(flavor = "multi_thread")]
async fn d131_only_a_form_is_read() {
    let edge = edge().await;
    let work = edge.memory.link_passwords.work();
    let post = |headers: &str, body: &str| {
        let head = format!("POST /prices HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n{headers}");
        edge.send(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
    };
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    for (headers, body) in [
        ("", format!("password={PASSWORD}")),
        ("Content-Type: application/json\r\n", format!("{{\"password\":\"{PASSWORD}\"}}")),
        ("Content-Type: multipart/form-data; boundary=x\r\n", "--x--".to_owned()),
        ("Content-Type: text/plain\r\n", format!("password={PASSWORD}")),
        (&format!("{form}Content-Encoding: gzip\r\n"), format!("password={PASSWORD}")),
    ] {
        for _ in 0..3 {
            let answer = post(headers, &body);
            assert_eq!(answer.status, 415, "{headers}: {answer:?}");
            assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
            assert_eq!(answer.header("location"), None);
        }
    }
    assert_eq!(edge.memory.link_passwords.work(), work);
    let chunked = format!(
        "POST /prices HTTP/1.1\r\nHost: {HOST}\r\n{form}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
         9\r\npassword=\r\n6\r\n{PASSWORD}\r\n0\r\n\r\n"
    );
    assert_eq!(edge.send(chunked.as_bytes()).status, 303);
    let with_charset = "Content-Type: application/x-www-form-urlencoded; charset=UTF-8\r\n";
    assert_eq!(post(with_charset, &format!("password={PASSWORD}")).status, 303);
    // A browser on another system composes the same letters in another way.
    edge.add_protected(&secret("accents"), "\u{e9}t\u{e9}s").await;
    assert_eq!(edge.send_password("/accents", "e%CC%81te%CC%81s").status, 303);
}

/// A form that does not arrive is given up, and keeps no others from theirs.
#[tokio::test(flavor = "multi_thread")]
async fn d131_unfinished_forms_hold_a_quarter_of_the_connections_at_most() {
    let options = EdgeOptions { connections: 16, ..options(0) };
    let edge = Edge::start_with(InMemory::default(), options, |_| {}).await;
    edge.add_protected(&secret("prices"), PASSWORD).await;
    let head = format!(
        "POST /prices HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Expect: 100-continue\r\nConnection: close\r\nContent-Length: 30\r\n\r\n"
    );
    let begun = || {
        let mut stream = edge.connect();
        stream.write_all(head.as_bytes()).unwrap();
        // The edge asks for the body when it is about to read it.
        let mut answer = [0; 25];
        stream.read_exact(&mut answer).unwrap();
        (stream, String::from_utf8_lossy(&answer).into_owned())
    };
    let mut waiting = Vec::new();
    for _ in 0..4 {
        let (stream, answer) = begun();
        assert!(answer.starts_with("HTTP/1.1 100 "), "{answer}");
        waiting.push(stream);
    }
    let (_, refused) = begun();
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    assert_eq!(edge.get("/prices").status, 200);
    // Whoever leaves makes room.
    let mut left = waiting.pop().unwrap();
    left.write_all(b"password=").unwrap();
    left.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    left.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 ") && !answer.contains("secret"), "{answer}");
    assert_eq!(edge.send_password("/prices", PASSWORD).status, 303);
}

/// D54: forms at addresses without a link are misses, so they find no link faster than visits do.
#[tokio::test(flavor = "multi_thread")]
async fn d54_forms_at_addresses_without_a_link_are_misses() {
    let edge = Edge::start_with(InMemory::default(), options(3), |_| {}).await;
    edge.add_protected(&secret("prices"), PASSWORD).await;
    edge.add_protected(&Redirect { is_active: false, ..secret("inactive") }, PASSWORD).await;
    edge.add(&samples::redirect("sale")).await;
    for path in ["/none", "/inactive", "/other"] {
        assert_eq!(edge.send_password("/prices", "wrong").status, 403, "no miss");
        assert_eq!(edge.send_password("/sale", PASSWORD).status, 405, "no miss");
        assert_eq!(edge.send_password(path, PASSWORD).status, 404);
    }
    assert_eq!(edge.send_password("/none", PASSWORD).status, 429);
    // What is in memory goes on opening.
    assert_eq!(edge.send_password("/prices", PASSWORD).status, 303);
}
