//! HTTP/1.1 from correct clients and from others.

use crate::harness::{Scene, get, patient};

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let scene = Scene::start(patient(), 10);
    let mut client = scene.connect().await;
    let paths: Vec<_> = (0..500).map(|number| format!("/{number}")).collect();
    client.send(paths.iter().map(|path| get(path)).collect::<String>()).await;
    for path in &paths {
        assert_eq!(&client.answer().await.body, path);
    }
}

#[tokio::test]
async fn answer_does_not_wait_for_the_next_request() {
    let scene = Scene::start(patient(), 10);
    let mut client = scene.connect().await;
    client.send(get("/first") + &get("/wait")).await;
    assert_eq!(client.answer().await.body, "/first");
    scene.leave.add_permits(1);
    assert_eq!(client.answer().await.body, "waited");
}

#[tokio::test]
async fn requests_may_arrive_in_any_pieces() {
    let scene = Scene::start(patient(), 10);
    let request = "POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    for size in [1, 2, 3, 7, 40] {
        let mut client = scene.connect().await;
        client.stream.set_nodelay(true).unwrap();
        for _ in 0..2 {
            for piece in request.as_bytes().chunks(size) {
                client.send(piece).await;
            }
            assert_eq!(client.answer().await.body, "abcde", "in pieces of {size}");
        }
    }
}

#[tokio::test]
async fn small_unread_body_keeps_the_connection_open() {
    let scene = Scene::start(patient(), 10);
    let mut client = scene.connect().await;
    for body in ["content-length: 3\r\n\r\nabc", "transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"] {
        client.send(format!("POST /unread HTTP/1.1\r\nhost: a\r\n{body}")).await;
        let answer = client.answer().await;
        assert_eq!((answer.status, answer.head.contains("close")), (200, false));
        assert_eq!(client.get("/next").await.body, "/next");
    }
}

#[tokio::test]
async fn bytes_after_an_incomplete_body_are_never_a_request() {
    let scene = Scene::start(patient(), 10);
    let mut client = scene.connect().await;
    let large = "x".repeat(100_000);
    client.send(format!("POST /unread HTTP/1.1\r\nhost: a\r\ncontent-length: 200000\r\n\r\n{large}")).await;
    client.send(get("/smuggled")).await;
    let answer = client.answer().await;
    assert_eq!((answer.body.as_str(), answer.head.contains("connection: close")), ("/unread", true));
    client.until_closed().await;
    assert_eq!(scene.calls(), 1);
}

#[tokio::test]
async fn service_that_asks_for_a_body_triggers_100_continue() {
    let scene = Scene::start(patient(), 10);
    let head = |path: &str| {
        format!("POST {path} HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n")
    };
    let mut client = scene.connect().await;
    client.send(head("/echo")).await;
    assert_eq!(client.until_empty_line().await.unwrap(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("hello").await;
    assert_eq!(client.answer().await.body, "hello");
    client.send(head("/unread")).await;
    let answer = client.answer().await;
    assert_eq!((answer.body.as_str(), answer.head.contains("connection: close")), ("/unread", true));
}

#[tokio::test]
async fn malformed_http_is_refused_and_closed() {
    let scene = Scene::start(patient(), 10);
    for nonsense in [
        "\u{16}\u{3}\u{1}hello",
        "GET /\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: +5\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
    ] {
        // The same after a request whose method affects the form of its own answer.
        for before in ["", "HEAD / HTTP/1.1\r\nhost: a\r\n\r\n"] {
            let mut client = scene.connect().await;
            client.send(format!("{before}{nonsense}")).await;
            if !before.is_empty() {
                assert!(client.until_empty_line().await.unwrap().starts_with("HTTP/1.1 200"));
            }
            let answer = client.answer().await;
            assert_eq!((answer.status, answer.body.as_str()), (400, "NotHttp"), "{nonsense:?}");
            assert!(answer.head.contains("connection: close"));
            client.until_closed().await;
        }
    }
}

#[tokio::test]
async fn connections_close_on_request_of_the_client() {
    let scene = Scene::start(patient(), 10);
    for request in ["GET /a HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", "GET /a HTTP/1.0\r\n\r\n"] {
        let mut client = scene.connect().await;
        client.send(request).await;
        assert_eq!(client.answer().await.body, "/a");
        assert_eq!(client.until_closed().await, 0);
    }
}

/// RFC 9112, section 6.1.
#[tokio::test]
async fn clients_of_http_1_0_get_no_chunks() {
    let scene = Scene::start(patient(), 10);
    for connection in ["", "connection: keep-alive\r\n"] {
        let mut client = scene.connect().await;
        client.send(format!("GET /stream HTTP/1.0\r\n{connection}\r\n")).await;
        let head = client.until_empty_line().await.unwrap();
        assert!(!head.contains("transfer-encoding") && !head.contains("keep-alive"), "{head}");
        assert_eq!(client.everything().await, "one,two");
        let mut client = scene.connect().await;
        client.send(format!("HEAD /stream HTTP/1.0\r\n{connection}\r\n")).await;
        let answer = client.everything().await;
        assert!(answer.ends_with("\r\n\r\n") && !answer.contains("transfer-encoding"), "{answer}");
    }
    let mut client = scene.connect().await;
    client.send(get("/stream")).await;
    assert!(client.until_empty_line().await.unwrap().contains("transfer-encoding: chunked"));
}

/// The client has no other sign that the answer is incomplete.
#[tokio::test]
async fn incomplete_answer_to_http_1_0_ends_in_a_reset() {
    use tokio::io::AsyncReadExt as _;
    let scene = Scene::start(patient(), 10);
    let mut client = scene.connect().await;
    client.send("GET /broken HTTP/1.0\r\n\r\n").await;
    let ended = client.stream.read_to_end(&mut Vec::new()).await;
    assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn body_of_an_answer_to_head_is_not_made() {
    let scene = Scene::start(patient(), 10);
    let mut client = scene.connect().await;
    client.send("HEAD /stream HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert!(client.until_empty_line().await.unwrap().contains("transfer-encoding: chunked"));
    assert_eq!(client.get("/a").await.body, "/a");
    assert_eq!(scene.seen.parts.load(std::sync::atomic::Ordering::SeqCst), 0);
}

#[tokio::test]
async fn client_that_closes_its_side_still_gets_answers() {
    use tokio::io::AsyncWriteExt as _;
    let scene = Scene::start(patient(), 10);
    let mut client = scene.connect().await;
    client.send(get("/one") + &get("/two")).await;
    client.stream.shutdown().await.unwrap();
    assert_eq!(client.answer().await.body, "/one");
    assert_eq!(client.answer().await.body, "/two");
    assert_eq!(client.until_closed().await, 0);
}

/// Most clients send the head in one packet and the body in the next.
#[tokio::test]
async fn small_unread_body_in_its_own_packet_keeps_the_connection() {
    let scene = Scene::start(patient(), 10);
    let mut client = scene.connect().await;
    client.stream.set_nodelay(true).unwrap();
    client.send("POST /wait HTTP/1.1\r\nhost: a\r\ncontent-length: 10000\r\n\r\n").await;
    while scene.calls() == 0 {
        tokio::task::yield_now().await;
    }
    client.send("x".repeat(10_000)).await;
    scene.leave.add_permits(1);
    let answer = client.answer().await;
    assert_eq!((answer.body.as_str(), answer.head.contains("close")), ("waited", false));
    assert_eq!(client.get("/next").await.body, "/next");
}

/// Closing with unread data resets the connection, and the client could lose the answer.
#[tokio::test]
async fn last_answer_survives_data_sent_after_the_request() {
    let scene = Scene::start(patient(), 10);
    for _ in 0..20 {
        let mut client = scene.connect().await;
        client.stream.set_nodelay(true).unwrap();
        client.send("GET /large HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await;
        client.send("\r\n").await;
        assert_eq!(client.answer().await.body.len(), crate::harness::LARGE);
    }
}
