//! Bots that [`classify`](crate::classify) does not know, by regular expressions.

use std::sync::OnceLock;

use regex_filtered::{Builder, Regexes};

use crate::sources::{SourceError, SourceKind, rows};
use crate::vendored;

/// Patterns of the fetched list that also match people's browsers. They match phone builds, browsers within
/// apps and editors (ADR 40), or parts of other words, such as `RED/` in `WIRED/` and `Sonic` in `ViewSonic`.
#[rustfmt::skip]
const BROWSER_PATTERNS: &[&str] = &[
    r"AP3A\.240617\.008", "MetaIAB Facebook", "Viber", r"Code\/1\.", r"Trae\/", "okhttp", "Butterfly", "Sonic", r"008\/",
    r"RED\/", "speedy", "Fluid", "ds9", "Nitro-", "Adventurer", "Magellan", "Hello World", r"mail\.ru",
];

static BUILT_IN: OnceLock<Option<Crawlers>> = OnceLock::new();

/// Compiled patterns.
pub(crate) struct Crawlers(Regexes);

impl Crawlers {
    /// The built-in patterns, compiled at first use.
    pub(crate) fn built_in() -> Option<&'static Self> {
        // A test compiles them, so `None` cannot occur.
        BUILT_IN.get_or_init(|| Self::compile(vendored::CRAWLERS, BROWSER_PATTERNS).ok()).as_ref()
    }

    /// The built-in patterns, if they are compiled. It never waits.
    pub(crate) fn built_in_if_compiled() -> Option<&'static Self> {
        BUILT_IN.get()?.as_ref()
    }

    /// Parses regular expressions, one a line. An agent is a bot if any of them matches a part of it.
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

    pub(crate) fn matches(&self, agent: &str) -> bool {
        self.0.is_match(agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_patterns_compile() {
        assert_eq!(Crawlers::compile(vendored::CRAWLERS, BROWSER_PATTERNS).err(), None);
    }

    #[test]
    fn every_excluded_pattern_is_on_the_list() {
        for pattern in BROWSER_PATTERNS {
            assert!(vendored::CRAWLERS.lines().any(|line| line == *pattern), "{pattern}");
        }
    }
}
