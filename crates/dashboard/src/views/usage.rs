//! What the account uses and what its plan allows.

use askama::Template;

use super::shell::Shell;

/// Usage and limits: `GET A/usage`.
#[derive(Debug, Clone, Template)]
#[template(path = "usage.html")]
pub struct UsagePage {
    /// The frame.
    pub shell: Shell,
    /// The name of the plan.
    pub plan: String,
    /// The API requests of this minute and of this day. Empty if the budget is unknown.
    pub requests: Vec<Meter>,
    /// Links, groups, domains, pixels and tags.
    pub limits: Vec<Meter>,
    /// The longest period of analytics, as a sentence. Empty shows none.
    pub analytics: String,
    /// What the plan has and lacks.
    pub features: Vec<PlanFeature>,
}

/// A quantity and its limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meter {
    /// What is counted, such as `Links`.
    pub label: String,
    /// How much is used.
    pub used: u64,
    /// How much is allowed.
    pub allowed: u64,
    /// How much is used, such as `1,204`.
    pub used_text: String,
    /// How much is allowed, such as `5,000`.
    pub allowed_text: String,
    /// A remark, such as `Starts again at 00:00 UTC.` Empty shows none.
    pub note: String,
}

impl Meter {
    /// From which quantity on the meter warns.
    fn high(&self) -> u64 {
        self.allowed / 10 * 8 + self.allowed % 10 * 8 / 10
    }

    /// The filled part of the meter.
    pub(super) fn percent(&self) -> u128 {
        let (used, allowed) = (u128::from(self.used.min(self.allowed)), u128::from(self.allowed));
        (used * 100).checked_div(allowed).unwrap_or(0)
    }

    pub(super) fn is_full(&self) -> bool {
        self.allowed > 0 && self.used >= self.allowed
    }

    pub(super) fn is_high(&self) -> bool {
        !self.is_full() && self.allowed > 0 && self.used >= self.high()
    }
}

/// A feature that plans have or lack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanFeature {
    /// Its name, such as `Custom domains`.
    pub name: String,
    /// Whether the plan has it.
    pub included: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meter_warns_from_80_percent_on_and_is_full_at_its_limit() {
        for (used, allowed, percent, is_high, is_full) in [
            (0, 0, 0, false, false),
            (0, 5, 0, false, false),
            (7, 10, 70, false, false),
            (8, 10, 80, true, false),
            (10, 10, 100, false, true),
            (12, 10, 100, false, true),
            (u64::MAX - 1, u64::MAX, 99, true, false),
        ] {
            let meter = Meter { used, allowed, ..Meter::default() };
            assert_eq!(
                (meter.percent(), meter.is_high(), meter.is_full()),
                (percent, is_high, is_full),
                "{meter:?}"
            );
        }
    }
}
