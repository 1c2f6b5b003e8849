//! Connecting to the right server.

use std::time::Instant;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use signpost_app::ports::Store;
use signpost_postgres::{OpenError, PostgresOptions, PostgresStore, migrate};
use signpost_test_servers::postgres::{PostgresServer, Tls};

use super::database::{AT_LAST, PATIENT, migrated};

fn options() -> PostgresOptions {
    PostgresOptions::with_time_limit(PATIENT)
}

#[tokio::test]
async fn unreachable_server_is_reported_without_the_password() {
    // The port is bound, but nothing listens on it.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let url = format!("postgres://signpost:secret@127.0.0.1:{}/x", socket.local_addr().unwrap().port());
    let refused = PostgresStore::connect(&url, &options()).await.map(drop).unwrap_err();
    assert!(matches!(refused, OpenError::NoConnection(_)), "{refused}");
    let text = format!("{refused} {refused:?}");
    assert!(text.contains("refused") && !text.contains("secret"), "{text}");
}

/// The hosts of a list are tried in order, each with its own port.
#[tokio::test]
async fn first_host_that_answers_is_used() {
    let database = migrated().await;
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let absent = socket.local_addr().unwrap().port();
    let url = database.url().replace("127.0.0.1:", &format!("127.0.0.1:{absent},127.0.0.1:"));
    let store = PostgresStore::connect(&url, &options()).await.unwrap();
    store.check().await.unwrap();
}

/// The certificate must be trusted and issued for the server's name.
#[tokio::test(flavor = "multi_thread")]
async fn tls_requires_a_certificate_for_the_host_of_the_url() {
    let certificate_for = |name: &str| {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed([name.to_owned()]).unwrap();
        Tls { certificate: cert.pem(), key: signing_key.serialize_pem() }
    };
    let tls = certificate_for("localhost");
    let server = PostgresServer::start_with_tls("crates/postgres", &tls);
    let folder = tempfile::tempdir().unwrap();
    let file_of = |name: &str, tls: &Tls| {
        let file = folder.path().join(name);
        std::fs::write(&file, &tls.certificate).unwrap();
        file.display().to_string()
    };
    let (trusted, other) = (file_of("trusted", &tls), file_of("other", &certificate_for("localhost")));
    let url =
        |host: &str, query: &str| format!("postgres://signpost@{host}:{}/postgres?{query}", server.port());

    let good = url("localhost", &format!("sslmode=verify-full&sslrootcert={trusted}"));
    migrate(&good).await.unwrap();
    let store = PostgresStore::connect(&good, &options()).await.unwrap();
    store.check().await.unwrap();
    let encrypted = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
        WHERE ssl AND application_name = 'signpost'";
    // The connections of the migration end in the background.
    let ends = Instant::now() + AT_LAST;
    while server.query("postgres", encrypted).trim() != "1" {
        assert!(Instant::now() < ends, "the store has not one encrypted connection");
        tokio::task::yield_now().await;
    }

    for bad in [
        url("localhost", &format!("sslmode=verify-full&sslrootcert={other}")),
        url("localhost", "sslmode=require"),
        // The same server, but the certificate is not for this name.
        url("127.0.0.1", &format!("sslmode=verify-full&sslrootcert={trusted}")),
    ] {
        let refused = PostgresStore::connect(&bad, &options()).await.map(drop).unwrap_err();
        assert!(refused.to_string().contains("certificate"), "{bad}: {refused}");
        assert!(refused.to_string().contains("`sslrootcert`"), "{bad}: {refused}");
    }
}
