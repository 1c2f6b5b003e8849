//! Compiled rules decide as the rules of the domain do (D133, D134).

use proptest::collection::vec;
use proptest::prelude::*;
use signpost_domain::Timestamp;
use signpost_domain::routing::{Facts, Rules};

use super::generated::{COMPILED_AT, rules, visit};
use super::{RulesView, TestType, encoded_rules};

/// The location and the label by the rules of the domain.
fn decided(rules: &Rules, facts: &Facts<'_>) -> Option<(String, String)> {
    rules.decide(facts).map(|decision| (decision.target_url.location(), decision.label()))
}

/// The same by the compiled rules, which get only the facts for which they ask.
fn decided_by(view: RulesView<'_>, facts: &Facts<'_>) -> Option<(String, String)> {
    let asks = |test| view.asks(test);
    let agent = view.asks_for_agent();
    let ruled = view.decide(&Facts {
        country: facts.country.filter(|_| asks(TestType::Country)),
        device: facts.device.filter(|_| agent),
        os: facts.os.filter(|_| agent),
        browser: facts.browser.filter(|_| agent),
        language: facts.language.filter(|_| asks(TestType::Language)),
        query: facts.query.filter(|_| asks(TestType::Query)),
        referrer: facts.referrer.filter(|_| asks(TestType::Referrer)),
        now: facts.now,
        address: facts.address,
        agent: facts.agent,
    })?;
    Some((String::from_utf8(ruled.location.to_vec()).unwrap(), ruled.label.to_owned()))
}

proptest! {
    // A hundred thousand pairs of rules and a visit.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn d133_compiled_rules_decide_as_the_rules_do(rules in rules(), visits in vec(visit(), 50)) {
        let now = Timestamp::from_unix_millis(COMPILED_AT).unwrap();
        let bytes = encoded_rules(&rules, now).unwrap();
        let view = RulesView::new(&bytes);
        prop_assert_eq!(view.is_none(), rules.is_empty());
        for visit in &visits {
            let facts = visit.facts();
            let compiled = view.and_then(|view| decided_by(view, &facts));
            prop_assert_eq!(compiled, decided(&rules, &facts), "{:?}", visit);
        }
    }
}

proptest! {
    #[test]
    fn damaged_rules_decide_something(bytes: Vec<u8>, visit in visit()) {
        if let Some(view) = RulesView::new(&bytes) {
            let _ = view.decide(&visit.facts());
        }
    }

    #[test]
    fn cut_rules_decide_something(rules in rules(), end in 0..10_000_usize, visit in visit()) {
        let bytes = encoded_rules(&rules, Timestamp::EPOCH).unwrap();
        if let Some(view) = RulesView::new(bytes.get(..end).unwrap_or(&bytes)) {
            let _ = view.decide(&visit.facts());
        }
    }
}

/// The random visits would prove little if they seldom met a rule.
#[test]
fn random_visits_meet_rules_and_defaults() {
    use proptest::strategy::{Strategy as _, ValueTree as _};
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut targets, mut splits, mut defaults) = (0, 0, 0);
    for _ in 0..500 {
        let list = rules().new_tree(&mut runner).unwrap().current();
        let visitor = visit().new_tree(&mut runner).unwrap().current();
        match list.decide(&visitor.facts()) {
            Some(decision) if decision.variant.is_some() => splits += 1,
            Some(_) => targets += 1,
            None => defaults += 1,
        }
    }
    assert!(targets > 50 && splits > 30 && defaults > 50, "{targets} {splits} {defaults}");
}
