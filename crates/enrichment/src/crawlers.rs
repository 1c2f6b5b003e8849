//! Bots that `signpost-user-agents` does not know, by regular expressions.

use std::sync::LazyLock;

use regex_filtered::{Builder, Regexes};

use crate::sources::{SourceError, SourceKind, rows};
use crate::vendored;

/// Patterns of the fetched list that match people's browsers too: builds of phones, browsers within apps and editors (ADR 40), and
/// words that are part of others, such as `RED/` of `WIRED/` and `Sonic` of `ViewSonic`.
#[rustfmt::skip]
const PEOPLES: &[&str] = &[
    r"AP3A\.240617\.008", "MetaIAB Facebook", "Viber", r"Code\/1\.", r"Trae\/", "okhttp", "Butterfly", "Sonic", r"008\/",
    r"RED\/", "speedy", "Fluid", "ds9", "Nitro-", "Adventurer", "Magellan", "Hello World", r"mail\.ru",
];

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_patterns_compile() {
        assert_eq!(Crawlers::compile(vendored::CRAWLERS, PEOPLES).err(), None);
    }

    #[test]
    fn every_pattern_that_is_left_out_is_on_the_list() {
        for pattern in PEOPLES {
            assert!(vendored::CRAWLERS.lines().any(|line| line == *pattern), "{pattern}");
        }
    }
}
