//! Listening sockets.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Socket, Type};

/// How many connections may wait to be accepted. The system's limit also applies (`net.core.somaxconn`,
/// usually 4,096). The standard library requests 128; a larger burst costs each refused client a second,
/// until it retries.
const BACKLOG: i32 = 4_096;

/// Listens on an address.
///
/// # Errors
///
/// The system refuses the address, for example because another program listens on it.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // Allows a program to restart at once.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::TcpStream;
    use std::time::Duration;

    use super::*;

    #[test]
    fn burst_of_connections_waits_to_be_accepted() {
        let allowed: usize =
            fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap().trim().parse().unwrap();
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        // Nothing accepts, so a connection beyond the backlog is never established.
        let connect = |_| TcpStream::connect_timeout(&address, Duration::from_secs(20)).unwrap();
        let burst: Vec<TcpStream> = (0..allowed.min(300)).map(connect).collect();
        assert_eq!(burst.len(), allowed.min(300));
    }

    #[test]
    fn address_in_use_is_refused() {
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let error = bind(listener.local_addr().unwrap()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }
}
