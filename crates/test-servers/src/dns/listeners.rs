//! Receiving queries and sending answers.

use std::net::{SocketAddr, TcpListener as StdTcpListener, UdpSocket as StdUdpSocket};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

use super::behaviour::Behaviour;
use super::query::Query;
use super::reply::{Reply, reply};
use super::{Shared, Transport};

/// The pause after a failure to receive, for example for lack of file descriptors.
const RETRY_PAUSE: Duration = Duration::from_millis(10);

pub(super) struct Listeners {
    udp: Arc<UdpSocket>,
    tcp: TcpListener,
    shared: Arc<Shared>,
}

impl Listeners {
    /// Must be called within a runtime.
    pub(super) fn new(udp: StdUdpSocket, tcp: StdTcpListener, shared: Arc<Shared>) -> Self {
        let udp = Arc::new(UdpSocket::from_std(udp).unwrap());
        Self { udp, tcp: TcpListener::from_std(tcp).unwrap(), shared }
    }

    pub(super) async fn serve(self) {
        let mut datagram = vec![0; usize::from(u16::MAX)];
        loop {
            tokio::select! {
                received = self.udp.recv_from(&mut datagram) => match received {
                    Ok((length, client)) => self.receive(&datagram[..length], client),
                    // The client is gone.
                    Err(_) => tokio::time::sleep(RETRY_PAUSE).await,
                },
                accepted = self.tcp.accept() => match accepted {
                    Ok((stream, _)) => {
                        tokio::spawn(converse(stream, self.shared.clone()));
                    }
                    Err(_) => tokio::time::sleep(RETRY_PAUSE).await,
                },
            }
        }
    }

    fn receive(&self, datagram: &[u8], client: SocketAddr) {
        let Some(query) = Query::read(datagram) else { return };
        let (udp, shared) = (self.udp.clone(), self.shared.clone());
        tokio::spawn(async move {
            match prepare(&shared, &query, Transport::Udp).await {
                Reply::Message(message) => {
                    let _ = udp.send_to(&message, client).await;
                }
                Reply::Silence | Reply::Reset => {}
            }
        });
    }
}

async fn converse(mut stream: TcpStream, shared: Arc<Shared>) {
    while let Ok(length) = stream.read_u16().await {
        let mut message = vec![0; usize::from(length)];
        if stream.read_exact(&mut message).await.is_err() {
            return;
        }
        let Some(query) = Query::read(&message) else { return };
        match prepare(&shared, &query, Transport::Tcp).await {
            Reply::Message(message) => {
                let length = u16::try_from(message.len()).unwrap().to_be_bytes();
                if stream.write_all(&[&length, message.as_slice()].concat()).await.is_err() {
                    return;
                }
            }
            Reply::Silence => {}
            Reply::Reset => {
                let _ = stream.set_zero_linger();
                return;
            }
        }
    }
}

async fn prepare(shared: &Shared, query: &Query, transport: Transport) -> Reply {
    // Look up now: a delayed answer has the records from the time of its query.
    let (prepared, behaviour) = {
        let zone = shared.zone();
        (reply(&zone, query, transport), zone.behaviour_for(&query.name))
    };
    shared.count(&query.name, transport);
    if let Behaviour::Delay(pause) = behaviour {
        tokio::time::sleep(pause).await;
    }
    prepared
}
