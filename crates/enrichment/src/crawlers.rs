//! Bots that `signpost-user-agents` does not know, by regular expressions.

use std::sync::LazyLock;

use regex_filtered::{Builder, Regexes};

use crate::sources::{SourceError, SourceKind, rows};
use crate::vendored;

/// Patterns of the fetched list that match software of people too: apps that open links, editors and players. ADR 40 says why
/// these must not count as bots.
const PEOPLES: &[&str] = &[];

/// Compiled patterns.
pub(crate) struct Crawlers(Regexes);

impl Crawlers {
    /// The built-in patterns, compiled when they are first asked for.
    pub(crate) fn built_in() -> Option<&'static Self> {
        // A test compiles them, so `None` is out of reach.
        static BUILT_IN: LazyLock<Option<Crawlers>> =
            LazyLock::new(|| Crawlers::compile(vendored::CRAWLERS, PEOPLES).ok());
        BUILT_IN.as_ref()
    }

    /// Reads regular expressions, one a line. An agent is a bot if one of them matches any part of it.
    pub(crate) fn parse(text: &str) -> Result<Self, SourceError> {
        Self::compile(text, &[])
    }

    fn compile(text: &str, left_out: &[&str]) -> Result<Self, SourceError> {
        let error = |line, problem| SourceError { kind: SourceKind::Crawlers, line, problem };
        let mut builder = Builder::new();
        for (line, pattern) in rows(text).filter(|(_, pattern)| !left_out.contains(pattern)) {
            builder = builder.push(pattern).map_err(|problem| error(line, problem.to_string()))?;
        }
        builder.build().map(Self).map_err(|problem| error(0, problem.to_string()))
    }

    pub(crate) fn know(&self, agent: &str) -> bool {
        self.0.is_match(agent)
    }
}
