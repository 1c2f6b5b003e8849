//! Rules in requests, and how they are judged.

use std::collections::BTreeSet;

use super::condition::Condition;
use super::names::{RuleName, Weight};
use super::split::{Split, SplitKey, Variant};
use super::{Rule, RuleTarget, Rules};
use crate::change::Change;
use crate::id::{RuleId, RuleKind};
use crate::link_request::Judgement;
use crate::redirect::RedirectContent;
use crate::reference::IdReference;
use crate::target_url::TargetUrl;
use crate::violation::{FieldError, ViolationCode, Violations};

/// A rule in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleDraft {
    /// `id`: the id of an existing rule of the redirect, which then keeps it. Any other id is ignored, and the rule then keeps the id of
    /// the same rule as a rule without one does (D133).
    pub id: Option<IdReference<RuleKind>>,
    /// `name`
    pub name: Option<RuleName>,
    /// `conditions`. An item without a condition is a violation already.
    pub conditions: Vec<Option<Condition>>,
    /// `target_url` or `split`. Without either, there is a violation already.
    pub leads_to: Option<RuleTargetDraft>,
}

/// Where a rule in a request leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleTargetDraft {
    /// `target_url`
    Target(TargetUrl),
    /// `split`
    Split(Vec<VariantDraft>),
}

/// A variant in a request. A field without a value is a violation already.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariantDraft {
    /// `name`
    pub name: Option<RuleName>,
    /// `target_url`
    pub target_url: Option<TargetUrl>,
    /// `weight`
    pub weight: Option<Weight>,
}

/// The change of a request to the [`Rules`] of a redirect. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RulesRequest {
    /// `rules`: replaces all rules; null or an empty list removes them. An item without a rule is a violation already.
    pub list: Change<Vec<Option<RuleDraft>>>,
    /// The key of the splits of new rules; without it, a new one is drawn. Only files of links have it: they move a link with its
    /// variants.
    pub split_key: Option<SplitKey>,
    /// Whether rules keep the ids of the request even if the redirect has none with these. Only files of links do that, for a link
    /// that keeps its own id.
    pub keeps_ids: bool,
}

impl RulesRequest {
    /// Whether the redirect has rules after the request, whatever it had before.
    pub(crate) fn sets_some(&self) -> bool {
        matches!(&self.list, Change::Set(list) if !list.is_empty())
    }

    /// The rules of a redirect after the request. Adds violations to the judgement.
    pub(crate) fn judged(&self, judgement: &mut Judgement<'_, RedirectContent>) -> Rules {
        let before = judgement.before.map(|link| &link.content.rules);
        let drafts = match &self.list {
            Change::Keep => {
                let kept = before.cloned().unwrap_or_default();
                judge_kept(&kept, judgement);
                return kept;
            }
            Change::Clear => return Rules::default(),
            Change::Set(drafts) => drafts,
        };
        let found = judge_list(drafts);
        judgement.found.append(found);
        if drafts.len() > Rules::MAX {
            return Rules::default();
        }
        judge_targets(drafts, judgement);
        let part_ids = judgement.context.part_ids;
        let ids = self.ids(drafts, before.map_or(&[], Rules::as_slice));
        let list: Vec<Rule> = drafts
            .iter()
            .zip(ids)
            .filter_map(|(draft, id)| {
                let RuleDraft { id: _, name, conditions, leads_to } = draft.as_ref()?;
                let leads_to = leads_to.as_ref().map(to_target)?;
                let conditions = conditions.iter().flatten().cloned().collect();
                let id = id.unwrap_or_else(|| part_ids.next_rule_id());
                Some(Rule { id, name: name.clone(), conditions, leads_to })
            })
            .collect();
        let key = before.and_then(Rules::split_key).or(self.split_key).filter(|_| !list.is_empty());
        let key = key
            .unwrap_or_else(|| if list.is_empty() { SplitKey::default() } else { part_ids.next_split_key() });
        let rules = Rules::new(key, list);
        if rules.size() > Rules::MAX_BYTES {
            let message = "must have at most 65536 bytes of names, targets and values of conditions";
            judgement.found.push(FieldError::new(ViolationCode::TooLong, message).at(Rules::FIELD));
        }
        rules
    }

    /// The ids that rules keep, so that a client that always sends the same rules changes nothing (D33). A rule keeps the id that it
    /// names, else that of the earlier rule of its name, else that of an earlier rule without a name and with the same content. The rules
    /// that name ids choose first. `None` is a new rule.
    fn ids(&self, drafts: &[Option<RuleDraft>], before: &[Rule]) -> Vec<Option<RuleId>> {
        let mut unclaimed: Vec<&Rule> = before.iter().collect();
        let mut claim = |is_it: &dyn Fn(&Rule) -> bool| {
            let place = unclaimed.iter().position(|rule| is_it(rule))?;
            Some(unclaimed.remove(place).id)
        };
        let mut given = BTreeSet::new();
        let asked = |draft: &RuleDraft| draft.id.and_then(IdReference::id);
        let by_id = |draft: &Option<RuleDraft>| {
            let asked = draft.as_ref().and_then(asked)?;
            let kept = claim(&|rule| rule.id == asked);
            kept.or(self.keeps_ids.then_some(asked)).filter(|id| given.insert(*id))
        };
        let mut ids: Vec<Option<RuleId>> = drafts.iter().map(by_id).collect();
        for (id, draft) in ids.iter_mut().zip(drafts) {
            let (None, Some(draft)) = (*id, draft) else { continue };
            let kept = match &draft.name {
                Some(name) => claim(&|rule| rule.name.as_ref() == Some(name)),
                None => claim(&|rule| rule.matches_draft(draft)),
            };
            *id = kept.filter(|id| given.insert(*id));
        }
        ids
    }
}

impl Rule {
    /// Whether a draft makes this rule, apart from its id.
    fn matches_draft(&self, draft: &RuleDraft) -> bool {
        let RuleDraft { id: _, name, conditions, leads_to } = draft;
        *name == self.name
            && conditions.len() == self.conditions.len()
            && conditions.iter().flatten().eq(&self.conditions)
            && leads_to.as_ref().map(to_target).as_ref() == Some(&self.leads_to)
    }

    /// Whether another rule is the same, apart from its id.
    fn has_same_content(&self, other: &Self) -> bool {
        let Self { id: _, name, conditions, leads_to } = self;
        *name == other.name && *conditions == other.conditions && *leads_to == other.leads_to
    }
}

impl Rules {
    /// Whether each of these rules is one of some earlier ones, apart from their ids and their order.
    #[must_use]
    pub(crate) fn is_subset_of(&self, before: &Self) -> bool {
        self.as_slice().iter().all(|rule| before.as_slice().iter().any(|one| one.has_same_content(rule)))
    }

    /// Whether a list makes these rules, apart from their ids and their key.
    #[must_use]
    pub fn are_those_of(&self, drafts: &[Option<RuleDraft>]) -> bool {
        let list = self.as_slice();
        list.len() == drafts.len()
            && list
                .iter()
                .zip(drafts)
                .all(|(rule, draft)| draft.as_ref().is_some_and(|draft| rule.matches_draft(draft)))
    }
}

/// The target of a draft. Variants that could not be read are missing from it: the request fails anyway.
fn to_target(draft: &RuleTargetDraft) -> RuleTarget {
    match draft {
        RuleTargetDraft::Target(target) => RuleTarget::Target(target.clone()),
        RuleTargetDraft::Split(drafts) => {
            let variant = |draft: &VariantDraft| {
                let VariantDraft { name, target_url, weight } = draft.clone();
                Some(Variant { name: name?, target_url: target_url?, weight: weight? })
            };
            RuleTarget::Split(Split::new(drafts.iter().filter_map(variant).collect()))
        }
    }
}

/// A list has more items than allowed.
pub(super) fn too_many(most: usize) -> FieldError {
    FieldError::new(ViolationCode::TooManyItems, format!("must have at most {most} items"))
}

/// A split has fewer variants than two.
pub(super) fn too_few_variants() -> FieldError {
    FieldError::new(ViolationCode::TooFewItems, "must have at least 2 items")
}

/// The violations of the numbers, the names and the order of rules.
fn judge_list(drafts: &[Option<RuleDraft>]) -> Violations {
    let mut found = Violations::new();
    if drafts.len() > Rules::MAX {
        found.push(too_many(Rules::MAX).at(Rules::FIELD));
        return found;
    }
    let mut names = BTreeSet::new();
    for (index, draft) in drafts.iter().enumerate() {
        let Some(RuleDraft { id: _, name, conditions, leads_to }) = draft else { continue };
        let path = format!("{}[{index}]", Rules::FIELD);
        if let Some(name) = name
            && !names.insert(name)
        {
            let error = FieldError::new(ViolationCode::InvalidValue, "is the name of an earlier rule");
            found.push(error.at(format!("{path}.name")).of_value(name.as_str()));
        }
        if conditions.len() > Rule::MAX_CONDITIONS {
            found.push(too_many(Rule::MAX_CONDITIONS).at(format!("{path}.conditions")));
        }
        if conditions.is_empty() && index + 1 < drafts.len() {
            let message = "must have an item, because only the last rule may be for all visitors";
            let error = FieldError::new(ViolationCode::TooFewItems, message);
            found.push(error.at(format!("{path}.conditions")));
        }
        if let Some(RuleTargetDraft::Split(variants)) = leads_to {
            judge_variants(variants, &format!("{path}.split"), &mut found);
        }
    }
    found
}

fn judge_variants(variants: &[VariantDraft], path: &str, found: &mut Violations) {
    if variants.len() < Split::MIN {
        found.push(too_few_variants().at(path));
    }
    if variants.len() > Split::MAX {
        found.push(too_many(Split::MAX).at(path));
        return;
    }
    let mut names = BTreeSet::new();
    for (index, variant) in variants.iter().enumerate() {
        if let Some(name) = &variant.name
            && !names.insert(name)
        {
            let error = FieldError::new(ViolationCode::InvalidValue, "is the name of an earlier variant");
            found.push(error.at(format!("{path}[{index}].name")).of_value(name.as_str()));
        }
    }
}

/// The targets of drafts, each with its path. Those beyond the maximum number of variants are not judged.
fn targets_of(drafts: &[Option<RuleDraft>]) -> impl Iterator<Item = (String, &TargetUrl)> {
    drafts.iter().enumerate().flat_map(|(index, draft)| {
        let path = format!("{}[{index}]", Rules::FIELD);
        let leads_to = draft.as_ref().and_then(|draft| draft.leads_to.as_ref());
        let (one, variants) = match leads_to {
            None => (None, [].as_slice()),
            Some(RuleTargetDraft::Target(target)) => {
                (Some((format!("{path}.target_url"), target)), [].as_slice())
            }
            Some(RuleTargetDraft::Split(variants)) => (None, variants.as_slice()),
        };
        let of_variants =
            variants.iter().take(Split::MAX).enumerate().filter_map(move |(number, variant)| {
                Some((format!("{path}.split[{number}].target_url"), variant.target_url.as_ref()?))
            });
        one.into_iter().chain(of_variants)
    })
}

/// Judges new targets as the redirect's own one (D24).
fn judge_targets(drafts: &[Option<RuleDraft>], judgement: &mut Judgement<'_, RedirectContent>) {
    for (path, target) in targets_of(drafts) {
        judgement.judge_destination(&path, Some(target), None);
    }
}

/// Judges targets that stay, which only matters if the redirect moves. One violation is enough, because they all blame the field that
/// moves it.
fn judge_kept(kept: &Rules, judgement: &mut Judgement<'_, RedirectContent>) {
    let before = judgement.found.count();
    for target in kept.targets() {
        judgement.judge_destination(Rules::FIELD, None, Some(target));
        if judgement.found.count() > before {
            return;
        }
    }
}

/// The targets of a request for which `is_wrong` holds, each by its path.
pub(crate) fn paths_of_targets(
    drafts: &[Option<RuleDraft>],
    is_wrong: impl Fn(&TargetUrl) -> bool,
) -> Vec<String> {
    targets_of(drafts).filter(|(_, target)| is_wrong(target)).map(|(path, _)| path).collect()
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
