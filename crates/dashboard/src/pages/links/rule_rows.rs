//! The rules of a redirect in words, as its page shows them (D133, D134). Forms do not have them.

use signpost_domain::Preferences;
use signpost_domain::routing::{Rule, RuleTarget, Rules, Split, Variant};

use crate::frame::TEXTS;
use crate::local_time::date_and_time;
use crate::texts::RuleTexts;
use crate::views::{RuleRow, RuleTargetRow};

const WORDS: &RuleTexts = TEXTS.life.rules;

/// The rules in their order.
pub(super) fn of(rules: &Rules, preferences: &Preferences) -> Vec<RuleRow> {
    rules.as_slice().iter().map(|rule| row(rule, preferences)).collect()
}

fn row(rule: &Rule, preferences: &Preferences) -> RuleRow {
    let Rule { id: _, name: _, conditions, leads_to } = rule;
    let instant = |at| date_and_time(at, preferences);
    let mut conditions: Vec<String> = conditions.iter().map(|one| (WORDS.condition)(one, &instant)).collect();
    if conditions.is_empty() {
        conditions.push(WORDS.every_visitor.to_owned());
    }
    let targets = match leads_to {
        RuleTarget::Target(url) => vec![RuleTargetRow { variant: None, url: url.as_str().to_owned() }],
        RuleTarget::Split(split) => split.as_slice().iter().map(|variant| target(variant, split)).collect(),
    };
    // As analytics calls it.
    RuleRow { name: rule.label(), conditions, targets }
}

fn target(variant: &Variant, split: &Split) -> RuleTargetRow {
    let Variant { name, target_url, weight } = variant;
    let share = share(weight.get(), split.total_weight());
    RuleTargetRow {
        variant: Some((name.as_str().to_owned(), (WORDS.share)(&share))),
        url: target_url.as_str().to_owned(),
    }
}

/// A share in percent, with one decimal unless it is zero.
fn share(weight: u16, total: u32) -> String {
    let total = u64::from(total).max(1);
    let tenths = (u64::from(weight) * 1_000 + total / 2) / total;
    match (tenths / 10, tenths % 10) {
        (percent, 0) => percent.to_string(),
        (percent, tenth) => format!("{percent}.{tenth}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d134_shares_are_rounded_to_a_tenth_of_a_percent() {
        for (weight, total, shown) in [
            (1, 2, "50"),
            (1, 3, "33.3"),
            (2, 3, "66.7"),
            (1, 1_000, "0.1"),
            (1, 10_000, "0"),
            (1_000, 1_000, "100"),
        ] {
            assert_eq!(share(weight, total), shown, "{weight} of {total}");
        }
    }
}
