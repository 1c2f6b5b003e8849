//! The listener over a socket: behaviour that only a connection shows.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::Application;
use signpost_app::admission::AccountBounds;
use signpost_http::{ApiOptions, ApiServer};
use signpost_listener::Times;
use signpost_memory::InMemory;
use tokio::net::TcpSocket;
use tokio::task::spawn_blocking;

use crate::harness::{Api, is_id};

/// Longer than a busy machine pauses a client.
const LONG: Duration = Duration::from_mins(1);

fn start() -> (ApiServer, SocketAddr) {
    start_with(Arc::new(InMemory::default().application()))
}

fn start_with(app: Arc<Application>) -> (ApiServer, SocketAddr) {
    start_on(TcpListener::bind("127.0.0.1:0").unwrap(), app)
}

/// Starts the API with deadlines that a client meets even if a busy machine pauses it.
fn start_on(listener: TcpListener, app: Arc<Application>) -> (ApiServer, SocketAddr) {
    let options =
        ApiOptions { workers: 1.try_into().unwrap(), connections: 100, reads_proxy_protocol: false };
    let lingering = Duration::from_secs(30);
    let times = Times { head: LONG, body: LONG, stalled: LONG, lingering, ..Times::default() };
    let server = ApiServer::start_with_times(listener, app, options, times).unwrap();
    let address = server.address();
    (server, address)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream
}

/// Sends bytes and reads until the server closes.
async fn exchange(address: SocketAddr, bytes: Vec<u8>) -> String {
    let exchange = move || {
        let mut stream = connect(address);
        stream.write_all(&bytes).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8(answer).unwrap()
    };
    spawn_blocking(exchange).await.unwrap()
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: api\r\nConnection: close\r\n\r\n")
}

/// The status and the body of the last response in `answer`.
fn last(answer: &str) -> (u16, serde_json::Value) {
    let is_head = |start: &usize| answer[start + 9..].starts_with(|next: char| next.is_ascii_digit());
    let start = answer.rmatch_indices("HTTP/1.1 ").map(|(start, _)| start).find(is_head).unwrap();
    let (head, body) = answer[start..].split_once("\r\n\r\n").unwrap();
    let length: usize =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
    assert_eq!(length, body.len());
    (head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap())
}

#[tokio::test]
async fn a_head_request_gets_the_length_and_no_body() {
    let (server, address) = start();
    let answer = exchange(address, get("/health/live").replace("GET", "HEAD").into_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("content-length: 15\r\n") && answer.ends_with("\r\n\r\n"), "{answer}");
    server.stop(true).await.unwrap();
}

/// The listener refuses these before the API sees them.
#[tokio::test]
async fn invalid_http_gets_the_error_envelope() {
    let (server, address) = start();
    let long_header = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(300_000));
    for bytes in [
        b"hello\r\n\r\n".as_slice(),
        b"GET /v1/redirects/\xff HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /v1/redirects/é HTTP/1.1\r\nHost: a\r\n\r\n".as_bytes(),
        b"GET /v1/redirects?q=\xff HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /v1/redirects/\0 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /v1/redirects HTTP/1.1\r\n\r\n",
        b"GET /v1/redirects HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST /v1/groups HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"POST /v1/groups HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\n{}",
        long_header.as_bytes(),
        // After a request that was answered.
        b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\nhello\r\n\r\n",
    ] {
        let answer = exchange(address, bytes.to_vec()).await;
        let (status, body) = last(&answer);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]);
        assert_eq!((status, &body["error"]["code"]), (400, &"invalid_request".into()), "{shown}: {answer}");
        let id = body["error"]["request_id"].as_str().unwrap();
        assert!(is_id(id, "req_") && answer.contains(&format!("x-request-id: {id}\r\n")), "{answer}");
        assert!(answer.contains("connection: close\r\n") && answer.contains("date: "), "{answer}");
    }
    server.stop(true).await.unwrap();
}

#[tokio::test]
async fn d7_browsers_are_led_to_the_documentation() {
    let (server, address) = start();
    for (line, accept, leads_on) in [
        ("GET /", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", true),
        ("HEAD /", "application/json, text/html", true),
        ("GET /docs/", "*/*", true),
        ("GET /", "*/*", false),
        ("GET /", "application/json", false),
        ("POST /", "text/html", false),
        ("GET /nothing", "text/html", false),
    ] {
        let request = format!(
            "{line} HTTP/1.1\r\nHost: a\r\nAccept: {accept}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        let answer = exchange(address, request.into_bytes()).await;
        assert_eq!(answer.starts_with("HTTP/1.1 302 "), leads_on, "{line} {accept}: {answer}");
        assert_eq!(answer.contains("location: /docs\r\n"), leads_on, "{line} {accept}: {answer}");
        assert_eq!(answer.starts_with("HTTP/1.1 404 "), !leads_on, "{line} {accept}: {answer}");
    }
    server.stop(true).await.unwrap();
}

/// More answers than the socket accepts at once, so that they are sent in pieces, and a refusal after them.
#[tokio::test]
async fn the_envelope_follows_answers_that_are_sent_in_pieces() {
    let (server, address) = start();
    let request = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n";
    let send = move || {
        let mut stream = connect(address);
        let mut sender = stream.try_clone().unwrap();
        // The client sends without reading, until the server cannot write any more answers.
        let sending = std::thread::spawn(move || {
            sender.write_all(request.repeat(8).as_bytes()).unwrap();
            sender.write_all(b"hello\r\n\r\n").unwrap();
        });
        // The client has no signal for a full buffer of the server.
        std::thread::sleep(Duration::from_millis(200));
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        sending.join().unwrap();
        String::from_utf8(answer).unwrap()
    };
    let answer = spawn_blocking(send).await.unwrap();
    assert!(answer.len() > 4_000_000, "{}", answer.len());
    assert_eq!(answer.matches("HTTP/1.1 200 OK\r\n").count(), 8);
    assert_eq!(answer.matches("HTTP/1.1 400 Bad Request\r\n").count(), 1);
    assert_eq!(answer.matches("x-request-id: req_").count(), 9);
    assert_eq!(last(&answer).0, 400);
    server.stop(true).await.unwrap();
}

#[tokio::test]
async fn a_path_with_broken_encoding_is_routed_like_any_other() {
    let (server, address) = start();
    for (path, status) in [("/%zz", 404), ("/%", 404), ("/%ff", 404), ("/%00", 404), ("/v1/%zz", 401)] {
        let answer = exchange(address, get(path).into_bytes()).await;
        assert_eq!(last(&answer).0, status, "{path}");
    }
    server.stop(true).await.unwrap();
}

/// A client that sends its whole request before it reads must get an answer, not a reset.
#[tokio::test]
async fn a_client_gets_the_answer_despite_an_unread_body() {
    let (server, address) = start();
    for (path, status) in [("/nothing", 404), ("/v1/groups", 401)] {
        let mut bytes =
            format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 4194304\r\n\r\n").into_bytes();
        bytes.resize(bytes.len() + 4_194_304, b'x');
        let send = move || answer_to(connect(address), &bytes);
        assert_eq!(last(&spawn_blocking(send).await.unwrap()).0, status, "{path}");
    }
    server.stop(true).await.unwrap();
}

/// The headers are enough to refuse these, and the body never arrives. An answer that waits for it would differ.
#[tokio::test]
async fn d8_r26_unwanted_and_oversized_bodies_are_refused_before_they_arrive() {
    let api = Api::start().await;
    let (server, address) = start_with(Arc::clone(&api.app));
    let key = format!("Authorization: Bearer {}\r\n", api.key);
    for (line, headers, status, code) in [
        ("GET /health/live", "Content-Length: 1048576\r\n", 400, "invalid_request"),
        ("GET /health/ready", "Transfer-Encoding: chunked\r\n", 400, "invalid_request"),
        ("GET /docs", "Content-Length: 1\r\nContent-Type: application/json\r\n", 400, "invalid_request"),
        ("GET /tls-allowed?domain=a.example", "Content-Length: 1\r\n", 400, "invalid_request"),
        ("GET /v1/redirects", &format!("{key}Content-Length: 1\r\n"), 400, "invalid_request"),
        (
            "POST /v1/groups",
            &format!("{key}Content-Type: application/json\r\nContent-Length: 1048577\r\n"),
            413,
            "payload_too_large",
        ),
    ] {
        let head = format!("{line} HTTP/1.1\r\nHost: a\r\n{headers}\r\n");
        let answer = spawn_blocking(move || answer_to(connect(address), head.as_bytes())).await.unwrap();
        let (is, body) = last(&answer);
        assert_eq!((is, &body["error"]["code"]), (status, &code.into()), "{line}: {answer}");
        if status == 400 {
            let details = &body["error"]["details"];
            assert_eq!(details[0]["field"], "body", "{line}: {answer}");
            assert_eq!(details[0]["code"], "unknown_field", "{line}: {answer}");
        }
    }
    server.stop(true).await.unwrap();
}

/// A chunked body is refused when it exceeds the bound, before it ends.
#[tokio::test]
async fn d10_r26_a_chunked_body_is_refused_as_soon_as_it_is_too_large() {
    let api = Api::start().await;
    let (server, address) = start_with(Arc::clone(&api.app));
    let mut bytes = format!(
        "POST /v1/groups HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\n100001\r\n",
        api.key
    )
    .into_bytes();
    bytes.resize(bytes.len() + 0x10_0001, b' ');
    let answer = spawn_blocking(move || answer_to(connect(address), &bytes)).await.unwrap();
    let (status, body) = last(&answer);
    assert_eq!((status, &body["error"]["code"]), (413, &"payload_too_large".into()), "{answer}");
    server.stop(true).await.unwrap();
}

/// Sends bytes and reads one error. Does not wait for the end of the connection: the server may read until the client
/// closes.
fn answer_to(mut stream: TcpStream, bytes: &[u8]) -> String {
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"}}") {
        let mut more = [0; 1024];
        let read = stream.read(&mut more).unwrap();
        assert_ne!(read, 0, "{}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&more[..read]);
    }
    String::from_utf8(answer).unwrap()
}

/// Requests of disconnected clients release their permits.
#[tokio::test]
async fn r46_a_cancelled_request_is_no_longer_in_flight() {
    let account_bounds = AccountBounds { requests: 2, searches: 1 };
    let api = Api::on(InMemory { account_bounds, ..InMemory::default() }, |_| {}).await;
    let (server, address) = start_with(Arc::clone(&api.app));
    let head = |line: &str| format!("{line} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n", api.key);
    let half =
        format!("{}Content-Type: application/json\r\nContent-Length: 12\r\n\r\n{{", head("POST /v1/groups"));
    let whole = format!("{}Connection: close\r\n\r\n", head("GET /v1/account"));
    let until = async |status| loop {
        let answer = exchange(address, whole.clone().into_bytes()).await;
        if last(&answer).0 == status {
            return answer;
        }
    };
    let begin = move || {
        [(); 2].map(|()| {
            let mut running = connect(address);
            running.write_all(half.as_bytes()).unwrap();
            running
        })
    };
    let running = spawn_blocking(begin).await.unwrap();
    assert!(until(429).await.contains("retry-after: 1\r\n"));
    drop(running);
    until(200).await;
    server.stop(true).await.unwrap();
}

/// D64: a stop finishes the running requests.
#[tokio::test]
async fn d64_a_graceful_stop_waits_for_running_requests_and_accepts_no_more() {
    let api = Api::start().await;
    // Keeps the port bound after the stop, so that no other program can listen there. Two sockets share a port only if both
    // allow it; the standard library sets this for listeners.
    let port = TcpSocket::new_v4().unwrap();
    port.set_reuseaddr(true).unwrap();
    port.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let listener = TcpListener::bind(port.local_addr().unwrap()).unwrap();
    let (server, address) = start_on(listener, Arc::clone(&api.app));
    // A request without a key is answered before its body arrives, so this one has a key.
    let head = format!(
        "POST /v1/groups HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: 12\r\n\r\n{{",
        api.key
    );
    let begin = move || {
        let mut running = connect(address);
        running.write_all(head.as_bytes()).unwrap();
        running.flush().unwrap();
        running
    };
    let mut running = spawn_blocking(begin).await.unwrap();
    // The single worker answers this request after it started the other one.
    exchange(address, get("/health/live").into_bytes()).await;

    let stopping = tokio::spawn(server.stop(true));
    while TcpStream::connect(address).is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!stopping.is_finished());
    let finish = move || {
        running.write_all(b"\"name\":\"a\"}").unwrap();
        let mut answer = String::new();
        running.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = spawn_blocking(finish).await.unwrap();
    assert_eq!(last(&answer).0, 201);
    assert!(answer.contains("connection: close\r\n"), "{answer}");
    stopping.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_stop_does_not_wait_for_idle_connections() {
    let (server, address) = start();
    let idle = move || {
        let mut stream = connect(address);
        stream.write_all(b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        assert_eq!(&head, b"HTTP/1.1 200");
        stream
    };
    let idle = spawn_blocking(idle).await.unwrap();
    let start = Instant::now();
    server.stop(true).await.unwrap();
    // A stop that waits for the connection waits for 30 seconds.
    assert!(start.elapsed() < Duration::from_secs(25), "{:?}", start.elapsed());
    drop(idle);
}

#[tokio::test]
async fn a_running_listener_has_not_ended() {
    let (mut server, address) = start();
    let ended = tokio::time::timeout(Duration::from_millis(50), server.ended()).await;
    assert!(ended.is_err());
    assert_eq!(last(&exchange(address, get("/health/live").into_bytes()).await).0, 200);
    server.stop(false).await.unwrap();
}
