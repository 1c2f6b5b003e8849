//! Rules of redirects.

use signpost_domain::routing::{
    Rule, RuleDraft, RuleTarget, RuleTargetDraft, Rules, Split, SplitKey, Variant, VariantDraft,
    read_rules_text,
};
use signpost_domain::{RuleId, Violations};

/// The rules of a request, as JSON. Each has an id of its own, and their splits always the same key.
#[must_use]
pub fn rules(json: &str) -> Rules {
    let mut violations = Violations::new();
    let drafts = read_rules_text(json, Rules::FIELD, &mut violations).expect("an array");
    assert!(violations.is_empty(), "{violations:?}");
    let rule = |draft: Option<RuleDraft>| {
        let RuleDraft { id: _, name, conditions, leads_to } = draft.expect("a rule");
        let conditions = conditions.into_iter().map(|condition| condition.expect("a condition")).collect();
        let id: RuleId = super::id();
        Rule { id, name, conditions, leads_to: target(leads_to.expect("a target")) }
    };
    Rules::new(SplitKey::from_bytes([7; 16]), drafts.into_iter().map(rule).collect())
}

fn target(draft: RuleTargetDraft) -> RuleTarget {
    match draft {
        RuleTargetDraft::Target(target) => RuleTarget::Target(target),
        RuleTargetDraft::Split(variants) => {
            let variant = |VariantDraft { name, target_url, weight }| Variant {
                name: name.expect("a name"),
                target_url: target_url.expect("a target"),
                weight: weight.expect("a weight"),
            };
            RuleTarget::Split(Split::new(variants.into_iter().map(variant).collect()))
        }
    }
}
