//! The rule that tells programs from people (D48).

use crate::crawlers::Crawlers;
use crate::enricher::examined;
use crate::programs::classify;
use crate::sources::Sources;

/// Judges whether a visit is a bot's. The recorder and the visitors' side ask the same rule, so the answer to a visit agrees
/// with its record (D57), except in the first second of a process, while the built-in patterns are compiled.
pub struct Bots {
    sources: Sources,
}

impl Bots {
    /// The rule with these lists.
    #[must_use]
    pub const fn new(sources: Sources) -> Self {
        Self { sources }
    }

    /// Compiles the built-in patterns, unless they are compiled or replaced. It takes a good part of a second.
    pub fn warm_up(&self) {
        let _ = self.sources.crawlers();
    }

    /// Whether a visit with this `User-Agent` and this `Sec-Purpose` counts as a bot's.
    ///
    /// It never waits. Until the built-in patterns are compiled, the names and habits of [`classify`] decide alone:
    /// they know nearly every program that follows links, and count no visit as a bot's that the patterns would not.
    #[must_use]
    pub fn is_bot(&self, user_agent: &[u8], purpose: &[u8]) -> bool {
        let agent = examined(user_agent);
        is_ahead_of_visit(purpose)
            || is_program(agent, || String::from_utf8_lossy(agent), self.sources.ready_crawlers())
    }

    /// Whether `agent` is a program's. `readable` is its text. It waits until the built-in patterns are compiled.
    pub(crate) fn is_program(&self, agent: &[u8], readable: &str) -> bool {
        is_program(agent, || readable, self.sources.crawlers())
    }
}

fn is_program<Text: AsRef<str>>(
    agent: &[u8],
    readable: impl FnOnce() -> Text,
    crawlers: Option<&Crawlers>,
) -> bool {
    classify(agent).is_some() || crawlers.is_some_and(|crawlers| crawlers.matches(readable().as_ref()))
}

/// Whether a header such as `Sec-Purpose` says that no person sees the page yet: `prefetch;prerender`,
/// `preview` (D48).
pub(crate) fn is_ahead_of_visit(purpose: &[u8]) -> bool {
    const AHEAD: [&[u8]; 3] = [b"prefetch", b"prerender", b"preview"];
    examined(purpose)
        .split(|byte| !byte.is_ascii_alphanumeric())
        .any(|word| AHEAD.iter().any(|ahead| word.eq_ignore_ascii_case(ahead)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d48_prefetches_prerenders_and_previews_precede_a_visit() {
        for purpose in
            ["prefetch", "prefetch;prerender", "Prefetch; anonymous-client-ip", "prerender", "preview"]
        {
            assert!(is_ahead_of_visit(purpose.as_bytes()), "{purpose}");
        }
        for purpose in ["", "navigate", "prefetched", "\u{0}"] {
            assert!(!is_ahead_of_visit(purpose.as_bytes()), "{purpose}");
        }
    }
}
