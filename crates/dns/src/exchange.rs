//! Sends one query to one server.

use std::net::SocketAddr;
use std::time::Duration;

use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::tcp::TcpClientStream;
use hickory_resolver::net::udp::UdpClientStream;
use hickory_resolver::net::xfer::{DnsHandle, DnsRequestSender, FirstAnswer};
use hickory_resolver::proto::op::{DnsRequest, DnsRequestOptions, Message, Query};

use crate::answer::Answer;
use crate::failure::Failure;

/// Asks `server` over UDP, and over TCP if the answer requires it. Dropping the future closes its sockets.
pub(crate) async fn ask(server: SocketAddr, query: &Query, time_limit: Duration) -> Result<Answer, Failure> {
    match over_udp(server, query, time_limit).await {
        // The answer does not fit a datagram.
        Ok(message) if message.metadata.truncation => {}
        Ok(message) => return Answer::read(message, query),
        // A datagram may be damaged or forged, so it is no answer. TCP is much harder to forge.
        Err(NetError::Proto(_) | NetError::QueryCaseMismatch) => {}
        Err(error) => return Err(Failure::of_transport(&error)),
    }
    let message = over_tcp(server, query, time_limit).await.map_err(|error| Failure::of_transport(&error))?;
    Answer::read(message, query)
}

/// Ignores datagrams from other addresses, with another id or for another question. A lost query is sent
/// again.
async fn over_udp(server: SocketAddr, query: &Query, time_limit: Duration) -> Result<Message, NetError> {
    let mut stream =
        UdpClientStream::builder(server, TokioRuntimeProvider::new()).with_timeout(Some(time_limit)).build();
    let response = stream.send_message(request(query, true)).first_answer().await?;
    Ok(response.into_message())
}

async fn over_tcp(server: SocketAddr, query: &Query, time_limit: Duration) -> Result<Message, NetError> {
    // Connections live as long as their provider. This query has its own, so it reuses no connection that the
    // server may have closed, and leaves none open.
    let provider = TokioRuntimeProvider::new();
    let exchange = TcpClientStream::exchange(server, None, time_limit, None, provider.clone()).await?;
    let response = exchange.send(request(query, false)).first_answer().await;
    drop(provider);
    Ok(response?.into_message())
}

fn request(query: &Query, randomises_case: bool) -> DnsRequest {
    let mut options = DnsRequestOptions::default();
    options.case_randomization = randomises_case;
    DnsRequest::from_query(query.clone(), options)
}
