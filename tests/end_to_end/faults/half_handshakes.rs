//! R25, R26: clients that begin a TLS handshake and do not go on (D196).

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_test_servers::certificates::LocalCertificate;
use signpost_test_servers::hostile_clients::{memory_of, raise_open_files};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;

use crate::harness::Program;
use crate::harness::https::{SYSTEM, https_client};
use crate::size::{count, report};
use crate::waiting::await_promised;

/// How much memory they may cost together.
const MOST_MEMORY: usize = 100 * 1024 * 1024;

/// How many connections come from one address. The listener takes 64 unfinished handshakes of each.
const OF_AN_ADDRESS: usize = 50;

/// When the last of them must be gone: the time of a handshake is five seconds.
const GONE: Duration = Duration::from_secs(6);

/// How many connect at the same time.
const AT_ONCE: usize = 200;

/// The first half of a `ClientHello`: the head of a record of 512 bytes, that of the message, and some of its content.
fn half_hello() -> Vec<u8> {
    let mut half = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec();
    half.resize(256, 7);
    half
}

/// Opens the connection with this number from an address that few share, and sends half of a `ClientHello`. Returns it without
/// waiting for its end; `None` if the server has already closed it.
async fn begin(server: SocketAddr, number: usize) -> Option<TcpStream> {
    let number = u32::try_from(number / OF_AN_ADDRESS).unwrap();
    let from = Ipv4Addr::from(u32::from(Ipv4Addr::new(127, 1, 0, 1)) + number);
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    let mut stream = socket.connect(server).await.ok()?;
    stream.write_all(&half_hello()).await.ok()?;
    Some(stream)
}

/// Opens connections in turn, and returns those that are open at the end.
async fn crowd(server: SocketAddr, number: usize) -> Vec<TcpStream> {
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let connecting: Vec<_> = (0..number)
        .map(|number| {
            let room = Arc::clone(&room);
            tokio::spawn(async move {
                let _room = room.acquire().await.unwrap();
                begin(server, number).await
            })
        })
        .collect();
    let mut open = Vec::new();
    for connected in connecting {
        open.extend(connected.await.unwrap());
    }
    open
}

#[test]
fn r25_r26_half_handshakes_cost_bounded_memory_and_end_in_time() {
    raise_open_files();
    let folder = tempfile::tempdir().unwrap();
    let pair = LocalCertificate::of(&[SYSTEM]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("chain.pem"), &pair.certificate).unwrap();
    std::fs::write(path("key.pem"), &pair.key).unwrap();
    let program = Program::builder()
        .setting("tls-listen", "127.0.0.1:0")
        .setting("tls-certificate", &path("chain.pem"))
        .setting("tls-key", &path("key.pem"))
        .setting("system-url", &format!("https://{SYSTEM}"))
        .setting("metrics-listen", "127.0.0.1:0")
        // The addresses of the crowd are those of clients.
        .setting("trusted-proxies", "192.0.2.0/24")
        .start();
    let client = https_client(&program, &pair.certificate);
    let visit = || client.get(SYSTEM, "/").map(|visit| visit.status);
    assert_eq!(visit(), Ok(200));
    let before = memory_of(program.pid());
    let server = program.tls.as_ref().unwrap().parse().unwrap();
    let number = count(1_000, 10_000);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let begun = Instant::now();
    let crowd = runtime.block_on(crowd(server, number));
    let connected = begun.elapsed();
    // Others are served meanwhile. Whoever came last finds room, because the oldest handshakes end for it.
    assert_eq!(visit(), Ok(200));
    let cost = memory_of(program.pid()).saturating_sub(before);
    assert!(cost < MOST_MEMORY, "{} MiB for {number}", cost >> 20);
    let open =
        || -> usize { program.metric(r#"signpost_connections_open{listener="tls"}"#).parse().unwrap() };
    report(
        "R25, R26",
        &format!("{number} half handshakes in {connected:.2?}: {} KiB, {} open", cost >> 10, open()),
    );
    await_promised("R26: half handshakes are gone", GONE, || open() == 0);
    drop(crowd);
    assert_eq!(visit(), Ok(200));
    let cut_short = program.metric(r#"signpost_tls_handshakes_total{listener="tls",outcome="cut_short"}"#);
    assert!(cut_short.parse::<usize>().unwrap() > 0, "none was cut short");
}
