//! A private Redis server without persistence, and a connection to it for a bare `EVALSHA`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::Path;

use anyhow::{Result, bail, ensure};

use crate::keeper::{Kept, free_port};

/// The server.
pub(super) struct Redis {
    server: Kept,
    port: u16,
}

impl Redis {
    pub(super) fn start() -> Result<Self> {
        let port = free_port()?;
        let command = format!(
            "exec $unprivileged redis-server --bind 127.0.0.1 --port {port} --save '' --appendonly no --dir ."
        );
        let is_ready = |_: &Path| Resp::connect(port).is_ok_and(|mut resp| resp.ask(&["PING"]).is_ok());
        Ok(Self { server: Kept::start("redis", &command, is_ready)?, port })
    }

    pub(super) const fn pid(&self) -> u32 {
        self.server.pid()
    }

    pub(super) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(super) fn connect(&self) -> Result<Resp> {
        Resp::connect(self.port)
    }
}

/// A connection that waits for each answer.
pub(super) struct Resp {
    stream: BufReader<TcpStream>,
    line: String,
}

impl Resp {
    fn connect(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), line: String::new() })
    }

    /// A command as bytes.
    pub(super) fn command(words: &[&str]) -> Vec<u8> {
        let count = words.len();
        let words: Vec<String> = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len())).collect();
        format!("*{count}\r\n{}", words.concat()).into_bytes()
    }

    pub(super) fn ask(&mut self, words: &[&str]) -> Result<String> {
        let command = Self::command(words);
        self.send(&command)?;
        Ok(self.line.trim_end().to_owned())
    }

    /// Sends a command, and reads its whole answer. It keeps only the last line.
    pub(super) fn send(&mut self, command: &[u8]) -> Result<()> {
        self.stream.get_mut().write_all(command)?;
        let mut missing = 1_u32;
        while missing > 0 {
            missing -= 1;
            self.line.clear();
            ensure!(self.stream.read_line(&mut self.line)? > 0, "Redis has closed the connection");
            match self.line.split_at_checked(1) {
                Some(("*", count)) => missing += count.trim().parse::<u32>()?,
                // The texts in these answers have only one line.
                Some(("$", _)) => {
                    self.line.clear();
                    self.stream.read_line(&mut self.line)?;
                }
                Some(("+" | ":", _)) => {}
                _ => bail!("Redis answers {}", self.line.trim_end()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Resp;

    #[test]
    fn a_command_starts_with_its_word_count() {
        let command = Resp::command(&["EVALSHA", "a\r\n$b", "1"]);
        assert_eq!(command, b"*3\r\n$7\r\nEVALSHA\r\n$5\r\na\r\n$b\r\n$1\r\n1\r\n");
    }
}
