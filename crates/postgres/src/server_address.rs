//! The server's address and its connection security, from a `postgres://` URL.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::connection_url::{ConnectionUrl, not_a_url};
use crate::open_error::OpenError;
use crate::tls_roots;

/// A server and a database on it.
#[derive(Clone)]
pub(crate) struct ServerAddress {
    pub(crate) config: tokio_postgres::Config,
    pub(crate) security: Security,
}

/// How the connection is secured.
#[derive(Clone)]
pub(crate) enum Security {
    /// Plain text: the connection stays on this machine, or the operator chose it.
    Plain,
    /// TLS with a certificate for the server's name that one of our roots has signed.
    Tls(MakeRustlsConnect),
}

impl ServerAddress {
    /// Parses a URL. Of libpq's values, `sslmode` may be `disable`, `require`, `verify-ca` or `verify-full`; the last three
    /// all verify the certificate and its name. Without `sslmode`, a server on this machine gets plain text unless
    /// `sslrootcert` is set, and any other server gets TLS. `sslrootcert` names a file with roots that replace the system's.
    pub(crate) fn parse(url: &str) -> Result<Self, OpenError> {
        let url = ConnectionUrl::parse(url)?;
        let is_encrypted = match url.tls_mode.as_deref() {
            // A URL that names a root certificate asks for TLS.
            None => url.roots.is_some() || !is_this_machine(&url.config),
            Some("disable") => false,
            Some("require" | "verify-ca" | "verify-full") => true,
            Some(_) => {
                return Err(not_a_url(
                    "`sslmode` must be `disable`, `require`, `verify-ca` or `verify-full`",
                ));
            }
        };
        let mut config = with_our_defaults(&url);
        let security = if is_encrypted {
            if config.get_hosts().is_empty() {
                return Err(not_a_url("with TLS, `hostaddr` needs a host too: the name in the certificate"));
            }
            config.ssl_mode(SslMode::Require);
            Security::Tls(MakeRustlsConnect::new(tls_roots::client_config(url.roots)?))
        } else {
            config.ssl_mode(SslMode::Disable);
            Security::Plain
        };
        Ok(Self { config, security })
    }
}

/// Checks that a URL is valid and that its certificates can be read. Opens no connection.
///
/// What is wrong with the URL, without its secrets.
pub fn check_url(url: &str) -> Result<(), OpenError> {
    ServerAddress::parse(url).map(drop)
}

/// The connect timeout for each address of a server.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// TCP keepalive: the idle time before the first probe, the interval, and the number of probes.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(30), Duration::from_secs(10), 3);

/// How long sent data may stay unacknowledged. Every caller has given up by then.
const UNACKNOWLEDGED_LIMIT: Duration = Duration::from_secs(10);

/// The configuration of the URL, with our defaults for what it leaves out.
fn with_our_defaults(url: &ConnectionUrl) -> Config {
    let mut config = url.config.clone();
    if !url.says("application_name") {
        config.application_name("signpost");
    }
    if !url.says("connect_timeout") {
        config.connect_timeout(CONNECT_LIMIT);
    }
    // A standby or a demoted primary is unusable, and without this setting only writes would reveal it.
    if !url.says("target_session_attrs") {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    if !url.says("tcp_user_timeout") {
        config.tcp_user_timeout(UNACKNOWLEDGED_LIMIT);
    }
    let (idle, interval, retries) = KEEPALIVE;
    if !url.says("keepalives_idle") {
        config.keepalives_idle(idle);
    }
    if !url.says("keepalives_interval") {
        config.keepalives_interval(interval);
    }
    if !url.says("keepalives_retries") {
        config.keepalives_retries(retries);
    }
    config
}

/// Whether the traffic stays on this machine. With addresses, hosts are only names.
fn is_this_machine(config: &Config) -> bool {
    let hosts = config.get_hosts();
    let addresses = config.get_hostaddrs();
    if addresses.is_empty() {
        hosts.iter().all(is_local)
    } else {
        addresses.iter().all(std::net::IpAddr::is_loopback)
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_encrypted(url: &str) -> bool {
        match ServerAddress::parse(url).map(|address| address.security) {
            Ok(Security::Plain) => false,
            // On a machine without root certificates.
            Ok(Security::Tls(_)) | Err(OpenError::NoTrustedRoots) => true,
            Err(error) => panic!("{url}: {error}"),
        }
    }

    #[test]
    fn remote_servers_get_tls_by_default() {
        assert!(is_encrypted("postgres://u:p@db.example/x"));
        assert!(is_encrypted("postgresql://u:p@10.0.0.1/x?sslmode=verify-full"));
        assert!(is_encrypted("postgres://u@localhost/x?sslmode=require"));
        assert!(is_encrypted("postgres://u@localhost/x?hostaddr=10.0.0.1"));
        assert!(is_encrypted("postgres://u@localhost:5432,db.example:5432/x"));
        assert!(!is_encrypted("postgres://u@db.example/x?hostaddr=127.0.0.1"));
        assert!(!is_encrypted("postgres://u:p@db.example/x?sslmode=disable"));
        for local in ["localhost", "127.0.0.1", "%2Frun%2Fpostgresql"] {
            assert!(!is_encrypted(&format!("postgres://u@{local}/x")), "{local}");
        }
    }

    fn config(url: &str) -> Config {
        ServerAddress::parse(url).unwrap().config
    }

    #[test]
    fn defaults_detect_dead_connections_and_require_a_writable_server() {
        let config = config("postgres://u@localhost/x");
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert!(config.get_keepalives());
        assert_eq!(config.get_keepalives_idle(), Duration::from_secs(30));
        assert_eq!(config.get_tcp_user_timeout(), Some(&UNACKNOWLEDGED_LIMIT));
        assert_eq!(config.get_connect_timeout(), Some(&CONNECT_LIMIT));
        assert_eq!(config.get_application_name(), Some("signpost"));
    }

    #[test]
    fn settings_of_the_url_override_defaults() {
        let config = config(
            "postgres://u@localhost/x?application_name=mine&connect_timeout=7&keepalives_idle=8&tcp_user_timeout=9\
             &target_session_attrs=any",
        );
        assert_eq!(config.get_application_name(), Some("mine"));
        assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(7)));
        assert_eq!(config.get_keepalives_idle(), Duration::from_secs(8));
        assert_eq!(config.get_tcp_user_timeout(), Some(&Duration::from_secs(9)));
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::Any);
    }

    #[test]
    fn invalid_urls_are_rejected_without_showing_the_password() {
        for url in [
            "mysql://u:secret@h/x",
            "secret",
            "postgres://u:secret@h/x?sslmode=prefer",
            "postgres://u:secret@h:port/x",
            "postgres://u:p/secret@h/x",
            "postgres://u:5?secret@h/x",
            "postgres://u:secret@h/x?what=secret",
            "postgres://u:p@h/x?password=a&secret=b",
            "postgres://u:secret@h/x?sslmode=verify-full&sslrootcert=/nowhere",
            "postgres://u:secret@/x?hostaddr=10.0.0.1",
        ] {
            let Err(error) = ServerAddress::parse(url) else { panic!("{url}") };
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
