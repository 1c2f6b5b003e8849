//! Version 2 of the PROXY protocol, with which a TCP balancer passes on the address of its client (D197).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::io::{AsyncRead, AsyncReadExt as _};

const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";

/// Everything before the addresses: the signature, version and command, address family, and the length of the rest.
const FIXED_BYTES: usize = 16;

/// Maximum length of the rest. The addresses take 36 bytes; the additional values of balancers take some hundreds.
const MAX_BYTES: usize = 2 * 1024;

const VERSION_2_LOCAL: u8 = 0x20;
const VERSION_2_PROXY: u8 = 0x21;
const TCP_OVER_IPV4: u8 = 0x11;
const TCP_OVER_IPV6: u8 = 0x21;

/// Reads the header from the start of a connection. Returns the address of the balancer's client; `None` if the balancer
/// connects on its own behalf, as its health checks do, or if its client has no IP address.
///
/// # Errors
/// The connection ends, or does not begin with such a header.
pub(crate) async fn read_header(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<SocketAddr>> {
    let mut fixed = [0; FIXED_BYTES];
    stream.read_exact(&mut fixed).await?;
    let [signature @ .., command, family, high, low] = fixed;
    if signature != *SIGNATURE {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let length = usize::from(u16::from_be_bytes([high, low]));
    let mut rest = [0; MAX_BYTES];
    let rest = rest.get_mut(..length).ok_or(io::ErrorKind::InvalidData)?;
    stream.read_exact(rest).await?;
    match (command, family) {
        (VERSION_2_PROXY, TCP_OVER_IPV4) => {
            let (&address, ports) = rest.split_first_chunk::<4>().ok_or(io::ErrorKind::InvalidData)?;
            let port = port(ports.get(4..).unwrap_or_default())?;
            Ok(Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::from(address)), port)))
        }
        (VERSION_2_PROXY, TCP_OVER_IPV6) => {
            let (&address, ports) = rest.split_first_chunk::<16>().ok_or(io::ErrorKind::InvalidData)?;
            let port = port(ports.get(16..).unwrap_or_default())?;
            Ok(Some(SocketAddr::new(IpAddr::V6(Ipv6Addr::from(address)), port)))
        }
        // The balancer itself, or a client without TCP: the specification says to use the connection's own address.
        (VERSION_2_LOCAL | VERSION_2_PROXY, _) => Ok(None),
        (_, _) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The port of the source, from the bytes behind both addresses.
fn port(bytes: &[u8]) -> io::Result<u16> {
    bytes.first_chunk().map(|port| u16::from_be_bytes(*port)).ok_or(io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
        [SIGNATURE.as_slice(), &[command, family], &length, rest].concat()
    }

    /// What a header says, and how many bytes behind it are left.
    fn read(bytes: &[u8]) -> (io::Result<Option<SocketAddr>>, usize) {
        let mut stream = bytes;
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let read = runtime.block_on(read_header(&mut stream));
        (read, stream.len())
    }

    const OF_IPV4: [u8; 12] = [192, 0, 2, 7, 198, 51, 100, 1, 0x1f, 0x90, 0x01, 0xbb];

    #[test]
    fn d197_the_clients_address_comes_from_the_header() {
        let request = b"GET / HTTP/1.1\r\n";
        let with_values = [OF_IPV4.as_slice(), &[0x04, 0, 3, 1, 2, 3]].concat();
        for rest in [OF_IPV4.as_slice(), &with_values] {
            let (address, left) = read(&[&header(0x21, 0x11, rest), request.as_slice()].concat());
            assert_eq!(address.unwrap(), Some("192.0.2.7:8080".parse().unwrap()));
            assert_eq!(left, request.len(), "what follows belongs to the client");
        }
        let addresses = "2001:db8::1".parse::<Ipv6Addr>().unwrap().octets();
        let rest = [addresses.as_slice(), &[0; 16], &[0, 80, 0, 81]].concat();
        assert_eq!(read(&header(0x21, 0x21, &rest)).0.unwrap(), Some("[2001:db8::1]:80".parse().unwrap()));
    }

    #[test]
    fn d197_a_balancers_own_connection_has_its_own_address() {
        for (command, family) in [(0x20, 0x00), (0x20, 0x11), (0x21, 0x00), (0x21, 0x31), (0x21, 0x12)] {
            assert_eq!(read(&header(command, family, &OF_IPV4)).0.unwrap(), None, "{command:x} {family:x}");
        }
    }

    #[test]
    fn d197_other_bytes_are_refused() {
        let whole = header(0x21, 0x11, &OF_IPV4);
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).0.is_err(), "{end}");
        }
        for refused in [
            header(0x22, 0x11, &OF_IPV4),
            header(0x11, 0x11, &OF_IPV4),
            header(0x21, 0x11, &OF_IPV4[..9]),
            header(0x21, 0x21, &OF_IPV4),
            header(0x21, 0x11, &[0; MAX_BYTES + 1]),
            b"PROXY TCP4 192.0.2.7 198.51.100.1 8080 443\r\n".to_vec(),
            b"GET / HTTP/1.1\r\nhost: go.example.com\r\n\r\n".to_vec(),
        ] {
            assert!(read(&refused).0.is_err(), "{refused:?}");
        }
    }

    proptest! {
        /// R25: no bytes cause a panic, and no more than the header is read.
        #[test]
        fn d197_any_bytes_end_in_an_address_or_an_error(command: u8, family: u8, rest in prop::collection::vec(any::<u8>(), 0..300), after in prop::collection::vec(any::<u8>(), 0..50)) {
            let (address, left) = read(&[header(command, family, &rest), after.clone()].concat());
            if address.is_ok() {
                prop_assert_eq!(left, after.len());
            }
        }
    }
}
