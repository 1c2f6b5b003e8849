//! What is counted (D48). Bots and blocked visits are beside clicks, never among them.

use signpost_domain::analytics::Counts;

use crate::frame::TEXTS;

/// A kind of count, whose series a chart draws.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Measure {
    #[default]
    Clicks,
    Visitors,
    Bots,
    Blocked,
}

impl Measure {
    pub(super) const ALL: [Self; 4] = [Self::Clicks, Self::Visitors, Self::Bots, Self::Blocked];

    /// The value of the query parameter.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Clicks => "clicks",
            Self::Visitors => "visitors",
            Self::Bots => "bots",
            Self::Blocked => "blocked",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.as_str() == text)
    }

    pub(super) const fn name(self) -> &'static str {
        let texts = TEXTS.analytics;
        match self {
            Self::Clicks => texts.clicks,
            Self::Visitors => texts.visitors,
            Self::Bots => texts.bots,
            Self::Blocked => texts.blocked,
        }
    }

    /// The word behind a count.
    pub(super) fn counted(self, count: u64) -> String {
        let texts = TEXTS.analytics;
        match self {
            Self::Clicks if count == 1 => texts.click.to_owned(),
            Self::Visitors if count == 1 => texts.visitor.to_owned(),
            Self::Bots if count == 1 => texts.bot.to_owned(),
            Self::Clicks | Self::Visitors | Self::Bots | Self::Blocked => self.name().to_lowercase(),
        }
    }

    pub(super) const fn of(self, counts: Counts) -> u64 {
        match self {
            Self::Clicks => counts.clicks,
            Self::Visitors => counts.visitors,
            Self::Bots => counts.bots,
            Self::Blocked => counts.blocked,
        }
    }
}

/// The change from a count to another, in per cent.
pub(super) fn change(before: u64, now: u64) -> String {
    if before == now {
        return "±0%".to_owned();
    }
    if before == 0 {
        return TEXTS.analytics.change_new.to_owned();
    }
    // A decrease is rounded towards zero, so that only the loss of everything is 100 %.
    let (sign, half) = if now > before { ('+', u128::from(before)) } else { ('−', 0) };
    let (difference, before) = (u128::from(now.abs_diff(before)), u128::from(before));
    match (difference * 200 + half) / (2 * before) {
        0 => format!("{sign}<1%"),
        percent => format!("{sign}{percent}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_rounded_to_whole_per_cents() {
        for (before, now, shown) in [
            (0, 0, "±0%"),
            (7, 7, "±0%"),
            (0, 7, "new"),
            (100, 112, "+12%"),
            (3, 2, "−33%"),
            (3, 0, "−100%"),
            (1_000, 1_001, "+<1%"),
            (200, 201, "+1%"),
            (1, u64::MAX, "+1844674407370955161400%"),
        ] {
            assert_eq!(change(before, now), shown);
        }
    }
}
