//! Plans: what an account may do, and how much (D15).

use std::collections::BTreeMap;
use std::fmt;

use crate::plan_resource::PlanLimits;
use crate::quota_window::{QuotaWindow, RequestBudget};
use crate::stored::{self, MalformedStored};
use crate::violation::{FieldError, ViolationCode};

/// A plan's name: 1 to 32 of `a-z`, `0-9`, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanName(String);

impl PlanName {
    /// Checks a name.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if (1..=32).contains(&text.len()) && text.chars().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            let message = "must be 1 to 32 characters of a-z, 0-9, - and _";
            Err(FieldError::new(ViolationCode::InvalidFormat, message))
        }
    }

    /// Reads a stored name: one line. A node looks up plans by name, and treats an unknown one as no plan.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::some_line(text).map(Self)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlanName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A feature that a plan may include.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Connecting custom domains.
    CustomDomains,
    /// Pixels on redirects.
    Pixels,
    /// Blocking visitors by country.
    GeoBlocking,
    /// Blocking known bots.
    Antibot,
    /// Limits on who may follow a link, and how often (D137).
    LinkAccess,
    /// Rules that send visitors of one link to several targets (D137).
    Routing,
    /// Cards that link previewers show (D137).
    LinkPreviews,
}

impl Feature {
    /// All features.
    pub const ALL: [Self; 7] = [
        Self::CustomDomains,
        Self::Pixels,
        Self::GeoBlocking,
        Self::Antibot,
        Self::LinkAccess,
        Self::Routing,
        Self::LinkPreviews,
    ];

    /// The name in plans and answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CustomDomains => "custom_domains",
            Self::Pixels => "pixels",
            Self::GeoBlocking => "geo_blocking",
            Self::Antibot => "antibot",
            Self::LinkAccess => "link_access",
            Self::Routing => "routing",
            Self::LinkPreviews => "link_previews",
        }
    }

    /// The feature of this name.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        Self::ALL.into_iter().find(|feature| feature.as_str() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            FieldError::new(ViolationCode::InvalidValue, format!("must be one of {names}"))
        })
    }

    const fn bit(self) -> u8 {
        match self {
            Self::CustomDomains => 1,
            Self::Pixels => 2,
            Self::GeoBlocking => 4,
            Self::Antibot => 8,
            Self::LinkAccess => 16,
            Self::Routing => 32,
            Self::LinkPreviews => 64,
        }
    }
}

/// The features of a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FeatureSet(u8);

impl FeatureSet {
    /// No feature.
    #[must_use]
    pub const fn none() -> Self {
        Self(0)
    }

    /// Every feature.
    #[must_use]
    pub fn all() -> Self {
        Feature::ALL.into_iter().collect()
    }

    /// Whether the feature is included.
    #[must_use]
    pub const fn contains(self, feature: Feature) -> bool {
        self.0 & feature.bit() != 0
    }

    /// The features, in the order of [`Feature::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.into_iter().filter(move |feature| self.contains(*feature))
    }
}

impl FromIterator<Feature> for FeatureSet {
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> Self {
        Self(features.into_iter().fold(0, |bits, feature| bits | feature.bit()))
    }
}

/// A plan of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Its name.
    pub name: PlanName,
    /// Whether it includes the API.
    pub api_access: bool,
    /// The request budget.
    pub budget: RequestBudget,
    /// The limits.
    pub limits: PlanLimits,
    /// The features.
    pub features: FeatureSet,
}

/// The plans of an installation, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plans(BTreeMap<PlanName, Plan>);

impl Plans {
    /// The name of the built-in plan for accounts of the operator's own (D15).
    pub const UNLIMITED: &'static str = "unlimited";

    /// The built-in plans of D15.
    #[must_use]
    pub fn builtin() -> Self {
        let plan = |name: &str, api_access, (per_minute, per_day), limits, features: &[Feature]| Plan {
            name: PlanName(name.to_owned()),
            api_access,
            budget: RequestBudget { per_minute, per_day },
            limits,
            features: features.iter().copied().collect(),
        };
        let paid = [Feature::CustomDomains, Feature::Pixels, Feature::LinkAccess, Feature::LinkPreviews];
        [
            plan("free", false, (0, 0), PlanLimits::FREE, &[]),
            plan("pro", false, (0, 0), PlanLimits::PRO, &paid),
            plan("agency", true, (120, 10_000), PlanLimits::AGENCY, &Feature::ALL),
            plan(Self::UNLIMITED, true, (1_000_000, 1_000_000), PlanLimits::UNLIMITED, &Feature::ALL),
        ]
        .into_iter()
        .fold(Self(BTreeMap::new()), Self::with)
    }

    /// These plans with another one, which replaces a plan of the same name.
    #[must_use]
    pub fn with(mut self, plan: Plan) -> Self {
        self.0.insert(plan.name.clone(), plan);
        self
    }

    /// The plan of this name.
    #[must_use]
    pub fn get(&self, name: &PlanName) -> Option<&Plan> {
        self.0.get(name)
    }

    /// The plan [`Plans::UNLIMITED`], if it has the API and a larger budget than `budget` in this window. The operator may have
    /// replaced the built-in one.
    #[must_use]
    pub fn roomier_than(&self, budget: RequestBudget, window: QuotaWindow) -> Option<&Plan> {
        let unlimited = self.0.values().find(|plan| plan.name.as_str() == Self::UNLIMITED)?;
        let is_roomier = unlimited.budget.of(window) > budget.of(window);
        (unlimited.api_access && is_roomier).then_some(unlimited)
    }

    /// All plans, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Plan> {
        self.0.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan_resource::PlanResource;

    #[test]
    fn d15_the_builtin_plans_are_those_of_the_table() {
        let plans = Plans::builtin();
        let get = |name| plans.get(&PlanName::parse(name).unwrap()).unwrap();
        let agency = get("agency");
        assert!(agency.api_access);
        assert_eq!(agency.budget, RequestBudget { per_minute: 120, per_day: 10_000 });
        assert_eq!(agency.limits.of(PlanResource::Links), 1_000_000);
        assert_eq!(agency.features, FeatureSet::all());
        let free = get("free");
        assert!(!free.api_access);
        assert_eq!(free.features, FeatureSet::none());
        assert_eq!(
            (free.limits.links, free.limits.groups, free.limits.domains, free.limits.pixels),
            (50, 5, 0, 0)
        );
        let tags = ["free", "pro", "agency"].map(|name| get(name).limits.of(PlanResource::Tags));
        assert_eq!(tags, [20, 200, 5_000], "D122");
        let pro: Vec<_> = get("pro").features.iter().map(Feature::as_str).collect();
        assert_eq!(pro, ["custom_domains", "pixels", "link_access", "link_previews"], "D137");
        let unlimited = get("unlimited");
        assert!(unlimited.api_access);
        assert_eq!(unlimited.budget, RequestBudget { per_minute: 1_000_000, per_day: 1_000_000 });
        assert!(PlanResource::ALL.iter().all(|resource| unlimited.limits.of(*resource) == 100_000_000));
        assert_eq!(unlimited.limits.analytics_days, 3_660);
        assert_eq!(unlimited.features, FeatureSet::all());
        assert_eq!(plans.iter().count(), 4);
    }

    #[test]
    fn d15_a_plan_replaces_the_builtin_one_of_its_name() {
        let agency = PlanName::parse("agency").unwrap();
        let mut plan = Plans::builtin().get(&agency).unwrap().clone();
        plan.limits.links = 7;
        let plans = Plans::builtin().with(plan);
        assert_eq!((plans.iter().count(), plans.get(&agency).unwrap().limits.links), (4, 7));
    }

    #[test]
    fn d15_only_a_larger_budget_is_roomier() {
        let plans = Plans::builtin();
        let budget = |per_minute, per_day| RequestBudget { per_minute, per_day };
        let roomier = |plans: &Plans, budget, window| plans.roomier_than(budget, window).is_some();
        for (window, small, large) in [
            (QuotaWindow::Minute, budget(120, 1_000_000), budget(1_000_000, 1)),
            (QuotaWindow::Day, budget(1_000_000, 10_000), budget(1, 1_000_000)),
        ] {
            assert!(roomier(&plans, small, window));
            assert!(!roomier(&plans, large, window));
        }
        let mut replaced = plans.get(&PlanName::parse("unlimited").unwrap()).unwrap().clone();
        replaced.api_access = false;
        assert!(!roomier(&plans.with(replaced), budget(1, 1), QuotaWindow::Minute));
    }

    #[test]
    fn d15_plan_names_are_restricted() {
        for bad in ["", "Agency", "a b", "ünder", &"a".repeat(33)] {
            assert!(PlanName::parse(bad).is_err(), "{bad:?}");
        }
        for feature in Feature::ALL {
            assert_eq!(Feature::parse(feature.as_str()), Ok(feature));
        }
    }
}
