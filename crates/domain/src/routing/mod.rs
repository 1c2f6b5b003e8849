//! Rules: where a redirect sends which visitors (D133), and splits, which share visitors among several targets (D134).
//!
//! [`Rules::decide`] says what a visit gets. It is written to be obviously right: what serves visits compiles rules to a faster form,
//! and must agree with it. It needs the feature `routing`.

mod condition;
#[cfg(feature = "routing")]
mod decide;
mod hours;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "json")]
mod json_reader;
mod names;
mod places;
mod request;
mod split;

pub use condition::{AnyOf, Condition, DateRange, QueryIs, QueryTest, Test};
#[cfg(feature = "routing")]
pub use decide::{Decision, Facts};
#[cfg(feature = "analytics")]
pub use hours::LocalOffset;
pub use hours::{Hours, TimeOfDay, Weekday, Weekdays, ZoneName};
#[cfg(feature = "routing")]
pub use json::{read_rules, read_rules_text};
pub use names::{AgentName, Device, QueryText, RuleName, Weight, language_covers};
pub use places::{Network, ReferrerHost};
pub(crate) use request::paths_of_targets;
pub use request::{RuleDraft, RuleTargetDraft, RulesRequest, VariantDraft};
pub use split::{Split, SplitKey, Variant};

use crate::id::RuleId;
use crate::stored::{self, MalformedStored};
use crate::target_url::TargetUrl;
use crate::utm::Utm;

/// Where the visitors of a rule are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleTarget {
    /// `target_url`: to one target.
    Target(TargetUrl),
    /// `split`: to one of several.
    Split(Split),
}

impl RuleTarget {
    /// All targets.
    pub fn targets(&self) -> impl Iterator<Item = &TargetUrl> {
        let (one, variants) = match self {
            Self::Target(target) => (Some(target), [].as_slice()),
            Self::Split(split) => (None, split.as_slice()),
        };
        one.into_iter().chain(variants.iter().map(|variant| &variant.target_url))
    }
}

/// A rule of a redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its id.
    pub id: RuleId,
    /// Its name, unique in the redirect.
    pub name: Option<RuleName>,
    /// The conditions, all of which must hold. Without any, the rule is for all visitors.
    pub conditions: Vec<Condition>,
    /// Where its visitors are sent.
    pub leads_to: RuleTarget,
}

impl Rule {
    /// The maximum number of conditions.
    pub const MAX_CONDITIONS: usize = 5;

    /// What analytics calls the rule: its name, or else its id.
    #[must_use]
    pub fn label(&self) -> String {
        self.name.as_ref().map_or_else(|| self.id.to_string(), ToString::to_string)
    }
}

/// The rules of a redirect, in order: the first that holds decides. The default has none, and sends all visitors to the redirect's own
/// target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// `None` without rules, so that almost all redirects pay one word for them.
    kept: Option<Box<Kept>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    key: SplitKey,
    list: Vec<Rule>,
}

impl Rules {
    /// The field of a redirect.
    pub const FIELD: &'static str = "rules";

    /// The field of a redirect in lists (D125), and the filter of lists (D126).
    pub const HAS_FIELD: &'static str = "has_rules";

    /// The maximum number of rules.
    pub const MAX: usize = 20;

    /// How many bytes the names, the targets and the values of conditions have at most, all together. A node reads the rules of up to
    /// a thousand links at once (D124).
    pub const MAX_BYTES: usize = 64 * 1024;

    /// How many bytes the locations of all rules have at most if `utm` adds parameters (D132): the percent-encoded targets of
    /// [`Self::MAX_BYTES`] without any can have no more. So a node can keep every link in memory.
    pub const MAX_LOCATION_BYTES: usize = 3 * Self::MAX_BYTES;

    /// The rules with this key; none without a rule. Nothing judges them: requests do (D133).
    #[must_use]
    pub fn new(key: SplitKey, list: Vec<Rule>) -> Self {
        let has_any = !list.is_empty();
        Self { kept: has_any.then(|| Box::new(Kept { key, list })) }
    }

    /// Stored rules with their key, perhaps more than the current rule allows; none without a rule.
    pub fn from_stored(key: SplitKey, list: Vec<Rule>) -> Result<Self, MalformedStored> {
        stored::items(list).map(|list| Self::new(key, list))
    }

    /// The rules, in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Rule] {
        self.kept.as_ref().map_or(&[], |kept| &kept.list)
    }

    /// Whether there is no rule.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.kept.is_none()
    }

    /// The key of the splits; `None` without rules.
    #[must_use]
    pub fn split_key(&self) -> Option<SplitKey> {
        self.kept.as_ref().map(|kept| kept.key)
    }

    /// The targets of all rules, with their variants.
    pub fn targets(&self) -> impl Iterator<Item = &TargetUrl> {
        self.as_slice().iter().flat_map(|rule| rule.leads_to.targets())
    }

    /// The rules with the parameters of a campaign in each target (D132).
    #[must_use]
    pub fn with_utm(&self, utm: &Utm) -> Self {
        let mut rules = self.clone();
        for rule in rules.kept.iter_mut().flat_map(|kept| &mut kept.list) {
            match &mut rule.leads_to {
                RuleTarget::Target(target) => *target = target.with_utm(utm),
                RuleTarget::Split(split) => {
                    let variants = split.as_slice().iter().map(|variant| Variant {
                        target_url: variant.target_url.with_utm(utm),
                        ..variant.clone()
                    });
                    *split = Split::new(variants.collect());
                }
            }
        }
        rules
    }

    /// How many bytes count towards [`Self::MAX_BYTES`].
    #[must_use]
    pub fn size(&self) -> usize {
        let name = |name: &RuleName| name.as_str().len();
        let of_rule = |rule: &Rule| {
            let conditions: usize = rule.conditions.iter().map(|condition| condition.test.size()).sum();
            let targets: usize = rule.leads_to.targets().map(|target| target.as_str().len()).sum();
            let variants: usize = match &rule.leads_to {
                RuleTarget::Target(_) => 0,
                RuleTarget::Split(split) => split.as_slice().iter().map(|variant| name(&variant.name)).sum(),
            };
            rule.name.as_ref().map_or(0, name) + conditions + targets + variants
        };
        self.as_slice().iter().map(of_rule).sum()
    }
}

#[cfg(test)]
pub(crate) mod samples;
