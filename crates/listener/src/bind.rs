//! Sockets that listen.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Socket, Type};

/// How many connections may wait to be accepted. What the system allows is the bound below (`net.core.somaxconn`, usually
/// 4,096). The standard library asks for 128; a burst beyond what may wait costs each client a second, until it tries again.
const BACKLOG: i32 = 4_096;

/// Listens at an address.
///
/// # Errors
/// The system refuses the address, for example because another program listens there.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // A program that was stopped a moment ago may start again.
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
    fn a_burst_of_connections_waits_to_be_accepted() {
        let allowed: usize =
            fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap().trim().parse().unwrap();
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        // Nothing accepts. So a connection beyond the backlog would never be established.
        let connect = |_| TcpStream::connect_timeout(&address, Duration::from_secs(20)).unwrap();
        let burst: Vec<TcpStream> = (0..allowed.min(300)).map(connect).collect();
        assert_eq!(burst.len(), allowed.min(300));
    }

    #[test]
    fn an_address_that_is_taken_is_refused() {
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let error = bind(listener.local_addr().unwrap()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }
}
