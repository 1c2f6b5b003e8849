//! The requests of visitors, their pace, and their results.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

use crate::tls_client::TlsClient;

/// A browser's user agent.
pub(super) const USER_AGENT: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/// Requests for the paths of a file, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Visits {
    /// The file with one path a line.
    pub(super) file: PathBuf,
    /// The number of lines.
    pub(super) count: u32,
    /// The hostname of the requests.
    pub(super) host: &'static str,
    /// Whether each request uses a new connection.
    pub(super) is_closing: bool,
    /// The client of a server that speaks TLS.
    pub(super) tls: Option<TlsClient>,
}

impl Visits {
    /// Visits of these paths on the system domain, with keep-alive.
    pub(super) fn of(folder: &Path, name: &str, paths: &[String]) -> Result<Self> {
        let file = folder.join(name);
        fs::write(&file, paths.join("\n") + "\n")?;
        Ok(Self { file, count: u32::try_from(paths.len())?, host: "localhost", is_closing: false, tls: None })
    }

    pub(super) fn on(self, host: &'static str) -> Self {
        Self { host, ..self }
    }

    pub(super) fn closing(self) -> Self {
        Self { is_closing: true, ..self }
    }

    pub(super) fn over_tls(self, client: TlsClient) -> Self {
        Self { tls: Some(client), ..self }
    }

    /// The requests as bytes.
    pub(super) fn requests(&self) -> Result<Vec<Vec<u8>>> {
        let Self { host, is_closing, .. } = self;
        let close = if *is_closing { "Connection: close\r\n" } else { "" };
        let request = |path: &str| {
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {USER_AGENT}\r\n{close}\r\n")
                .into_bytes()
        };
        Ok(fs::read_to_string(&self.file)?.lines().map(request).collect())
    }
}

/// The pace of visitors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// On 64 connections, as fast as the server answers.
    Saturated,
    /// About 20,000 requests a second on 64 connections, which every contender can serve.
    Paced,
    /// About 1,000 requests a second on 16 connections.
    Modest,
}

impl Pace {
    pub(super) const ALL: [Self; 3] = [Self::Saturated, Self::Paced, Self::Modest];

    pub(super) const fn connections(self) -> u32 {
        match self {
            Self::Saturated | Self::Paced => 64,
            Self::Modest => 16,
        }
    }

    /// The mean time between an answer and the next request of a connection, in milliseconds.
    pub(super) const fn think(self) -> u32 {
        match self {
            Self::Saturated => 0,
            Self::Paced => 3,
            Self::Modest => 16,
        }
    }
}

/// The results of a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Turn {
    pub(super) requests: u64,
    pub(super) elapsed: Duration,
    /// The number of answers with a status of 400 or more.
    pub(super) refused: u64,
    /// The number of requests without an answer.
    pub(super) unanswered: u64,
    /// The 50th, 99th and 99.9th percentile of the latency.
    pub(super) p50: Duration,
    pub(super) p99: Duration,
    pub(super) p999: Duration,
    /// The processor time of the contender.
    pub(super) work: Duration,
    /// The share of its core that other processes used.
    pub(super) others: f64,
}
