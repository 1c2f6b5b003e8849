use proptest::prelude::*;

use super::super::samples::{any_facts, any_rules, draft, from_countries, is, name, rules, target, variant};
use super::super::{
    AgentName, AnyOf, Network, QueryIs, QueryTest, QueryText, ReferrerHost, RuleDraft, RuleTargetDraft,
    SplitKey,
};
use super::*;
use crate::language_tag::LanguageTag;

fn one<T: Clone + Eq + std::hash::Hash>(item: T) -> AnyOf<T> {
    AnyOf::new(vec![item], 1).unwrap()
}

fn country(code: &str) -> Option<CountryCode> {
    CountryCode::parse(code).ok()
}

#[expect(clippy::unnecessary_wraps, reason = "the list of a request has such items")]
fn split(variants: &[(&str, i64)]) -> Option<RuleDraft> {
    let variants = variants.iter().map(|(name, weight)| variant(name, *weight)).collect();
    Some(RuleDraft {
        id: None,
        name: Some(name("split")),
        conditions: vec![],
        leads_to: Some(RuleTargetDraft::Split(variants)),
    })
}

#[test]
fn d133_the_first_rule_that_holds_wins() {
    let rules = rules(vec![
        draft(&[from_countries(&["DE"])], "https://example.com/de"),
        draft(&[from_countries(&["DE", "AT"])], "https://example.com/de-at"),
        draft(&[], "https://example.com/all"),
    ]);
    let leads_to = |code| {
        let facts = Facts { country: country(code), ..Facts::default() };
        rules.decide(&facts).unwrap().target_url.as_str().to_owned()
    };
    assert_eq!(leads_to("DE"), "https://example.com/de");
    assert_eq!(leads_to("AT"), "https://example.com/de-at");
    assert_eq!(leads_to("FR"), "https://example.com/all");
    assert_eq!(Rules::default().decide(&Facts::default()), None);
}

#[test]
fn d133_all_conditions_of_a_rule_must_hold() {
    let on_ios = is(Test::Os(one(AgentName::parse("ios").unwrap())));
    let rules = rules(vec![draft(&[from_countries(&["DE"]), on_ios], "https://example.com/")]);
    let both = Facts { country: country("DE"), os: Some("iOS"), ..Facts::default() };
    assert!(rules.decide(&both).is_some());
    for facts in [Facts { os: Some("Android"), ..both }, Facts { country: country("AT"), ..both }] {
        assert_eq!(rules.decide(&facts), None);
    }
}

/// Each kind of condition, with a visit for which it holds, and one for which it does not.
#[test]
fn d133_each_condition_is_negated_and_fails_both_ways_if_its_fact_is_unknown() {
    let known = Facts {
        country: country("DE"),
        device: Some(Device::Mobile),
        os: Some("iOS"),
        browser: Some("Chrome"),
        language: Some("de-AT"),
        now: Some(Timestamp::EPOCH),
        query: Some(b"a=1"),
        referrer: Some("www.example.com"),
        address: Some("192.0.2.1".parse().unwrap()),
        agent: b"",
    };
    let query = |name: &str| {
        let is = QueryIs::Present;
        Test::Query(QueryTest { name: QueryText::parse_name(name).unwrap(), is })
    };
    let date = |from: i64| {
        let from = Timestamp::from_unix_millis(from);
        Test::Date(super::super::DateRange::new(from, None).unwrap())
    };
    let referrer = |host| Test::Referrer(one(ReferrerHost::parse(host).unwrap()));
    let network = |text| Test::Network(one(Network::parse(text).unwrap()));
    let language = |tag| Test::Language(one(LanguageTag::parse(tag).unwrap()));
    let device = |device| Test::Device(one(device));
    let agent = |name| one(AgentName::parse(name).unwrap());
    for (yes, no) in [
        (from_countries(&["DE"]).test, from_countries(&["AT"]).test),
        (device(Device::Mobile), device(Device::Tv)),
        (Test::Os(agent("IOS")), Test::Os(agent("Android"))),
        (Test::Browser(agent("chrome")), Test::Browser(agent("Firefox"))),
        (language("de"), language("de-DE")),
        (date(0), date(1)),
        (query("a"), query("b")),
        (referrer("example.com"), referrer("")),
        (network("192.0.2.0/24"), network("192.0.3.0/24")),
    ] {
        for is_negated in [false, true] {
            let holds = |test: &Test, facts| Condition { test: test.clone(), is_negated }.holds(facts);
            assert_eq!(holds(&yes, &known), Some(!is_negated), "{yes:?}");
            assert_eq!(holds(&no, &known), Some(is_negated), "{no:?}");
            assert_eq!(holds(&yes, &Facts::default()), None, "{yes:?}");
        }
    }
}

#[test]
fn d134_analytics_names_the_rule_and_the_variant() {
    let unnamed = rules(vec![draft(&[], "https://example.com/")]);
    assert_eq!(unnamed.decide(&Facts::default()).unwrap().label(), "rul_01010101010101010101010101010101");
    let split = rules(vec![split(&[("a", 1), ("b", 1)])]);
    let label = split.decide(&Facts::default()).unwrap().label();
    assert!(["split.a", "split.b"].contains(&label.as_str()), "{label}");
}

/// D134: a visitor keeps its variant with all later versions, so the slots may never change.
#[test]
fn d134_the_slots_of_visitors_never_change() {
    let key = SplitKey::from_bytes(*b"0123456789abcdef");
    let slot = |address: Option<&str>, agent: &str| {
        key.slot(address.map(|text| text.parse().unwrap()), agent.as_bytes(), 1_000_000)
    };
    assert_eq!(slot(Some("2001:db8::1"), "a"), slot(Some("2001:db8::ffff:1"), "a"), "one /64");
    assert_ne!(slot(Some("2001:db8:0:1::1"), "a"), slot(Some("2001:db8::1"), "a"));
    assert_eq!(slot(Some("::ffff:192.0.2.1"), "a"), slot(Some("192.0.2.1"), "a"));
    let found =
        [slot(None, ""), slot(Some("192.0.2.1"), "Mozilla/5.0"), slot(Some("2001:db8::1"), "Mozilla/5.0")];
    assert_eq!(found, SLOTS);
    assert_eq!(key.slot(None, b"", 0), 0);
}

const SLOTS: [u32; 3] = [560_881, 59_370, 253_576];

/// The next number of a generator with the same sequence in every run (`SplitMix64`).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Half of the visitors have an IPv4 address, the others an IPv6 address.
#[test]
fn d134_a_million_visitors_share_by_the_weights_within_half_a_percent() {
    const VISITORS: u32 = 1_000_000;
    const AGENTS: [&[u8]; 4] = [b"", b"curl/8.5.0", b"Mozilla/5.0 (X11)", b"Mozilla/5.0 (iPhone)"];
    let rules = rules(vec![split(&[("a", 1), ("b", 3), ("c", 6)])]);
    let mut counts = std::collections::BTreeMap::<u16, u32>::new();
    let mut state = 1;
    for _ in 0..VISITORS {
        let random = next(&mut state);
        let [first, second, third, fourth, chooses_agent, .., chooses_family] = random.to_be_bytes();
        let address = if chooses_family % 2 == 0 {
            std::net::Ipv4Addr::from([first, second, third, fourth]).into()
        } else {
            std::net::Ipv6Addr::from(u128::from(random) << 64).into()
        };
        let agent = AGENTS[usize::from(chooses_agent % 4)];
        let facts = Facts { address: Some(address), agent, ..Facts::default() };
        let variant = rules.decide(&facts).unwrap().variant.unwrap();
        *counts.entry(variant.weight.get()).or_default() += 1;
    }
    for weight in [1, 3, 6] {
        let share = VISITORS / 10 * u32::from(weight);
        assert!(counts[&weight].abs_diff(share) < VISITORS / 200, "{weight} of 10: {counts:?}");
    }
}

#[test]
fn d134_each_slot_belongs_to_one_variant() {
    let rules = rules(vec![split(&[("a", 1), ("b", 2)])]);
    let RuleTarget::Split(split) = &rules.as_slice().first().unwrap().leads_to else { panic!("no split") };
    let names = |slot| split.variant_at(slot).map(|variant| variant.name.as_str().to_owned());
    assert_eq!(split.total_weight(), 3);
    assert_eq!(
        [0, 1, 2, 3].map(names),
        ["a", "b", "b", ""].map(|name| Some(name.to_owned()).filter(|name| !name.is_empty()))
    );
}

#[test]
fn a_target_of_a_rule_gets_the_parameters_of_a_campaign() {
    let utm =
        crate::Utm::new(|part| crate::UtmValue::parse("x").ok().filter(|_| part == crate::UtmPart::Source));
    let tagged =
        rules(vec![draft(&[from_countries(&["DE"])], "https://example.com/"), split(&[("a", 1), ("b", 1)])])
            .with_utm(&utm);
    assert_eq!(tagged.targets().count(), 3);
    assert!(tagged.targets().all(|target| target.as_str().ends_with("?utm_source=x")));
    assert_eq!(
        rules(vec![draft(&[], "https://example.com/")]).targets().next(),
        Some(&target("https://example.com/"))
    );
}

proptest! {
    /// Any further knowledge about a visit only adds rules that hold or that do not: what does not depend on it stays.
    #[test]
    fn d133_a_decision_holds_in_all_conditions_and_no_earlier_rule_does(
        rules in any_rules(),
        facts in any_facts(),
    ) {
        let holds = |rule: &Rule| rule.conditions.iter().all(|condition| condition.holds(&facts) == Some(true));
        let decision = rules.decide(&facts);
        let expected = rules.as_slice().iter().position(holds);
        let found = decision.and_then(|decision| rules.as_slice().iter().position(|rule| rule == decision.rule));
        prop_assert_eq!(found, expected);
        if let Some(decision) = decision {
            prop_assert!(decision.rule.leads_to.targets().any(|target| target == decision.target_url));
        }
    }

    /// Who negates a condition gets the other visitors, apart from those of whom the fact is unknown.
    #[test]
    fn d133_a_condition_and_its_negation_never_hold_together(rules in any_rules(), facts in any_facts()) {
        for condition in rules.as_slice().iter().flat_map(|rule| &rule.conditions) {
            let negated = Condition { is_negated: !condition.is_negated, ..condition.clone() };
            prop_assert_eq!(condition.holds(&facts).map(|holds| !holds), negated.holds(&facts));
            prop_assert_eq!(condition.holds(&Facts::default()), None);
        }
    }
}
