//! Requests that no well-behaved client can send.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Sends these bytes over a connection of their own and reads until the other side closes or falls silent. It is
/// the answer that counts: a connection that is closed without one gives an empty text.
pub fn exchange(address: &str, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The other side may answer and close before it has read everything; its answer is still to be read.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(read) = stream.read(&mut chunk) {
        if read == 0 {
            break;
        }
        answer.extend_from_slice(&chunk[..read]);
        if is_complete(&answer) {
            break;
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}

fn is_complete(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    length.is_some_and(|length| body.len() >= length)
}

/// The status, the head and the body of an answer.
pub fn parse_response(answer: &str) -> (u16, String, String) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no status: {head}")), head.to_owned(), body.to_owned())
}
