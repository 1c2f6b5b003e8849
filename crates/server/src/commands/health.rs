//! `signpost health`: the health of the node on this machine, for service managers and containers (D208).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use clap::{Args, ValueEnum};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::UsageError;
use super::output::Output;
use crate::settings::HealthSettings;

/// Less than the limit that container engines and orchestrators set by default (30 s), so that this command says what is wrong.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// More than any answer about health has.
const MAX_BODY: usize = 64 * 1024;

/// What a balancer sends ahead of a check of its own (command LOCAL of the PROXY protocol, version 2).
const PROXY_HEADER: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0";

/// The arguments of `signpost health`.
#[derive(Debug, Args)]
pub(crate) struct HealthArguments {
    /// Question: whether the node can serve every request (ready), whether it can serve visitors (links), or whether the process
    /// answers at all (live).
    #[arg(value_enum, default_value_t = Question::Ready)]
    question: Question,
}

/// What is asked (D63).
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Question {
    Ready,
    Links,
    Live,
}

impl Question {
    const fn path(self) -> &'static str {
        match self {
            Self::Ready => "/health/ready",
            Self::Links => "/health/links",
            Self::Live => "/health/live",
        }
    }
}

/// Asks the node on this machine, and fails unless it answers 200.
pub(super) async fn run(
    settings: HealthSettings,
    arguments: HealthArguments,
    output: &mut Output<'_>,
) -> Result<()> {
    let address = reachable(settings.api_listen)?;
    let path = arguments.question.path();
    let asked = tokio::time::timeout(TIME_LIMIT, ask(address, path, settings.expects_proxy_header)).await;
    let (status, body) = asked
        .with_context(|| format!("http://{address}{path} does not answer within {} s", TIME_LIMIT.as_secs()))?
        .with_context(|| format!("cannot ask http://{address}{path}; is `signpost serve` running?"))?;
    let shown = String::from_utf8_lossy(&body).into_owned();
    if status != StatusCode::OK {
        bail!("http://{address}{path} answers {}: {shown}", status.as_u16());
    }
    let json = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(output.result(&json, shown)?)
}

/// Where the listener is reached on this machine.
fn reachable(listen: SocketAddr) -> Result<SocketAddr, UsageError> {
    if listen.port() == 0 {
        let message = "`api-listen` has port 0, so only the running program knows its port; set another port";
        return Err(UsageError(message.to_owned()));
    }
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    Ok(SocketAddr::new(ip, listen.port()))
}

async fn ask(address: SocketAddr, path: &str, expects_proxy_header: bool) -> Result<(StatusCode, Bytes)> {
    let mut stream = TcpStream::connect(address).await?;
    if expects_proxy_header {
        stream.write_all(PROXY_HEADER).await?;
    }
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // It ends with the answer; what it reports, the answer reports too.
    tokio::spawn(connection);
    let request = Request::get(path).header(HOST, address.to_string()).body(Empty::<Bytes>::new())?;
    let answer = sender.send_request(request).await?;
    let status = answer.status();
    let body =
        Limited::new(answer.into_body(), MAX_BODY).collect().await.map_err(anyhow::Error::from_boxed)?;
    Ok((status, body.to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d208_listener_on_all_addresses_is_asked_on_loopback() {
        for (listen, asked) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:8080", "[::1]:8080"),
            ("10.0.0.7:8080", "10.0.0.7:8080"),
        ] {
            assert_eq!(reachable(listen.parse().unwrap()).unwrap().to_string(), asked);
        }
        assert!(reachable("127.0.0.1:0".parse().unwrap()).unwrap_err().to_string().contains("`api-listen`"));
    }
}
