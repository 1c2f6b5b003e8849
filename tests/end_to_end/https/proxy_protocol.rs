//! Balancers that pass on the addresses of their clients by the PROXY protocol (D197).

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use signpost_test_servers::certificates::LocalCertificate;
use signpost_test_servers::https_client::HandshakeFailure;

use crate::harness::https::{SYSTEM, https_client};
use crate::harness::{Program, within_one_minute};

/// How many unknown paths an address may open in a minute.
const MISSES: usize = 3;

/// A program behind balancers at these addresses, and the certificate that it serves.
fn start(trusted_proxies: &str) -> (Program, LocalCertificate) {
    let folder = tempfile::tempdir().unwrap();
    let pair = LocalCertificate::of(&[SYSTEM]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("chain.pem"), &pair.certificate).unwrap();
    std::fs::write(path("key.pem"), &pair.key).unwrap();
    let flags = [
        ("--tls-listen", "127.0.0.1:0".to_owned()),
        ("--tls-certificate", path("chain.pem")),
        ("--tls-key", path("key.pem")),
        ("--system-url", format!("https://{SYSTEM}")),
        ("--plain-http", "answer".to_owned()),
        ("--proxy-protocol", "links,tls".to_owned()),
        ("--trusted-proxies", trusted_proxies.to_owned()),
        ("--miss-throttle-per-minute", MISSES.to_string()),
    ];
    let flags: Vec<_> = flags.into_iter().flat_map(|(name, value)| [name.to_owned(), value]).collect();
    (Program::start_in_with(folder, &flags, &[]), pair)
}

/// The header of a balancer whose client has this address.
fn header(client: Ipv4Addr) -> Vec<u8> {
    let mut header = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c".to_vec();
    header.extend(client.octets());
    header.extend([127, 0, 0, 1, 0x1f, 0x90, 0x01, 0xbb]);
    header
}

/// The status of a request without TLS, behind these bytes; `None` if the connection is closed without an answer.
fn plain_status(address: &str, opening: &[u8]) -> Option<u16> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let request = format!("GET /unknown HTTP/1.1\r\nHost: {SYSTEM}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(&[opening, request.as_bytes()].concat());
    let mut answer = Vec::new();
    // The program may close before it has read everything, which resets the connection.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    answer.split(' ').nth(1).and_then(|status| status.parse().ok())
}

/// Each client has its own budget of misses, although all come from the balancer. Both listeners count together.
#[test]
fn d197_throttles_count_the_address_in_the_header() {
    let [one, other] = [Ipv4Addr::new(198, 51, 100, 7), Ipv4Addr::new(203, 0, 113, 9)].map(header);
    let (of_one, of_other) = within_one_minute(|| {
        let (program, pair) = start("127.0.0.1");
        let secure = |opening: &[u8]| {
            let client = https_client(&program, &pair.certificate).opening_with(opening);
            client.get(SYSTEM, "/unknown").unwrap().status
        };
        let plain = |opening: &[u8]| plain_status(&program.links, opening).unwrap();
        let of_one = [secure(&one), plain(&one), secure(&one), secure(&one), plain(&one)];
        (of_one, [plain(&other), secure(&other)])
    });
    assert_eq!((of_one, of_other), ([404, 404, 404, 429, 429], [404, 404]));
}

/// Nobody else can claim an address, and a connection without the header is not taken for a client's.
#[test]
fn d197_connections_without_header_or_from_others_are_closed() {
    let client = header(Ipv4Addr::new(198, 51, 100, 7));
    for (trusted_proxies, opening) in [("192.0.2.0/24", client.as_slice()), ("127.0.0.1", b"")] {
        let (program, pair) = start(trusted_proxies);
        assert_eq!(plain_status(&program.links, opening), None, "{trusted_proxies}");
        let tls = https_client(&program, &pair.certificate).opening_with(opening);
        assert_eq!(tls.connect(SYSTEM).unwrap_err(), HandshakeFailure::Closed, "{trusted_proxies}");
    }
}
