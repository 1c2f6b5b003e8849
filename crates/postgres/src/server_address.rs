//! Where the server is, and how to speak to it: what a `postgres://` URL says.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;
use url::Url;

use crate::open_error::OpenError;

/// A server and a database on it.
#[derive(Clone)]
pub(crate) struct ServerAddress {
    pub(crate) config: tokio_postgres::Config,
    pub(crate) security: Security,
}

/// How the connection is kept from strangers.
#[derive(Clone)]
pub(crate) enum Security {
    /// Not at all: the way is within this machine, or the operator said so.
    Plain,
    /// TLS; the server shows a certificate for its name that one of our roots vouches for.
    Tls(MakeRustlsConnect),
}

impl ServerAddress {
    /// Reads a URL. Of what libpq knows in one, `sslmode` is `disable`, or `require`, `verify-ca` and `verify-full`, all
    /// of which verify the certificate and the name in it; without it, a server on this machine is spoken to in plain
    /// text, and any other with TLS. `sslrootcert` names a file with certificates to trust instead of the system's.
    pub(crate) fn parse(url: &str) -> Result<Self, OpenError> {
        let mut parsed = Url::parse(url).map_err(|error| not_a_url(error.to_string()))?;
        if !matches!(parsed.scheme(), "postgres" | "postgresql") {
            return Err(not_a_url("it must begin with `postgres://`"));
        }
        let (mut mode, mut roots, mut others) = (None, None, Vec::new());
        for (name, value) in parsed.query_pairs() {
            match name.as_ref() {
                "sslmode" => mode = Some(value.into_owned()),
                "sslrootcert" => roots = Some(PathBuf::from(value.into_owned())),
                _ => others.push((name.into_owned(), value.into_owned())),
            }
        }
        parsed.set_query(None);
        if !others.is_empty() {
            parsed.query_pairs_mut().extend_pairs(others);
        }
        let mut config = tokio_postgres::Config::from_str(parsed.as_str())
            .map_err(|error| not_a_url(error.to_string()))?;
        let is_encrypted = match mode.as_deref() {
            None => !config.get_hosts().iter().all(is_this_machine),
            Some("disable") => false,
            Some("require" | "verify-ca" | "verify-full") => true,
            Some(_) => return Err(not_a_url("`sslmode` must be `disable` or `verify-full`")),
        };
        config.application_name("signpost").connect_timeout(CONNECT_LIMIT);
        let security = if is_encrypted {
            config.ssl_mode(SslMode::Require);
            Security::Tls(MakeRustlsConnect::new(tls(roots)?))
        } else {
            config.ssl_mode(SslMode::Disable);
            Security::Plain
        };
        Ok(Self { config, security })
    }
}

/// How long a server may take to be reached, for each of its addresses.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

fn not_a_url(reason: impl Into<String>) -> OpenError {
    OpenError::NotAUrl { reason: reason.into() }
}

fn is_this_machine(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

fn tls(roots: Option<PathBuf>) -> Result<ClientConfig, OpenError> {
    let mut store = RootCertStore::empty();
    match roots {
        Some(path) => {
            let failed = |reason: String| OpenError::NoCertificates { path: path.clone(), reason };
            let certificates =
                CertificateDer::pem_file_iter(&path).map_err(|error| failed(error.to_string()))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|error| failed(error.to_string()))?;
                store.add(certificate).map_err(|error| failed(error.to_string()))?;
            }
            if store.is_empty() {
                return Err(failed("there are none in it".to_owned()));
            }
        }
        None => {
            // What cannot be read among the system's is none of our business, unless nothing is left.
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = versions.map_err(|error| not_a_url(error.to_string()))?;
    Ok(builder.with_root_certificates(store).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_encrypted(url: &str) -> bool {
        match ServerAddress::parse(url).unwrap().security {
            Security::Plain => false,
            Security::Tls(_) => true,
        }
    }

    #[test]
    fn a_server_elsewhere_is_spoken_to_with_tls_unless_told_otherwise() {
        assert!(is_encrypted("postgres://u:p@db.example/x"));
        assert!(is_encrypted("postgresql://u:p@10.0.0.1/x?sslmode=verify-full"));
        assert!(is_encrypted("postgres://u@localhost/x?sslmode=require"));
        assert!(!is_encrypted("postgres://u:p@db.example/x?sslmode=disable"));
        for local in ["localhost", "127.0.0.1", "%2Frun%2Fpostgresql"] {
            assert!(!is_encrypted(&format!("postgres://u@{local}/x")), "{local}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_without_showing_the_password() {
        for url in [
            "mysql://u:secret@h/x",
            "secret",
            "postgres://u:secret@h/x?sslmode=prefer",
            "postgres://u:secret@h:port/x",
            "postgres://u:secret@h/x?what=secret",
            "postgres://u:secret@h/x?sslmode=verify-full&sslrootcert=/nowhere",
        ] {
            let Err(error) = ServerAddress::parse(url) else { panic!("{url}") };
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
