//! Opens a link as a visitor would, by its public name.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http_body_util::Empty;
use hyper::Request;
use hyper::header::HOST;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use signpost_domain::Hostname;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// How long the whole exchange may take.
const TIME_LIMIT: Duration = Duration::from_secs(15);

/// The status that `https://HOST/PATH` answers, with a certificate that this system trusts.
///
/// # Errors
/// The name does not lead to a server, or its certificate is not trusted.
pub(super) async fn status(host: &Hostname, path: &str) -> Result<u16> {
    timeout(TIME_LIMIT, exchange(host, path))
        .await
        .with_context(|| format!("https://{host}{path} does not answer within {} s", TIME_LIMIT.as_secs()))?
        .with_context(|| format!("https://{host}{path} does not open"))
}

async fn exchange(host: &Hostname, path: &str) -> Result<u16> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        bail!("this system trusts no certificate; install the package ca-certificates");
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let tcp = TcpStream::connect((host.as_str(), 443)).await?;
    let name = ServerName::try_from(host.as_str().to_owned())?;
    let tls = TlsConnector::from(Arc::new(config)).connect(name, tcp).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(tls)).await?;
    // It ends with the answer, which reports its errors too.
    tokio::spawn(connection);
    let request = Request::get(path).header(HOST, host.as_str()).body(Empty::<Bytes>::new())?;
    Ok(sender.send_request(request).await?.status().as_u16())
}
