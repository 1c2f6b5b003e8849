//! The rules of redirects, compiled for visits (D133, D134).
//!
//! A link has them as one section of its bytes (`link_layout.rs`):
//!
//! | part | bytes |
//! |---|---|
//! | needed facts: a bit for each type of condition, and one for splits | 1 or 2 |
//! | key of the splits | 16, if a rule has one |
//! | each rule, after its length | |
//! | – its conditions, after their length: a byte of the type and whether it is negated, and the operand after its length | 0 and more |
//! | – the number of variants; 0 without a split | 1 |
//! | – without a split: the label, after its length, and the location | |
//! | – with one: the sum of the weights; then each variant's weight, and after their lengths its label and its location | |
//!
//! Locations have the campaign parameters of the link. Labels are what analytics shows, so a visit builds no text. A visit works out
//! each fact at most once, and only if a rule asks for it.

mod agent_cache;
mod deciding;
mod encoding;
mod hours;
mod parameters;

use signpost_domain::routing::Test;

pub(crate) use agent_cache::AgentCache;
pub(crate) use deciding::{RuledLocation, RulesView};
pub(crate) use encoding::encoded_rules;

/// The type of a condition in the bytes of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestType {
    Country,
    Device,
    Os,
    Browser,
    Language,
    Date,
    Hours,
    Query,
    Referrer,
    Network,
}

impl TestType {
    const ALL: [Self; 10] = [
        Self::Country,
        Self::Device,
        Self::Os,
        Self::Browser,
        Self::Language,
        Self::Date,
        Self::Hours,
        Self::Query,
        Self::Referrer,
        Self::Network,
    ];

    const fn of(test: &Test) -> Self {
        match test {
            Test::Country(_) => Self::Country,
            Test::Device(_) => Self::Device,
            Test::Os(_) => Self::Os,
            Test::Browser(_) => Self::Browser,
            Test::Language(_) => Self::Language,
            Test::Date(_) => Self::Date,
            Test::Hours(_) => Self::Hours,
            Test::Query(_) => Self::Query,
            Test::Referrer(_) => Self::Referrer,
            Test::Network(_) => Self::Network,
        }
    }

    /// The place in [`Self::ALL`].
    const fn number(self) -> u8 {
        match self {
            Self::Country => 0,
            Self::Device => 1,
            Self::Os => 2,
            Self::Browser => 3,
            Self::Language => 4,
            Self::Date => 5,
            Self::Hours => 6,
            Self::Query => 7,
            Self::Referrer => 8,
            Self::Network => 9,
        }
    }

    fn of_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The bit in the set of needed facts.
    const fn bit(self) -> u32 {
        1 << self.number()
    }
}

/// The bit of rules with a split in the set of needed facts.
const SPLIT: u32 = 1 << 10;

/// Set in the byte of a condition's type if the condition is negated.
const NEGATED: u8 = 1 << 7;

/// How a query is tested.
mod query_test {
    pub(super) const PRESENT: u8 = 0;
    pub(super) const ABSENT: u8 = 1;
    pub(super) const EQUALS: u8 = 2;
}

/// The bit of a kind of device.
const fn device_bit(device: signpost_domain::routing::Device) -> u8 {
    use signpost_domain::routing::Device;
    match device {
        Device::Desktop => 1,
        Device::Mobile => 1 << 1,
        Device::Tablet => 1 << 2,
        Device::Tv => 1 << 3,
        Device::Other => 1 << 4,
    }
}

#[cfg(test)]
mod equivalence_tests;
#[cfg(test)]
mod generated;
