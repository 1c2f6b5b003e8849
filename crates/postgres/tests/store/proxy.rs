//! A proxy to the server that can be blocked. Existing connections then stay silent for good, as behind a firewall that has
//! forgotten them, or new connections wait.

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub(crate) struct Proxy {
    port: u16,
    cut: watch::Sender<()>,
    is_held: watch::Sender<bool>,
    number: watch::Sender<usize>,
}

impl Proxy {
    /// A proxy to the server on this port.
    pub(crate) async fn to(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = Self {
            port,
            cut: watch::Sender::new(()),
            is_held: watch::Sender::new(false),
            number: watch::Sender::new(0),
        };
        let (cut, is_held, number) = (proxy.cut.clone(), proxy.is_held.clone(), proxy.number.clone());
        tokio::spawn(async move {
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                let (mut cut, mut is_held) = (cut.subscribe(), is_held.subscribe());
                number.send_modify(|number| *number += 1);
                tokio::spawn(async move {
                    is_held.wait_for(|is_held| !is_held).await.unwrap();
                    let mut server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        changed = cut.changed() => {
                            changed.unwrap();
                            // Both stay open, and neither is read.
                            std::future::pending::<()>().await;
                        }
                    }
                });
            }
        });
        proxy
    }

    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://signpost@127.0.0.1:{}/{database}", self.port)
    }

    /// Existing connections transmit nothing any more.
    pub(crate) fn cut(&self) {
        self.cut.send_replace(());
    }

    /// Whether new connections have to wait.
    pub(crate) fn hold(&self, is_held: bool) {
        self.is_held.send_replace(is_held);
    }

    /// The number of connections so far.
    pub(crate) fn connections(&self) -> usize {
        *self.number.borrow()
    }

    /// Waits until there have been this many connections.
    pub(crate) async fn until_connected(&self, times: usize) {
        self.number.subscribe().wait_for(|number| *number >= times).await.unwrap();
    }
}
