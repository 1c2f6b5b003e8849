//! Requests to the API of the server on this machine.

use std::net::SocketAddr;

use anyhow::Result;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::commands::{UsageError, reachable};
use crate::settings::HealthSettings;

/// More than any answer has that is asked for here.
const MAX_BODY: usize = 64 * 1024;

/// What a balancer sends ahead of a check of its own (command LOCAL of the PROXY protocol, version 2).
const PROXY_HEADER: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0";

/// The listener of the API, as this machine reaches it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalApi {
    pub(crate) address: SocketAddr,
    expects_proxy_header: bool,
}

impl LocalApi {
    /// # Errors
    /// The settings leave the port to the running program.
    pub(crate) fn of(settings: HealthSettings) -> Result<Self, UsageError> {
        let HealthSettings { api_listen, expects_proxy_header } = settings;
        if api_listen.port() == 0 {
            let message =
                "`api-listen` has port 0, so only the running program knows its port; set another port";
            return Err(UsageError(message.to_owned()));
        }
        Ok(Self { address: reachable(api_listen), expects_proxy_header })
    }

    /// Sends a request, and returns the whole answer.
    ///
    /// # Errors
    /// Nothing listens there, or the exchange broke off.
    pub(crate) async fn send(self, mut request: Request<Full<Bytes>>) -> Result<(StatusCode, Bytes)> {
        let mut stream = TcpStream::connect(self.address).await?;
        if self.expects_proxy_header {
            stream.write_all(PROXY_HEADER).await?;
        }
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        // It ends with the answer, which reports its errors too.
        tokio::spawn(connection);
        request.headers_mut().insert(HOST, self.address.to_string().parse()?);
        let answer = sender.send_request(request).await?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), MAX_BODY).collect().await;
        Ok((status, body.map_err(anyhow::Error::from_boxed)?.to_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d208_listener_on_all_addresses_is_asked_on_loopback() {
        let reached = |listen: &str| {
            LocalApi::of(HealthSettings { api_listen: listen.parse().unwrap(), expects_proxy_header: false })
        };
        for (listen, asked) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:8080", "[::1]:8080"),
            ("10.0.0.7:8080", "10.0.0.7:8080"),
        ] {
            assert_eq!(reached(listen).unwrap().address.to_string(), asked);
        }
        assert!(reached("127.0.0.1:0").unwrap_err().to_string().contains("`api-listen`"));
    }
}
