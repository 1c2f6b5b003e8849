//! A client of the API that costs little itself: one connection that is kept.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use anyhow::{Context, Result, ensure};

use crate::program::Program;

/// A connection to the API of a program.
pub(super) struct Api {
    stream: BufReader<TcpStream>,
    host: String,
    key: String,
}

impl Api {
    pub(super) fn connect(program: &Program) -> Result<Self> {
        let host = program.api.trim_start_matches("http://").to_owned();
        let stream = TcpStream::connect(&host).context("cannot connect to the program")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), host, key: program.key.clone() })
    }

    /// Sends a body, and waits for an answer that says that all went well.
    pub(super) fn post(&mut self, path: &str, body: &str) -> Result<String> {
        let (host, key) = (&self.host, &self.key);
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (mut status, mut length) = (String::new(), 0);
        self.stream.read_line(&mut status)?;
        loop {
            let mut line = String::new();
            ensure!(self.stream.read_line(&mut line)? > 0, "the program has closed the connection");
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse()?;
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer)?;
        let answer = String::from_utf8(answer)?;
        ensure!(status.starts_with("HTTP/1.1 2"), "{} {answer}", status.trim_end());
        ensure!(!answer.contains("\"failed_count\":") || answer.contains("\"failed_count\":0"), "{answer}");
        Ok(answer)
    }
}
