use std::io::Write as _;

use rcgen::{CertificateParams, KeyPair};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;
use tokio_rustls::rustls::crypto::cipher::{MessageEncrypter, OutboundChunks, OutboundPlainMessage};
use tokio_rustls::rustls::crypto::ring::{self, cipher_suite::TLS13_AES_128_GCM_SHA256};
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{
    ClientConfig, ConnectionTrafficSecrets, ContentType, ProtocolVersion, RootCertStore, ServerConfig,
};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::*;

const HOST: &str = "go.example.test";

/// Encrypts records as the library of a client would, and also those that it never sends.
struct Records {
    encrypter: Box<dyn MessageEncrypter>,
    sequence: u64,
}

impl Records {
    fn record(&mut self, plain: &[u8]) -> Vec<u8> {
        self.encrypted(ContentType::ApplicationData, plain)
    }

    /// A record of padding alone. A receiver finds the type before the zeros at the end (RFC 8446, section 5.4).
    fn padding(&mut self, bytes: usize) -> Vec<u8> {
        let mut plain = vec![0; bytes];
        plain[0] = ContentType::ApplicationData.into();
        self.encrypted(ContentType::from(0), &plain)
    }

    fn encrypted(&mut self, typ: ContentType, plain: &[u8]) -> Vec<u8> {
        let message = OutboundPlainMessage {
            typ,
            version: ProtocolVersion::TLSv1_2,
            payload: OutboundChunks::Single(plain),
        };
        let encrypted = self.encrypter.encrypt(message, self.sequence).unwrap();
        self.sequence += 1;
        encrypted.encode()
    }
}

/// The two ends of a connection after its handshake.
async fn connected() -> (TlsSocket, std::net::TcpStream, Records) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([HOST.to_owned()]).unwrap().self_signed(&key).unwrap();
    let chain = vec![certificate.der().clone()];
    let secret = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut provider = ring::default_provider();
    provider.cipher_suites = vec![TLS13_AES_128_GCM_SHA256];
    let provider = Arc::new(provider);
    let mut roots = RootCertStore::empty();
    roots.add(chain[0].clone()).unwrap();
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .unwrap();
    let mut client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.enable_secret_extraction = true;

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (accepted, _) = listener.accept().await.unwrap();
    let (client, server) = tokio::join!(
        TlsConnector::from(Arc::new(client)).connect(ServerName::try_from(HOST).unwrap(), stream),
        TlsAcceptor::from(Arc::new(server)).accept(EncryptedSocket::new(accepted)),
    );
    let (stream, session) = client.unwrap().into_inner();
    let (sequence, secrets) = session.dangerous_extract_secrets().unwrap().tx;
    let ConnectionTrafficSecrets::Aes128Gcm { key, iv } = secrets else { panic!("another cipher") };
    let suite = TLS13_AES_128_GCM_SHA256.tls13().unwrap();
    let records = Records { encrypter: suite.aead_alg.encrypter(key, iv), sequence };
    let stream = stream.into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    let names = Arc::new(CertificateNames::new([HOST]));
    (TlsSocket::new(server.unwrap(), names), stream, records)
}

#[tokio::test]
async fn r25_records_without_plain_text_are_read_up_to_a_bound() {
    let (mut tls, mut client, mut records) = connected().await;
    // The library refuses more than 32 in a row.
    let empty: Vec<u8> = (0..30).flat_map(|_| records.padding(16_000)).collect();
    let sent = empty.len();
    let sending = std::thread::spawn(move || client.write_all(&empty).map(|()| client));
    let socket = &mut tls.stream.get_mut().0.socket;
    let mut part = vec![0; 64 * 1024];
    // More than one call may take, and less than a socket holds.
    while socket.peek(&mut part).await.unwrap() < 50_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(tls.read_available(1_000, &mut BytesMut::new()), (0, false));
    let socket = &mut tls.stream.get_mut().0.socket;
    let mut rest = 0;
    // The last read may exceed the bound by the library's buffer.
    let read_at_most = 1_000 + 2 * MAX_RECORD_BYTES;
    while rest < sent - read_at_most {
        let read = tokio::time::timeout(std::time::Duration::from_mins(1), socket.read(&mut part)).await;
        rest += read.expect("all records were read at once").unwrap();
    }
    sending.join().unwrap().unwrap();
}

#[tokio::test]
async fn r25_an_undecrypted_record_is_counted_however_it_is_read() {
    for reads_at_once in [true, false] {
        let (tls, mut client, mut records) = connected().await;
        let mut stream = Stream::Tls(Box::new(tls));
        let whole = records.record(b"whole");
        let begun = records.record(&[b'y'; 10_000]);
        client.write_all(&[&whole[..], &begun[..9_000]].concat()).unwrap();
        let mut input = BytesMut::new();
        while stream.undecrypted_bytes() < 9_000 {
            if reads_at_once {
                stream.read_available(1_000, &mut input);
                tokio::task::yield_now().await;
            } else {
                let read = stream.read_buf(&mut input);
                let _ = tokio::time::timeout(std::time::Duration::from_millis(10), read).await;
            }
        }
        assert_eq!((&input[..], stream.undecrypted_bytes()), (&b"whole"[..], 9_000));
        assert!(stream.held_bytes() >= 9_000 - 4 * 1024);
        client.write_all(&begun[9_000..]).unwrap();
        while input.len() < 10_005 {
            stream.read_buf(&mut input).await.unwrap();
        }
        assert_eq!((stream.undecrypted_bytes(), stream.held_bytes()), (0, 0));
    }
}
