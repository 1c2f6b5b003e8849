//! Rules in creations and updates of redirects (D24, D133, D134, D137).

use super::super::samples::{draft, from_countries, name, target, variant};
use super::*;
use crate::link_request::Submitted;
use crate::link_request::tests::{World, fields, new_redirect, slug};
use crate::plan::{Feature, FeatureSet};
use crate::redirect::{Redirect, RedirectRequest};
use crate::refusal::{Refusal, Rejection};
use crate::routing::{AnyOf, ReferrerHost, Test};
use crate::utm::{Utm, UtmPart, UtmValue};
use crate::violation::ViolationCode as Code;
use crate::way::RedirectStatus;

fn with_rules(list: Vec<Option<RuleDraft>>) -> RedirectRequest {
    RedirectRequest::default().with(|content| content.rules.list = Change::Set(list))
}

fn named(text: &str, conditions: &[Condition]) -> Option<RuleDraft> {
    let draft = draft(conditions, "https://example.com/")?;
    Some(RuleDraft { name: Some(name(text)), ..draft })
}

fn redirect() -> Redirect {
    World::new().create(new_redirect()).unwrap()
}

fn refused(list: Vec<Option<RuleDraft>>) -> Vec<(String, Code)> {
    fields(World::new().update(&redirect(), with_rules(list)).unwrap_err())
}

fn found(expected: &[(&str, Code)]) -> Vec<(String, Code)> {
    expected.iter().map(|(field, code)| ((*field).to_owned(), *code)).collect()
}

#[test]
fn d133_only_the_last_rule_may_be_for_all_visitors() {
    let germans = from_countries(&["DE"]);
    let one = |conditions: &[Condition]| draft(conditions, "https://example.com/");
    let updated = World::new()
        .update(&redirect(), with_rules(vec![one(std::slice::from_ref(&germans)), one(&[])]))
        .unwrap();
    assert_eq!(updated.content.rules.as_slice().len(), 2);
    let list = vec![one(&[]), one(&[germans]), one(&[]), one(&[])];
    assert_eq!(
        refused(list),
        found(&[("rules[0].conditions", Code::TooFewItems), ("rules[2].conditions", Code::TooFewItems)])
    );
}

#[test]
fn d133_names_are_unique_and_numbers_have_bounds() {
    let germans = [from_countries(&["DE"])];
    let six: Vec<Condition> = std::iter::repeat_n(from_countries(&["DE"]), 6).collect();
    assert_eq!(
        refused(vec![named("a", &germans), named("b", &six), named("a", &[])]),
        found(&[("rules[1].conditions", Code::TooManyItems), ("rules[2].name", Code::InvalidValue)])
    );
    let many = |count| std::iter::repeat_n(draft(&germans, "https://example.com/"), count).collect();
    assert!(World::new().update(&redirect(), with_rules(many(20))).is_ok());
    assert_eq!(refused(many(21)), found(&[("rules", Code::TooManyItems)]));
}

#[test]
fn d134_a_split_has_two_to_ten_variants_of_different_names() {
    let split = |variants: Vec<VariantDraft>| {
        let leads_to = Some(RuleTargetDraft::Split(variants));
        vec![Some(RuleDraft { id: None, name: None, conditions: vec![], leads_to })]
    };
    let numbered = |count: usize| (0..count).map(|number| variant(&format!("v{number}"), 1)).collect();
    for count in [2, 10] {
        assert!(World::new().update(&redirect(), with_rules(split(numbered(count)))).is_ok(), "{count}");
    }
    for (count, code) in [(0, Code::TooFewItems), (1, Code::TooFewItems), (11, Code::TooManyItems)] {
        assert_eq!(refused(split(numbered(count))), found(&[("rules[0].split", code)]), "{count}");
    }
    let twice = split(vec![variant("a", 1), variant("b", 2), variant("a", 3)]);
    assert_eq!(refused(twice), found(&[("rules[0].split[2].name", Code::InvalidValue)]));
}

/// D24: what `target_url` must obey.
#[test]
fn d24_each_target_of_a_rule_is_judged_at_its_path() {
    let germans = [from_countries(&["DE"])];
    let blocked =
        VariantDraft { target_url: Some(target("https://blocked.example.net/")), ..variant("b", 1) };
    let itself = VariantDraft { target_url: Some(target("https://go.example.com/mine")), ..variant("c", 1) };
    let leads_to = Some(RuleTargetDraft::Split(vec![variant("a", 1), blocked, itself]));
    let list = vec![
        draft(&germans, "https://blocked.example.net/a"),
        draft(&germans, "https://go.example.com/mine"),
        draft(&germans, "https://go.example.com/other"),
        Some(RuleDraft { id: None, name: None, conditions: vec![], leads_to }),
    ];
    assert_eq!(
        refused(list),
        found(&[
            ("rules[0].target_url", Code::InvalidValue),
            ("rules[1].target_url", Code::InvalidValue),
            ("rules[3].split[1].target_url", Code::InvalidValue),
            ("rules[3].split[2].target_url", Code::InvalidValue),
        ])
    );
}

#[test]
fn d24_a_move_to_an_address_that_a_rule_leads_to_is_refused() {
    let world = World::new();
    let germans = [from_countries(&["DE"])];
    let to_other = || draft(&germans, "https://go.example.com/other");
    let before = world.update(&redirect(), with_rules(vec![to_other(), to_other()])).unwrap();
    let moved = RedirectRequest { slug: Change::Set(slug("other")), ..RedirectRequest::default() };
    let refused = world.update(&before, moved).unwrap_err();
    let Rejection::Invalid(violations) = &refused else { panic!("{refused:?}") };
    assert!(violations.to_string().contains("would make a rule of the link point"), "{violations}");
    assert_eq!(fields(refused), found(&[("slug", Code::InvalidValue)]));
}

#[test]
fn d133_known_rules_keep_their_ids_and_the_key_stays() {
    let world = World::new();
    let before = world.update(&redirect(), with_rules(vec![named("a", &[])])).unwrap();
    let rule = before.content.rules.as_slice().first().unwrap().clone();
    assert_eq!(before.content.rules.split_key(), Some(SplitKey::from_bytes([9; 16])));
    let strange = RuleId::from_bytes([3; 16]);
    let with_id =
        |id: RuleId, draft: Option<RuleDraft>| draft.map(|draft| RuleDraft { id: Some(id.into()), ..draft });
    let germans = [from_countries(&["DE"])];
    let list = vec![with_id(strange, named("b", &germans)), with_id(rule.id, named("a", &[]))];
    let both = world.update(&before, with_rules(list.clone())).unwrap();
    let ids = |redirect: &Redirect| {
        redirect.content.rules.as_slice().iter().map(|rule| rule.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&both), [RuleId::from_bytes([8; 16]), rule.id]);
    let same = world.update(&before, with_rules(vec![with_id(rule.id, named("a", &[]))])).unwrap();
    assert_eq!(same, before, "D33");

    let file = RulesRequest {
        list: Change::Set(list),
        split_key: Some(SplitKey::from_bytes([1; 16])),
        keeps_ids: true,
    };
    let restored =
        world.update(&redirect(), RedirectRequest::default().with(|content| content.rules = file)).unwrap();
    assert_eq!(ids(&restored), [strange, rule.id]);
    assert_eq!(restored.content.rules.split_key(), Some(SplitKey::from_bytes([1; 16])));
}

/// Clients that describe a link and send the description again do not read ids.
#[test]
fn d33_d133_rules_without_ids_keep_those_of_the_same_rules() {
    let world = World::new();
    let germans = [from_countries(&["DE"])];
    let french = [from_countries(&["FR"])];
    let unnamed = |conditions: &[Condition]| draft(conditions, "https://example.com/");
    let list = || vec![named("a", &germans), unnamed(&germans), unnamed(&germans), named("b", &[])];
    let numbered = (1..).zip(list()).map(|(number, draft)| {
        draft.map(|draft| RuleDraft { id: Some(RuleId::from_bytes([number; 16]).into()), ..draft })
    });
    let file =
        RulesRequest { list: Change::Set(numbered.collect()), keeps_ids: true, ..RulesRequest::default() };
    let before =
        world.update(&redirect(), RedirectRequest::default().with(|content| content.rules = file)).unwrap();
    assert_eq!(world.update(&before, with_rules(list())), Ok(before.clone()), "D33");

    let [a, first, second, b] = before.content.rules.as_slice() else { panic!("four rules") };
    let with_id = |rule: &Rule, draft: Option<RuleDraft>| {
        draft.map(|draft| RuleDraft { id: Some(rule.id.into()), ..draft })
    };
    // A name finds a rule whose content differs; an id comes before a name, also further down; content counts only without a name.
    let list = vec![
        unnamed(&french),
        named("b", &french),
        unnamed(&germans),
        named("c", &germans),
        with_id(first, named("a", &[])),
    ];
    let after = world.update(&before, with_rules(list)).unwrap();
    let ids: Vec<RuleId> = after.content.rules.as_slice().iter().map(|rule| rule.id).collect();
    let new = RuleId::from_bytes([8; 16]);
    assert_eq!(ids, [new, b.id, second.id, new, first.id]);
    assert!(!ids.contains(&a.id));
}

#[test]
fn d133_null_and_an_empty_list_remove_all_rules() {
    let world = World::new();
    let before = world.update(&redirect(), with_rules(vec![named("a", &[])])).unwrap();
    for list in [Change::Clear, Change::Set(vec![])] {
        let request = RedirectRequest::default().with(|content| content.rules.list = list);
        assert_eq!(world.update(&before, request).unwrap().content.rules, Rules::default());
    }
}

#[test]
fn d137_new_rules_need_the_feature_and_kept_ones_do_not() {
    let world = World::new();
    let before = world.update(&redirect(), with_rules(vec![named("a", &[])])).unwrap();
    let downgraded = World { features: FeatureSet::none(), ..World::new() };
    let lacking = Err(Rejection::from(Refusal::FeatureNotAvailable(Feature::Routing)));
    assert_eq!(downgraded.update(&before, with_rules(vec![named("b", &[])])), lacking);
    assert_eq!(downgraded.update(&redirect(), with_rules(vec![named("a", &[])])), lacking);
    let id = before.content.rules.as_slice().first().map(|rule| rule.id.into());
    let kept = named("a", &[]).map(|draft| RuleDraft { id, ..draft });
    assert_eq!(downgraded.update(&before, with_rules(vec![kept])), Ok(before.clone()));
    let germans = [from_countries(&["DE"])];
    let three = vec![named("x", &germans), named("y", &germans), draft(&germans, "https://example.com/")];
    let many = world.update(&redirect(), with_rules(three.clone())).unwrap();
    let left: Vec<_> = three.iter().skip(1).rev().cloned().collect();
    let fewer = downgraded.update(&many, with_rules(left)).unwrap();
    assert_eq!(fewer.content.rules.as_slice().len(), 2, "some of them, in another order, without ids");
    let changed = vec![named("x", &germans), named("y", &[])];
    assert_eq!(downgraded.update(&many, with_rules(changed)), lacking);
    let renamed = RedirectRequest { name: crate::Name::parse("Other").ok(), ..RedirectRequest::default() };
    assert_eq!(downgraded.update(&before, renamed).unwrap().content.rules, before.content.rules);
    assert_eq!(downgraded.update(&before, with_rules(vec![])).unwrap().content.rules, Rules::default());
}

#[test]
fn d132_a_permanent_status_does_not_go_with_rules() {
    let world = World::new();
    let permanent = RedirectRequest::default()
        .with(|content| content.way.redirect_status = Some(RedirectStatus::MovedPermanently));
    let expected = found(&[("redirect_status", Code::InvalidValue)]);
    let ruled = world.update(&redirect(), with_rules(vec![named("a", &[])])).unwrap();
    assert_eq!(fields(world.update(&ruled, permanent.clone()).unwrap_err()), expected);
    let permanent = world.update(&redirect(), permanent).unwrap();
    assert_eq!(fields(world.update(&permanent, with_rules(vec![named("a", &[])])).unwrap_err()), expected);
    assert!(world.update(&permanent, with_rules(vec![])).is_ok());
}

#[test]
fn d132_a_location_of_a_rule_with_parameters_has_at_most_4096_bytes() {
    let world = World::new();
    let long = format!("https://example.com/{}", "𝄞".repeat(339));
    let utm = Utm::new(|part| UtmValue::parse("mail").ok().filter(|_| part == UtmPart::Source));
    let tagging = RedirectRequest::default().with(|content| content.way.utm = Change::Set(utm));
    let ruled = world.update(&redirect(), with_rules(vec![draft(&[], &long)])).unwrap();
    assert_eq!(fields(world.update(&ruled, tagging.clone()).unwrap_err()), found(&[("utm", Code::TooLong)]));
    let tagged = world.update(&redirect(), tagging).unwrap();
    let list = vec![draft(&[from_countries(&["DE"])], "https://example.com/"), draft(&[], &long)];
    assert_eq!(
        fields(world.update(&tagged, with_rules(list)).unwrap_err()),
        found(&[("rules[1].target_url", Code::TooLong)])
    );
}

/// Short targets and long parameters would make a link of 800 KiB, which no node keeps in memory (D58).
#[test]
fn d58_d132_the_locations_of_all_rules_with_parameters_have_a_bound() {
    let world = World::new();
    let utm = |chars: usize| {
        let value = UtmValue::parse(&"𝄞".repeat(chars)).unwrap();
        let utm = Utm::new(|part| Some(value.clone()).filter(|_| part == UtmPart::Source));
        RedirectRequest::default().with(|content| content.way.utm = Change::Set(utm))
    };
    let variants = (0..10).map(|number| variant(&format!("v{number}"), 1)).collect();
    let split = RuleDraft {
        id: None,
        name: None,
        conditions: vec![Some(from_countries(&["DE"]))],
        leads_to: Some(RuleTargetDraft::Split(variants)),
    };
    let rules = |count: usize| with_rules(vec![Some(split.clone()); count]);
    let before = world.update(&redirect(), rules(20)).unwrap();
    let tagged = world.update(&before, utm(70)).unwrap();
    let too_long = |field| found(&[(field, Code::TooLong)]);
    assert_eq!(fields(world.update(&before, utm(85)).unwrap_err()), too_long("utm"));
    assert_eq!(fields(world.update(&tagged, utm(85)).unwrap_err()), too_long("utm"));
    let tagged = world.update(&redirect(), utm(85)).unwrap();
    assert_eq!(fields(world.update(&tagged, rules(20)).unwrap_err()), too_long("rules"));
    assert!(world.update(&tagged, rules(10)).is_ok());
}

#[test]
fn d133_all_rules_together_have_at_most_64_kib_of_texts() {
    let hosts = |rule: usize| {
        let host = |number: usize| {
            ReferrerHost::parse(&format!("{}{rule}x{number}.{}", "a".repeat(50), "b.".repeat(80)))
        };
        let hosts = (0..20).map(|number| host(number).unwrap()).collect();
        Condition { test: Test::Referrer(AnyOf::new(hosts, 20).unwrap()), is_negated: false }
    };
    let list = |count: usize| (0..count).map(|rule| draft(&[hosts(rule)], "https://example.com/")).collect();
    assert!(World::new().update(&redirect(), with_rules(list(14))).is_ok());
    assert_eq!(refused(list(20)), found(&[("rules", Code::TooLong)]));
}

/// D8: what could not be read is a violation already, and the rest is judged.
#[test]
fn d8_the_readable_parts_of_unreadable_rules_are_judged() {
    let list = vec![
        None,
        Some(RuleDraft { id: None, name: Some(name("a")), conditions: vec![None], leads_to: None }),
        named("a", &[]),
    ];
    let unreadable = FieldError::new(Code::InvalidType, "must be an object").at("rules[0]");
    let request = Submitted { value: with_rules(list), violations: unreadable.into() };
    let refused = fields(redirect().apply(&request, &World::new().at(2_000)).unwrap_err());
    assert_eq!(refused, found(&[("rules[0]", Code::InvalidType), ("rules[2].name", Code::InvalidValue)]));
}
