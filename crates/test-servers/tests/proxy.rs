//! The behaviours of the proxy.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use signpost_test_servers::proxy::{Behaviour, Direction, Moment, Proxy};
use tokio::net::TcpSocket;

/// The time limit for everything that must arrive.
const AT_LAST: Duration = Duration::from_mins(1);

/// An echo server that records what it receives.
struct Echo {
    port: u16,
    got: Arc<Mutex<Vec<u8>>>,
}

impl Echo {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let got = Arc::new(Mutex::new(Vec::new()));
        let all = got.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, got) = (stream.unwrap(), all.clone());
                thread::spawn(move || {
                    let mut buffer = [0; 1024];
                    while let Ok(read @ 1..) = stream.read(&mut buffer) {
                        got.lock().unwrap().extend_from_slice(&buffer[..read]);
                        if stream.write_all(&buffer[..read]).is_err() {
                            break;
                        }
                    }
                });
            }
        });
        Self { port, got }
    }

    fn text(&self) -> String {
        String::from_utf8(self.got.lock().unwrap().clone()).unwrap()
    }
}

fn client(proxy: &Proxy) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
    stream.set_read_timeout(Some(AT_LAST)).unwrap();
    stream
}

fn say(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).unwrap();
}

fn hear(stream: &mut TcpStream, text: &str) {
    let mut heard = vec![0; text.len()];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!(heard, text.as_bytes());
}

/// Checks that the stream ends with a reset, without more data.
fn hear_reset(stream: &mut TcpStream) {
    assert_eq!(stream.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
}

fn wait_for_connections(proxy: &Proxy, count: usize) {
    let start = Instant::now();
    while proxy.connections() != count {
        assert!(start.elapsed() < AT_LAST, "{} connections, not {count}", proxy.connections());
        thread::yield_now();
    }
}

#[test]
fn pass_forwards_data_and_the_end() {
    let echo = Echo::start();
    let proxy = Proxy::to(echo.port);
    let mut streams = [client(&proxy), client(&proxy)];
    let text = "ab".repeat(100_000);
    for stream in &mut streams {
        let mut writer = stream.try_clone().unwrap();
        let sent = text.clone();
        let writing = thread::spawn(move || say(&mut writer, &sent));
        hear(stream, &text);
        writing.join().unwrap();
    }
    wait_for_connections(&proxy, 2);
    streams[0].shutdown(Shutdown::Write).unwrap();
    assert_eq!(streams[0].read(&mut [0]).unwrap(), 0);
    wait_for_connections(&proxy, 1);
    let port = proxy.port();
    drop(proxy);
    assert!(matches!(streams[1].read(&mut [0]), Ok(0) | Err(_)));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn refuse_resets_open_and_new_connections() {
    let echo = Echo::start();
    let proxy = Proxy::to(echo.port);
    let mut old = client(&proxy);
    say(&mut old, "a");
    hear(&mut old, "a");
    proxy.set(Behaviour::Refuse);
    hear_reset(&mut old);
    hear_reset(&mut client(&proxy));
    wait_for_connections(&proxy, 0);
    proxy.set(Behaviour::Pass);
    let mut new = client(&proxy);
    say(&mut new, "b");
    hear(&mut new, "b");
}

#[test]
fn clients_are_reset_without_a_server() {
    // The port is bound, so that no other program gets it, but nothing listens on it.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port();
    hear_reset(&mut client(&Proxy::to(port)));
}

#[test]
fn a_black_hole_is_silent_and_closes_nothing() {
    let echo = Echo::start();
    let proxy = Proxy::to(echo.port);
    let mut old = client(&proxy);
    say(&mut old, "a");
    hear(&mut old, "a");
    proxy.set(Behaviour::BlackHole);
    let mut new = client(&proxy);
    for stream in [&mut old, &mut new] {
        say(stream, "b");
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        stream.set_read_timeout(Some(AT_LAST)).unwrap();
    }
    assert_eq!((echo.text().as_str(), proxy.connections()), ("a", 2));
    proxy.set(Behaviour::Pass);
    hear(&mut old, "b");
    hear(&mut new, "b");
}

#[test]
fn a_connection_in_a_black_hole_can_still_be_reset() {
    let echo = Echo::start();
    let proxy = Proxy::to(echo.port);
    proxy.set(Behaviour::BlackHole);
    let mut stream = client(&proxy);
    proxy.set(Behaviour::Refuse);
    hear_reset(&mut stream);
}

#[test]
fn each_direction_has_its_delay() {
    let echo = Echo::start();
    let proxy = Proxy::to(echo.port);
    let mut stream = client(&proxy);
    let [to_server, to_client] = [30, 50].map(Duration::from_millis);
    proxy.set(Behaviour::Delay { to_server, to_client });
    let start = Instant::now();
    say(&mut stream, "a");
    hear(&mut stream, "a");
    assert!(start.elapsed() >= to_server + to_client);
    // Delayed data is sent at once when the delay ends.
    proxy.set(Behaviour::Delay { to_server: Duration::from_hours(1), to_client });
    say(&mut stream, "b");
    proxy.set(Behaviour::Pass);
    hear(&mut stream, "b");
}

#[test]
fn slices_have_pauses_between_them() {
    let echo = Echo::start();
    let proxy = Proxy::to(echo.port);
    let mut stream = client(&proxy);
    let pause = Duration::from_millis(5);
    proxy.set(Behaviour::Slice { bytes: NonZeroUsize::new(3).unwrap(), pause });
    let start = Instant::now();
    say(&mut stream, "abcdefghij");
    hear(&mut stream, "abcdefghij");
    assert!(start.elapsed() >= pause * 3);
}

#[test]
fn a_cut_resets_after_the_bytes_of_one_direction() {
    let echo = Echo::start();
    let proxy = Proxy::to(echo.port);
    let mut stream = client(&proxy);
    say(&mut stream, "abc");
    hear(&mut stream, "abc");
    proxy.set(Behaviour::Cut { direction: Direction::ToServer, after: 2 });
    say(&mut stream, "de");
    hear(&mut stream, "de");
    say(&mut stream, "f");
    hear_reset(&mut stream);
    assert_eq!(echo.text(), "abcde");
    proxy.set(Behaviour::Cut { direction: Direction::ToClient, after: 1 });
    let mut stream = client(&proxy);
    say(&mut stream, "g");
    hear(&mut stream, "g");
    say(&mut stream, "h");
    hear_reset(&mut stream);
    assert_eq!(echo.text(), "abcdegh");
}

#[test]
fn a_cut_at_a_text_resets_before_it_or_after_its_answer() {
    let echo = Echo::start();
    let proxy = Proxy::to(echo.port);
    proxy.set(Behaviour::CutAt { text: "COMMIT", moment: Moment::BeforeArrival });
    let mut stream = client(&proxy);
    // Send pieces, none of which has the whole text.
    say(&mut stream, "x;COM");
    hear(&mut stream, "x;COM");
    say(&mut stream, "MIT");
    hear_reset(&mut stream);
    assert_eq!(echo.text(), "x;COM");
    proxy.set(Behaviour::CutAt { text: "COMMIT", moment: Moment::AfterAnswer });
    let mut stream = client(&proxy);
    say(&mut stream, "y;");
    hear(&mut stream, "y;");
    say(&mut stream, "COMMIT");
    hear_reset(&mut stream);
    assert_eq!(echo.text(), "x;COMy;COMMIT");
}
