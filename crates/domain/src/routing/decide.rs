//! Which rule a visit gets.

use std::net::IpAddr;

use super::condition::{Condition, Test};
use super::names::{Device, language_covers};
use super::split::Variant;
use super::{Rule, RuleTarget, Rules};
use crate::country_code::CountryCode;
use crate::target_url::TargetUrl;
use crate::timestamp::Timestamp;

/// What is known about a visit. `None` is unknown: a condition about it does not hold, and its negation does not either. The default
/// knows nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Facts<'a> {
    /// The country of the visitor's address.
    pub country: Option<CountryCode>,
    /// The kind of device.
    pub device: Option<Device>,
    /// The operating system, as analytics calls it.
    pub os: Option<&'a str>,
    /// The browser, as analytics calls it.
    pub browser: Option<&'a str>,
    /// The language that the visitor likes best, such as `de-AT`.
    pub language: Option<&'a str>,
    /// When the visit is.
    pub now: Option<Timestamp>,
    /// The query of the address, as it was sent, without its `?`. Without a query it is empty, not unknown.
    pub query: Option<&'a [u8]>,
    /// The host of the page that the visitor comes from, in ASCII form; empty if the request names no page.
    pub referrer: Option<&'a str>,
    /// The visitor's address.
    pub address: Option<IpAddr>,
    /// The header `User-Agent`; empty without it. Splits share visitors by it and the address.
    pub agent: &'a [u8],
}

/// The rule that a visit gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The variant, if the rule has a split.
    pub variant: Option<&'a Variant>,
    /// Where the visitor is sent.
    pub target_url: &'a TargetUrl,
}

impl Decision<'_> {
    /// The value of the dimension `rule` of analytics (D134): `name` or `name.variant`. A rule without a name has its id there.
    #[must_use]
    pub fn label(&self) -> String {
        let rule = self.rule.label();
        match self.variant {
            None => rule,
            Some(variant) => format!("{rule}.{}", variant.name),
        }
    }
}

impl Rules {
    /// The first rule that holds; `None` if none does, so that the visit gets the redirect's own target.
    #[must_use]
    pub fn decide(&self, facts: &Facts<'_>) -> Option<Decision<'_>> {
        let holds = |condition: &Condition| condition.holds(facts) == Some(true);
        let rule = self.as_slice().iter().find(|rule| rule.conditions.iter().all(holds))?;
        match &rule.leads_to {
            RuleTarget::Target(target_url) => Some(Decision { rule, variant: None, target_url }),
            RuleTarget::Split(split) => {
                let key = self.split_key()?;
                let slot = key.slot(facts.address, facts.agent, split.total_weight());
                let variant = split.variant_at(slot)?;
                Some(Decision { rule, variant: Some(variant), target_url: &variant.target_url })
            }
        }
    }
}

impl Condition {
    /// Whether it holds; `None` if the fact is unknown, so that it does not hold, negated or not.
    #[must_use]
    pub fn holds(&self, facts: &Facts<'_>) -> Option<bool> {
        self.test.answer(facts).map(|answer| answer != self.is_negated)
    }
}

impl Test {
    fn answer(&self, facts: &Facts<'_>) -> Option<bool> {
        Some(match self {
            Self::Country(countries) => countries.as_slice().contains(&facts.country?),
            Self::Device(devices) => devices.as_slice().contains(&facts.device?),
            Self::Os(names) => {
                let os = facts.os?;
                names.iter().any(|name| name.is(os))
            }
            Self::Browser(names) => {
                let browser = facts.browser?;
                names.iter().any(|name| name.is(browser))
            }
            Self::Language(tags) => {
                let language = facts.language?;
                tags.iter().any(|tag| language_covers(tag, language))
            }
            Self::Date(range) => range.contains(facts.now?),
            Self::Hours(hours) => hours.holds(facts.now?)?,
            Self::Query(test) => test.holds(facts.query?),
            Self::Referrer(hosts) => {
                let referrer = facts.referrer?;
                hosts.iter().any(|host| host.covers(referrer))
            }
            Self::Network(networks) => {
                let address = facts.address?;
                networks.iter().any(|network| network.contains(address))
            }
        })
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
