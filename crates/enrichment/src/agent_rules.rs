//! Browsers and operating systems by user agent, with the rules of uap-core.

use std::sync::OnceLock;

use signpost_domain::analytics::recorded_text;
use ua_parser::{os, user_agent};

use crate::sources::{SourceError, SourceKind, columns, rows};
use crate::vendored;

/// The families of an agent, without versions. Empty if unknown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Families {
    pub(crate) browser: String,
    pub(crate) os: String,
}

/// Compiled rules. They take a few megabytes, and a good part of a second to compile.
pub(crate) struct AgentRules {
    browsers: user_agent::Extractor<'static>,
    systems: os::Extractor<'static>,
}

static BUILT_IN: OnceLock<Option<AgentRules>> = OnceLock::new();

impl AgentRules {
    /// The built-in rules, compiled at first use.
    pub(crate) fn built_in() -> Option<&'static Self> {
        // A test compiles them, so `None` cannot occur. If it did, clicks would still be counted.
        BUILT_IN.get_or_init(|| Self::parse(vendored::AGENTS).ok()).as_ref()
    }

    /// Whether the built-in rules are compiled. It never waits.
    pub(crate) fn built_in_is_compiled() -> bool {
        BUILT_IN.get().is_some()
    }

    /// Parses rules, one a line: `browser` or `os`, a regular expression, and a name, in columns separated by
    /// tabs. Without a name, the first group of the expression is the name; a name may refer to that group as
    /// `$1`. The first matching rule wins.
    pub(crate) fn parse(text: &str) -> Result<Self, SourceError> {
        let error = |line, problem| SourceError { kind: SourceKind::Agents, line, problem };
        let mut browsers = user_agent::Builder::new();
        let mut systems = os::Builder::new();
        for (line, row) in rows(text) {
            let [kind, regex, name] = columns(row).ok_or_else(|| {
                error(line, "needs `browser` or `os`, an expression and a name, separated by tabs".into())
            })?;
            let name = Some(name).filter(|name| !name.is_empty()).map(|name| name.to_owned().into());
            let regex = regex.to_owned().into();
            match kind {
                "browser" => {
                    let parser = user_agent::Parser {
                        regex,
                        family_replacement: name,
                        v1_replacement: None,
                        v2_replacement: None,
                        v3_replacement: None,
                        v4_replacement: None,
                    };
                    browsers = browsers.push(parser).map_err(|problem| error(line, problem.to_string()))?;
                }
                "os" => {
                    let parser = os::Parser {
                        regex,
                        os_replacement: name,
                        os_v1_replacement: None,
                        os_v2_replacement: None,
                        os_v3_replacement: None,
                        os_v4_replacement: None,
                    };
                    systems = systems.push(parser).map_err(|problem| error(line, problem.to_string()))?;
                }
                other => return Err(error(line, format!("`{other}` is neither `browser` nor `os`"))),
            }
        }
        Ok(Self {
            browsers: browsers.build().map_err(|problem| error(0, problem.to_string()))?,
            systems: systems.build().map_err(|problem| error(0, problem.to_string()))?,
        })
    }

    pub(crate) fn families(&self, agent: &str) -> Families {
        // A family may be copied from the agent, so it needs the same cleaning.
        let browser = self.browsers.extract(agent).map(|found| recorded_text(&found.family));
        let os = self.systems.extract(agent).map(|found| recorded_text(&found.os));
        Families { browser: known(browser), os: known(os) }
    }
}

/// Maps `Other`, as the rules call it, to unknown.
fn known(family: Option<String>) -> String {
    family.filter(|family| family != "Other").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> (usize, String) {
        let SourceError { line, problem, .. } = AgentRules::parse(text).err().unwrap();
        (line, problem)
    }

    #[test]
    fn built_in_rules_compile() {
        assert_eq!(AgentRules::parse(vendored::AGENTS).err().map(|error| error.to_string()), None);
    }

    #[test]
    fn invalid_rule_is_reported_with_its_line() {
        assert_eq!(problem("# c\n\nbrowser\tx").0, 3);
        assert!(problem("robot\tx\tX").1.contains("`robot`"));
        assert_eq!(problem("os\tx\tX\nos\t(x\tX").0, 2);
        assert_eq!(problem("browser\tx\t$1").0, 1);
    }

    #[test]
    fn first_matching_rule_gives_the_name() {
        let rules =
            AgentRules::parse("browser\t(Fox)[a-z]*/\\d\t\nbrowser\tFoxy\tNever\nos\tPlan (9)\tPlan $1")
                .unwrap();
        let expected = Families { browser: "Fox".into(), os: "Plan 9".into() };
        assert_eq!(rules.families("Foxy/1 (Plan 9)"), expected);
        assert_eq!(rules.families("Else"), Families::default());
    }
}
