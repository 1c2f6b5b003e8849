//! The device, the operating system and the browser of an agent (D47).

use crate::device::device;
use crate::enricher::examined;
use crate::sources::Sources;

/// What an agent names, as the dimensions have it. An unknown value is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentNames {
    /// `desktop`, `mobile`, `tablet`, `tv` or `other`.
    pub device: &'static str,
    /// The family of the operating system, such as `iOS`.
    pub os: String,
    /// The family of the browser, such as `Mobile Safari`.
    pub browser: String,
}

/// Names the parts of agents by the rules of the recorder, so that the answer to a visit agrees with its record (D133).
pub struct Agents {
    sources: Sources,
}

impl Agents {
    /// The rules of these lists.
    #[must_use]
    pub const fn new(sources: Sources) -> Self {
        Self { sources }
    }

    /// Whether the rules are compiled. It never waits.
    #[must_use]
    pub fn are_ready(&self) -> bool {
        self.sources.agents_are_ready()
    }

    /// What this `User-Agent` names. It waits until the built-in rules are compiled, which takes a good part of a second.
    #[must_use]
    pub fn names(&self, user_agent: &[u8]) -> AgentNames {
        names(&self.sources, &String::from_utf8_lossy(examined(user_agent)))
    }
}

/// What an agent names, by the rules of these lists.
pub(crate) fn names(sources: &Sources, agent: &str) -> AgentNames {
    let families = sources.agents().map(|rules| rules.families(agent)).unwrap_or_default();
    AgentNames { device: device(agent, &families.os), os: families.os, browser: families.browser }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d133_agents_are_named_as_they_are_recorded() {
        let agents = Agents::new(Sources::default());
        let phone = b"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
            Version/18.5 Mobile/15E148 Safari/604.1";
        let names = agents.names(phone);
        assert_eq!((names.device, &*names.os, &*names.browser), ("mobile", "iOS", "Mobile Safari"));
        assert!(agents.are_ready(), "they are compiled by now");
        assert_eq!(agents.names(b""), AgentNames::default());
        let long = [&phone[..], &b" Chrome".repeat(10_000)].concat();
        let cut = long.get(..512).unwrap();
        assert_eq!(agents.names(&long), agents.names(cut), "only the beginning is examined");
    }

    #[test]
    fn d133_own_rules_are_always_ready() {
        let own = Sources::default().with_agents("browser\tFox\tMy Fox").unwrap();
        let agents = Agents::new(own);
        assert!(agents.are_ready());
        assert_eq!(agents.names(b"Fox").browser, "My Fox");
    }
}
