//! Whether the public name of links answers.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::finding::Finding;

/// How long an address has to accept a connection.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Connects to the addresses of the public name, as a visitor would. A router may not pass connections of its own network back into
/// it, so silence is only a warning.
pub(super) async fn check(origin: &str, addresses: &BTreeSet<IpAddr>, port: u16) -> Finding {
    for address in addresses {
        let address = SocketAddr::new(*address, port);
        if !matches!(timeout(TIME_LIMIT, TcpStream::connect(address)).await, Ok(Ok(_))) {
            return Finding::warn(
                "reach",
                format!("{origin} does not answer from this machine at {address}"),
                format!(
                    "If it answers from outside, a router does not pass its own network's connections back; else open port {port} \
                     in its firewall. From another network: curl -I {origin}"
                ),
            );
        }
    }
    Finding::ok("reach", format!("{origin} accepts connections"))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::*;

    #[tokio::test]
    async fn d206_silent_public_name_is_a_warning() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let loopback = BTreeSet::from([IpAddr::from([127, 0, 0, 1])]);
        assert_eq!(check("http://go.example.com", &loopback, port).await.severity, Severity::Ok);
        drop(socket);
        let found = check("http://go.example.com", &loopback, port).await;
        assert!(
            found.severity == Severity::Warn && found.line().contains("curl -I http://go.example.com"),
            "{found:?}"
        );
    }
}
