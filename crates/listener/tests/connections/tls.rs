//! D180 to D184, D193, D196: HTTPS on a listener.

use std::io;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix_http::header::HeaderValue;
use rcgen::{CertificateParams, KeyPair};
use signpost_listener::{CertificateNames, ListenerOptions, Proxies, Times, TlsOptions, TlsSite, TlsSites};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, HandshakeKind, RootCertStore, ServerConfig};

use crate::harness::{Client, LARGE, LONG, SHORT, Scene, patient};
use crate::tls_challenges::OneChallenge;

pub(crate) const HOST: &str = "go.example.test";

/// One certificate for [`HOST`], which can be withdrawn.
struct OneSite {
    site: TlsSite,
    is_served: AtomicBool,
}

impl TlsSites for OneSite {
    fn site(&self, server_name: Option<&str>) -> Option<TlsSite> {
        let is_known = self.site.names.cover(server_name.unwrap_or(HOST));
        (is_known && self.is_served.load(Ordering::SeqCst)).then(|| self.site.clone())
    }
}

/// A listener with TLS, and clients that trust its certificate.
pub(crate) struct TlsScene {
    pub(crate) scene: Scene,
    sites: Arc<OneSite>,
    pub(crate) client: Arc<ClientConfig>,
}

impl TlsScene {
    pub(crate) fn start(change: impl FnOnce(ListenerOptions) -> ListenerOptions) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([HOST.to_owned()]).unwrap().self_signed(&key).unwrap();
        let chain: Vec<CertificateDer<'static>> = vec![certificate.der().clone()];
        let secret = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain.clone(), secret)
            .unwrap();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.ticketer = ring::Ticketer::new().unwrap();
        let site = TlsSite { config: Arc::new(config), names: Arc::new(CertificateNames::new([HOST])) };
        let sites = Arc::new(OneSite { site, is_served: AtomicBool::new(true) });
        let options = ListenerOptions {
            times: patient(),
            proxies: Proxies::new(|_| true),
            tls: Some(TlsOptions {
                sites: Arc::<OneSite>::clone(&sites),
                challenges: Some(Arc::new(OneChallenge::new())),
                strict_transport_security: Some(HeaderValue::from_static("max-age=300")),
            }),
            ..ListenerOptions::new("test", NonZeroUsize::MIN)
        };
        let mut roots = RootCertStore::empty();
        roots.add(chain[0].clone()).unwrap();
        let mut client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        client.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Self { scene: Scene::start_with(&change(options)), sites, client: Arc::new(client) }
    }

    async fn shake_hands(&self, name: &str) -> io::Result<Client<TlsStream<TcpStream>>> {
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let stream = TcpStream::connect(self.scene.address()).await?;
        let connected = TlsConnector::from(Arc::clone(&self.client)).connect(name, stream);
        tokio::time::timeout(LONG, connected).await.unwrap().map(Client::over)
    }

    async fn connect(&self) -> Client<TlsStream<TcpStream>> {
        self.shake_hands(HOST).await.unwrap()
    }
}

pub(crate) fn same(options: ListenerOptions) -> ListenerOptions {
    options
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: {HOST}\r\n\r\n")
}

/// A record that claims a `ClientHello` of 65,000 bytes, and its beginning.
fn claims_much() -> Vec<u8> {
    let mut hello = vec![0x16, 3, 1, 0x40, 0, 1, 0, 0xfd, 0xe8, 3, 3];
    hello.resize(5 + 0x4000, 0);
    hello
}

#[tokio::test]
async fn d182_http_1_1_is_spoken_although_the_client_prefers_http_2() {
    let tls = TlsScene::start(same);
    let mut client = tls.connect().await;
    assert_eq!(client.stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    client.send(get("/a") + &get("/b")).await;
    for path in ["/a", "/b"] {
        let answer = client.answer().await;
        assert_eq!((answer.status, answer.body.as_str()), (200, path));
        assert!(answer.head.contains("strict-transport-security: max-age=300\r\n"), "{}", answer.head);
    }
}

#[tokio::test]
async fn d182_large_bodies_arrive_whole_in_both_directions() {
    let tls = TlsScene::start(same);
    let mut client = tls.connect().await;
    client.send(get("/large")).await;
    assert_eq!(client.answer().await.body.len(), LARGE);
    let body = "x".repeat(1_000_000);
    client
        .send(format!("POST /echo HTTP/1.1\r\nhost: {HOST}\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
        .await;
    assert_eq!(client.answer().await.body, body);
}

#[tokio::test]
async fn d182_the_last_answer_ends_with_a_farewell() {
    let tls = TlsScene::start(|options| ListenerOptions {
        times: Times { lingering: SHORT, ..patient() },
        ..options
    });
    let mut client = tls.connect().await;
    // The rest of the body stays unread, so the listener reads on for a while.
    client
        .send(format!("GET /a HTTP/1.1\r\nhost: {HOST}\r\ncontent-length: 9\r\nconnection: close\r\n\r\nx"))
        .await;
    assert_eq!(client.answer().await.status, 200);
    // Without a farewell this would be an error: somebody on the way could have cut the answer off.
    assert_eq!(client.stream.read(&mut [0; 16]).await.unwrap(), 0);
}

#[tokio::test]
async fn d181_a_host_without_this_certificate_is_misdirected() {
    let tls = TlsScene::start(same);
    for target in [
        "GET /a HTTP/1.1\r\nhost: other.example.test",
        "GET http://other.example.test/a HTTP/1.1\r\nhost: go.example.test",
    ] {
        let mut client = tls.connect().await;
        client.send(format!("{target}\r\n\r\n")).await;
        let answer = client.answer().await;
        assert_eq!((answer.status, answer.body.as_str()), (421, "Misdirected"));
    }
    assert_eq!(tls.scene.calls(), 0);
    let mut client = tls.connect().await;
    client.send("GET /a HTTP/1.1\r\nhost: GO.example.test.:8443\r\n\r\n").await;
    assert_eq!(client.answer().await.status, 200);
}

#[tokio::test]
async fn d181_a_refusal_knows_the_host_of_the_handshake() {
    let tls = TlsScene::start(same);
    let mut client = tls.connect().await;
    client.send("nonsense\r\n\r\n").await;
    let answer = client.answer().await;
    assert_eq!(answer.status, 400);
    assert!(answer.head.contains("x-server-name: go.example.test\r\n"), "{}", answer.head);
}

#[tokio::test]
async fn d184_an_unknown_name_is_refused_without_a_signature() {
    let tls = TlsScene::start(same);
    let Err(error) = tls.shake_hands("other.example.test").await else { panic!("there is a certificate") };
    assert!(error.to_string().contains("UnrecognisedName"), "{error}");
}

#[tokio::test]
async fn d193_a_ticket_of_a_removed_name_is_refused() {
    let tls = TlsScene::start(same);
    for (is_served, kind) in
        [(true, Some(HandshakeKind::Full)), (true, Some(HandshakeKind::Resumed)), (false, None)]
    {
        tls.sites.is_served.store(is_served, Ordering::SeqCst);
        let shaken = tls.shake_hands(HOST).await;
        assert_eq!(shaken.as_ref().ok().and_then(|client| client.stream.get_ref().1.handshake_kind()), kind);
        if let Ok(mut client) = shaken {
            // The ticket arrives with the first answer.
            client.send(get("/a")).await;
            assert_eq!(client.answer().await.status, 200);
        }
    }
}

#[tokio::test]
async fn d183_a_client_hello_beyond_16_kib_closes() {
    let tls = TlsScene::start(same);
    let mut client = tls.scene.connect().await;
    let taken = client.write_until_refused(&claims_much(), 64 * 1024 * 1024).await;
    assert!(taken.is_some(), "the listener read on");
}

#[tokio::test]
async fn d196_a_handshake_that_does_not_end_closes() {
    let tls = TlsScene::start(|options| ListenerOptions {
        times: Times { handshake: SHORT, ..patient() },
        ..options
    });
    for begun in [&b""[..], &[0x16], &claims_much()[..1_000]] {
        let mut client = tls.scene.connect().await;
        client.send(begun).await;
        assert_eq!(client.until_closed().await, 0);
    }
    // Something else than TLS gets no answer that it could read, unless as a TLS alert.
    let mut client = tls.scene.connect().await;
    client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert!(client.until_closed().await <= 7);
}

#[tokio::test]
async fn d196_unfinished_handshakes_take_a_quarter_of_the_connections() {
    let tls = TlsScene::start(|options| ListenerOptions { connections: 40, ..options });
    let mut silent = Vec::new();
    for _ in 0..30 {
        silent.push(tls.scene.connect().await);
    }
    // The oldest make room.
    let mut client = tls.connect().await;
    client.send(get("/a")).await;
    assert_eq!(client.answer().await.status, 200);
    for mut evicted in silent.drain(..20) {
        assert_eq!(evicted.until_closed().await, 0);
    }
}

#[tokio::test]
async fn d196_one_address_has_64_unfinished_handshakes() {
    let tls =
        TlsScene::start(|options| ListenerOptions { proxies: Proxies::new(|_: IpAddr| false), ..options });
    let mut silent = Vec::new();
    for _ in 0..64 {
        silent.push(tls.scene.connect().await);
    }
    let mut refused = tls.scene.connect().await;
    assert_eq!(refused.until_closed().await, 0);
    silent.pop();
    // The listener notices the end soon, but not at once.
    let mut client = loop {
        match tls.shake_hands(HOST).await {
            Ok(client) => break client,
            Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    };
    client.send(get("/a")).await;
    assert_eq!(client.answer().await.status, 200);
}

#[tokio::test]
async fn d196_connections_beyond_the_limit_get_no_plain_text() {
    let tls = TlsScene::start(|options| ListenerOptions { connections: 2, ..options });
    let mut running = Vec::new();
    for _ in 0..2 {
        let mut client = tls.connect().await;
        client.send(get("/wait")).await;
        running.push(client);
    }
    while tls.scene.calls() < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let mut refused = tls.scene.connect().await;
    assert_eq!(refused.until_closed().await, 0);
    tls.scene.leave.add_permits(2);
    for mut client in running {
        assert_eq!(client.answer().await.body, "waited");
    }
}

#[tokio::test]
async fn d196_a_client_that_does_not_read_is_cut_off() {
    let tls = TlsScene::start(|options| ListenerOptions {
        times: Times { stalled: Duration::from_millis(300), ..patient() },
        ..options
    });
    let mut client = tls.connect().await;
    client.send(get("/large")).await;
    while tls.scene.calls() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let mut read = 0;
    let mut part = vec![0; 64 * 1024];
    let error = loop {
        match client.stream.read(&mut part).await {
            Ok(0) => panic!("the answer looks complete"),
            Ok(more) => read += more,
            Err(error) => break error,
        }
    };
    assert!(read < LARGE, "{error}");
}

#[tokio::test]
async fn d64_a_graceful_stop_finishes_requests_over_tls() {
    let tls = TlsScene::start(same);
    let (mut idle, mut running) = (tls.connect().await, tls.connect().await);
    idle.send(get("/a")).await;
    assert_eq!(idle.answer().await.status, 200);
    running.send(get("/wait")).await;
    while tls.scene.calls() < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let Scene { listener, leave, .. } = tls.scene;
    let stopping = tokio::spawn(listener.stop(true));
    assert_eq!(idle.stream.read(&mut [0; 16]).await.unwrap(), 0, "with a farewell");
    leave.add_permits(1);
    assert_eq!(running.answer().await.body, "waited");
    stopping.await.unwrap().unwrap();
    assert!(running.stream.write_all(b"x").await.is_err() || running.until_closed().await == 0);
}
