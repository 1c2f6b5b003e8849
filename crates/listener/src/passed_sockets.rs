//! Listening sockets that a service manager passes to the program (D202, ADR 71).

use std::io;
use std::net::{SocketAddr, TcpListener};

use listenfd::ListenFd;
use socket2::SockRef;

/// The listening sockets with which a service manager started the program, by systemd's convention: descriptors from 3 on,
/// counted in `LISTEN_FDS`.
///
/// A socket that is bound before the program starts may have a port that the program itself may not bind. It also outlives
/// the program: connections wait in it while the program restarts.
#[derive(Debug, Default)]
pub struct PassedSockets(Vec<TcpListener>);

impl PassedSockets {
    /// Takes the sockets over, and removes the variables that announce them. Call this before the program has other threads,
    /// because those may read variables at the same time.
    ///
    /// # Errors
    /// A descriptor is not a listening TCP socket.
    pub fn take() -> io::Result<Self> {
        let mut descriptors = ListenFd::from_env();
        let mut sockets = Vec::new();
        for index in 0..descriptors.len() {
            let Some(socket) = descriptors.take_tcp_listener(index)? else { continue };
            if !SockRef::from(&socket).is_listener()? {
                let message = format!("the socket {} accepts no connections", socket.local_addr()?);
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            sockets.push(socket);
        }
        Ok(Self(sockets))
    }

    /// The socket that is bound to exactly this address. A socket of a wider address is none, because it would accept
    /// connections that the address excludes.
    pub fn claim(&mut self, address: SocketAddr) -> Option<TcpListener> {
        let is_bound_there = |socket: &TcpListener| socket.local_addr().is_ok_and(|bound| bound == address);
        let position = self.0.iter().position(is_bound_there)?;
        Some(self.0.swap_remove(position))
    }

    /// The addresses of the sockets that nobody has claimed.
    #[must_use]
    pub fn unclaimed(&self) -> Vec<SocketAddr> {
        self.0.iter().filter_map(|socket| socket.local_addr().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d202_socket_is_claimed_once_by_its_exact_address() {
        let socket = crate::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_addr().unwrap();
        let mut sockets = PassedSockets(vec![socket]);
        assert!(sockets.claim(SocketAddr::new("0.0.0.0".parse().unwrap(), address.port())).is_none());
        assert_eq!(sockets.unclaimed(), [address]);
        assert_eq!(sockets.claim(address).unwrap().local_addr().unwrap(), address);
        assert!(sockets.claim(address).is_none());
        assert!(sockets.unclaimed().is_empty());
    }
}
