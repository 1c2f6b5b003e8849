//! The subset of the Redis protocol that tests need.

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Sends one command over a new connection and returns the answer as text, with one line for each element of a list. An
/// error is that of the server or of the connection.
pub(crate) fn command(port: u16, words: &[&str]) -> Result<String, String> {
    exchange(port, words).map_err(|error| error.to_string())?
}

fn exchange(port: u16, words: &[&str]) -> io::Result<Result<String, String>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_mins(2)))?;
    let words = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len()));
    let request = format!("*{}\r\n{}", words.len(), words.collect::<String>());
    stream.write_all(request.as_bytes())?;
    answer(&mut BufReader::new(stream))
}

fn answer(stream: &mut BufReader<TcpStream>) -> io::Result<Result<String, String>> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let (kind, rest) = line.trim_end().split_at_checked(1).ok_or(io::ErrorKind::UnexpectedEof)?;
    let invalid = |_| io::Error::from(io::ErrorKind::InvalidData);
    match kind {
        "+" | ":" => Ok(Ok(rest.to_owned())),
        "-" => Ok(Err(rest.to_owned())),
        "$" => {
            let Ok(length) = rest.parse::<usize>() else { return Ok(Ok(String::new())) };
            let mut text = vec![0; length + 2];
            stream.read_exact(&mut text)?;
            text.truncate(length);
            Ok(Ok(String::from_utf8_lossy(&text).into_owned()))
        }
        "*" => {
            let elements = (0..rest.parse::<usize>().map_err(invalid)?).map(|_| answer(stream));
            let elements: Vec<Result<String, String>> = elements.collect::<io::Result<_>>()?;
            Ok(elements.into_iter().collect::<Result<Vec<String>, String>>().map(|all| all.join("\n")))
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}
