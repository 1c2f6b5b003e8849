//! One connection with one request.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};

use serde_json::Value;

use super::{Misbehaviour, Shared, endpoints};

/// The maximum length of what is read.
const MAX_LINE: u64 = 64 << 10;

pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: String,
    pub(super) authorization: Option<String>,
    pub(super) content_type: Option<String>,
    pub(super) body: String,
}

/// An answer, without the headers that every answer has.
pub(super) struct Response {
    status: u16,
    headers: String,
    body: String,
}

impl Response {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        let headers = "Content-Type: application/json\r\nCache-Control: no-store\r\n".to_owned();
        Self { status, headers, body: body.to_string() }
    }

    pub(super) fn page(status: u16, text: &str) -> Self {
        let headers = "Content-Type: text/plain; charset=utf-8\r\n".to_owned();
        Self { status, headers, body: text.to_owned() }
    }

    pub(super) fn redirect(location: &str) -> Self {
        Self { status: 303, headers: format!("Location: {location}\r\n"), body: String::new() }
    }
}

/// Answers one request.
pub(super) fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let request = read(&mut stream)?;
    let misbehaviour = endpoints::of(&request.path).and_then(|endpoint| {
        let mut state = shared.state();
        *state.requests.entry(endpoint).or_default() += 1;
        state.misbehaviours.get(&endpoint).cloned()
    });
    let response = match misbehaviour {
        None => endpoints::answer(shared, &request),
        Some(Misbehaviour::Answer(status, body)) => {
            Response { status, headers: "Content-Type: application/json\r\n".to_owned(), body }
        }
        Some(Misbehaviour::Redirect(to)) => Response::redirect(&to),
        Some(Misbehaviour::Huge(bytes)) => Response::page(200, &" ".repeat(bytes)),
        Some(Misbehaviour::Silence) => {
            // Until the client gives up.
            stream.read_to_end(&mut Vec::new())?;
            return Ok(());
        }
    };
    let Response { status, headers, body } = response;
    let stream = stream.get_mut();
    write!(
        stream,
        "HTTP/1.1 {status} Status\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(body.as_bytes())?;
    stream.flush()
}

fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Request> {
    let mut line = String::new();
    stream.take(MAX_LINE).read_line(&mut line)?;
    let mut parts = line.split_whitespace();
    let (method, target) = (parts.next().unwrap_or_default().to_owned(), parts.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    let (mut authorization, mut content_type, mut length) = (None, None, 0);
    loop {
        let mut line = String::new();
        stream.take(MAX_LINE).read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "authorization" => authorization = Some(value.trim().to_owned()),
            "content-type" => content_type = Some(value.trim().to_owned()),
            "content-length" => length = value.trim().parse().map_err(io::Error::other)?,
            _ => {}
        }
    }
    let mut body = String::new();
    stream.take(length).read_to_string(&mut body)?;
    Ok(Request { method, path, query, authorization, content_type, body })
}

/// Where a `GET` request for an address leads.
pub(super) fn location_of(port: u16, url: &str) -> String {
    let (_, rest) = url.split_once("://").expect("an address has a scheme");
    let target = rest.split_once('/').map_or("", |(_, target)| target);
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    write!(stream, "GET /{target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let location = answer.lines().find_map(|line| line.strip_prefix("Location: "));
    location.unwrap_or_else(|| panic!("no redirect: {answer}")).to_owned()
}
