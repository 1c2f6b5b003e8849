//! D183, R25, R26: clients that send TLS records in parts, or more of them than a handshake needs.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use signpost_listener::{ListenerOptions, Times};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::harness::{Answer, Client, LONG, SHORT, patient};
use crate::tls::{HOST, TlsScene, same};

/// The largest plain text of one record.
const LARGEST: usize = 16 * 1024;

/// A socket that can keep encrypted bytes back, so that a test sends them as it likes.
struct Holding {
    socket: TcpStream,
    /// Whether the socket sends only until it has read something, as the `ClientHello`.
    only_hello: bool,
    holds: bool,
    held: Vec<u8>,
}

impl AsyncRead for Holding {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.socket).poll_read(cx, buffer))?;
        self.holds |= self.only_hello;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Holding {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.holds {
            self.held.extend_from_slice(bytes);
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

type HoldingClient = Client<TlsStream<Holding>>;

async fn connect(tls: &TlsScene, only_hello: bool) -> HoldingClient {
    let socket = TcpStream::connect(tls.scene.address()).await.unwrap();
    let holding = Holding { socket, only_hello, holds: false, held: Vec::new() };
    let name = ServerName::try_from(HOST).unwrap();
    let connected = TlsConnector::from(Arc::clone(&tls.client)).connect(name, holding);
    Client::over(tokio::time::timeout(LONG, connected).await.unwrap().unwrap())
}

/// Encrypts plain text. Returns it with everything that was kept back before.
async fn encrypted(client: &mut HoldingClient, plain: &str) -> Vec<u8> {
    client.stream.get_mut().0.holds = true;
    client.send(plain).await;
    let holding = client.stream.get_mut().0;
    (holding.only_hello, holding.holds) = (false, false);
    std::mem::take(&mut holding.held)
}

/// Sends encrypted bytes. Fails if the listener has closed the connection.
async fn send_encrypted(client: &mut HoldingClient, bytes: &[u8]) -> io::Result<()> {
    client.stream.get_mut().0.socket.write_all(bytes).await
}

/// A request with a head of this size.
fn get_of(bytes: usize) -> String {
    let head = |filling: &str| format!("GET /a HTTP/1.1\r\nhost: {HOST}\r\nx: {filling}\r\n\r\n");
    head(&"y".repeat(bytes - head("").len()))
}

#[tokio::test]
async fn d183_a_large_request_may_come_together_with_the_end_of_the_handshake() {
    let tls = TlsScene::start(same);
    for late in [0, 1, 8_000] {
        let mut client = connect(&tls, true).await;
        let bytes = encrypted(&mut client, &get_of(LARGEST)).await;
        let (first, rest) = bytes.split_at(bytes.len() - late);
        send_encrypted(&mut client, first).await.unwrap();
        if late > 0 {
            tokio::time::sleep(SHORT).await;
            send_encrypted(&mut client, rest).await.unwrap();
        }
        assert_eq!(client.answer().await.status, 200, "{late} bytes came later");
    }
}

#[tokio::test]
async fn r25_an_unfinished_record_has_the_deadline_of_a_head() {
    let tls = TlsScene::start(|options| ListenerOptions {
        times: Times { head: Duration::from_millis(500), ..patient() },
        ..options
    });
    for missing in [1, LARGEST] {
        let begun = Instant::now();
        let answer = loop {
            if let Some(answer) = answer_to_a_record_in_parts(&tls, missing).await {
                break answer;
            }
            assert!(begun.elapsed() < LONG, "a record without its last {missing} bytes gets no answer");
        };
        assert_eq!((answer.status, answer.body.as_str()), (408, "HeadTooSlow"), "{missing}");
    }
}

/// Sends a request together with a record that lacks its last bytes, and reads the answer to the record. `None` if the connection
/// closes before, as it does if a busy client is too late with its request.
async fn answer_to_a_record_in_parts(tls: &TlsScene, missing: usize) -> Option<Answer> {
    let mut client = connect(tls, false).await;
    let mut bytes = encrypted(&mut client, &get_of(LARGEST)).await;
    bytes.extend(encrypted(&mut client, &get_of(100)).await);
    bytes.extend(encrypted(&mut client, &get_of(LARGEST)).await);
    send_encrypted(&mut client, &bytes[..bytes.len() - missing]).await.ok()?;
    for _ in 0..2 {
        assert_eq!(client.exchange("").await?.status, 200);
    }
    client.exchange("").await
}

#[tokio::test]
async fn r26_unfinished_records_share_the_memory_of_heads() {
    let clients = 10;
    let tls = TlsScene::start(|options| ListenerOptions { head_memory: 3 * LARGEST, ..options });
    let mut held = Vec::new();
    for _ in 0..clients {
        let mut client = connect(&tls, false).await;
        let bytes = encrypted(&mut client, &get_of(LARGEST)).await;
        let (begun, last) = bytes.split_at(bytes.len() - 1);
        send_encrypted(&mut client, begun).await.unwrap();
        // A small head needs no room of others, and shows that the listener has read the record.
        let mut other = connect(&tls, false).await;
        other.send(get_of(2_000)).await;
        assert_eq!(other.answer().await.status, 200);
        held.push((client, last.to_vec()));
    }
    let mut refused = 0;
    for (client, last) in &mut held {
        // A refused client may notice it when it sends.
        let _ = send_encrypted(client, last).await;
        let answer = client.answer().await;
        refused += usize::from((answer.status, answer.body.as_str()) == (503, "Overloaded"));
    }
    assert!((5..clients).contains(&refused), "{refused} of {clients} records had no room");
}
