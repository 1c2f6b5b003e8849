//! What visitors ask for, how fast, and how it went.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

/// As browsers name themselves.
pub(super) const USER_AGENT: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/// Requests for the paths of a file, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Visits {
    /// A path in each line.
    pub(super) file: PathBuf,
    /// How many lines there are.
    pub(super) count: u32,
    /// The hostname that is asked.
    pub(super) host: &'static str,
    /// Whether each request has a connection of its own.
    pub(super) is_closing: bool,
}

impl Visits {
    /// Visits of these paths on the system domain, on connections that are kept.
    pub(super) fn of(folder: &Path, name: &str, paths: &[String]) -> Result<Self> {
        let file = folder.join(name);
        fs::write(&file, paths.join("\n") + "\n")?;
        Ok(Self { file, count: u32::try_from(paths.len())?, host: "localhost", is_closing: false })
    }

    pub(super) fn on(self, host: &'static str) -> Self {
        Self { host, ..self }
    }

    pub(super) fn closing(self) -> Self {
        Self { is_closing: true, ..self }
    }

    /// As they are sent.
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

/// How fast visitors come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// On 64 connections, as fast as they are answered.
    Saturated,
    /// About 20,000 requests a second on 64 connections: less than anything here can do.
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

/// How a turn went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Turn {
    pub(super) requests: u64,
    pub(super) elapsed: Duration,
    /// How many of the answers had a status of 400 or more.
    pub(super) refused: u64,
    /// How many requests had no answer.
    pub(super) unanswered: u64,
    /// The times in which half, 99 % and 99.9 % of the requests were answered.
    pub(super) p50: Duration,
    pub(super) p99: Duration,
    pub(super) p999: Duration,
    /// The processor time of who answered.
    pub(super) work: Duration,
    /// The part of its core that others took.
    pub(super) others: f64,
}
