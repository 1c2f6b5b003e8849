//! TLS, and stores that cannot be opened.

use rcgen::{CertifiedKey, generate_simple_self_signed};
use signpost_port_contracts::samples;
use signpost_redis::{RedisOptions, RedisQuotaStore};
use signpost_test_servers::redis::{RedisServer, Setup, Tls};

use crate::opening::{WHO, admit, clock, counted, open, open_with, options, unavailable};

fn certificate(host: &str) -> Tls {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed([host.to_owned()]).unwrap();
    Tls { certificate: cert.pem(), key: signing_key.serialize_pem() }
}

fn trusting(tls: &Tls) -> RedisOptions {
    RedisOptions { root_certificates: Some(tls.certificate.clone().into_bytes()), ..options() }
}

#[tokio::test]
async fn tls_verifies_the_certificate() {
    let tls = certificate("localhost");
    let server = RedisServer::start_with(WHO, &Setup { tls: Some(tls.clone()), ..Setup::default() });
    let url = format!("rediss://localhost:{}", server.other_port());
    let account = samples::id();
    let store = open_with(&url, trusting(&tls));
    admit(&store, account).await.unwrap();
    assert_eq!(counted(&store, account).await, 1);

    let another_root = trusting(&certificate("localhost"));
    let message = unavailable(admit(&open_with(&url, another_root), account).await);
    assert!(message.to_lowercase().contains("certificate"), "{message}");
    let another_host = format!("rediss://127.0.0.1:{}", server.other_port());
    let message = unavailable(admit(&open_with(&another_host, trusting(&tls)), account).await);
    assert!(message.to_lowercase().contains("certificate"), "{message}");
    // The machine's roots did not sign it.
    unavailable(admit(&open(&url), account).await);
    assert_eq!(counted(&store, account).await, 1);
}

#[tokio::test]
async fn invalid_root_certificates_are_rejected_when_the_store_is_opened() {
    for url in ["rediss://localhost", "rediss-cluster://localhost"] {
        let pem = b"-----BEGIN CERTIFICATE-----\n%\n-----END CERTIFICATE-----\n".to_vec();
        let options = RedisOptions { root_certificates: Some(pem), ..RedisOptions::default() };
        RedisQuotaStore::open(url.parse().unwrap(), options, clock()).unwrap_err();
    }
}
