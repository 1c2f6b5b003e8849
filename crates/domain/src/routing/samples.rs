//! Random rules and visits. Their values are few, so that many conditions hold.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::country_code::CountryCode;
use crate::language_tag::LanguageTag;
use crate::timestamp::Timestamp;

/// A name.
pub(crate) fn name(text: &str) -> RuleName {
    RuleName::parse(text).unwrap()
}

/// A target.
pub(crate) fn target(text: &str) -> TargetUrl {
    TargetUrl::parse(text).unwrap()
}

/// A condition that is not negated.
pub(crate) fn is(test: Test) -> Condition {
    Condition { test, is_negated: false }
}

/// The condition that the visitor comes from one of these countries.
pub(crate) fn from_countries(codes: &[&str]) -> Condition {
    let countries = codes.iter().map(|code| CountryCode::parse(code).unwrap()).collect();
    is(Test::Country(AnyOf::new(countries, Condition::MAX_COUNTRIES).unwrap()))
}

/// A rule in a request, which leads to this target if all conditions hold.
#[expect(clippy::unnecessary_wraps, reason = "the list of a request has such items")]
pub(crate) fn draft(conditions: &[Condition], text: &str) -> Option<RuleDraft> {
    let conditions = conditions.iter().cloned().map(Some).collect();
    let leads_to = Some(RuleTargetDraft::Target(target(text)));
    Some(RuleDraft { id: None, name: None, conditions, leads_to })
}

/// A variant in a request.
pub(crate) fn variant(text: &str, weight: i64) -> VariantDraft {
    VariantDraft {
        name: Some(name(text)),
        target_url: Some(target(&format!("https://example.com/{text}"))),
        weight: Weight::parse(weight).ok(),
    }
}

#[cfg(feature = "json")]
/// Rules with ids that count from 1, and a key.
pub(crate) fn rules(drafts: Vec<Option<RuleDraft>>) -> Rules {
    let list = drafts.into_iter().flatten().zip(1..).map(|(draft, number)| {
        let leads_to = match draft.leads_to.unwrap() {
            RuleTargetDraft::Target(target) => RuleTarget::Target(target),
            RuleTargetDraft::Split(variants) => RuleTarget::Split(Split::new(
                variants
                    .into_iter()
                    .map(|variant| Variant {
                        name: variant.name.unwrap(),
                        target_url: variant.target_url.unwrap(),
                        weight: variant.weight.unwrap(),
                    })
                    .collect(),
            )),
        };
        let conditions = draft.conditions.into_iter().flatten().collect();
        Rule { id: RuleId::from_bytes([number; 16]), name: draft.name, conditions, leads_to }
    });
    Rules::new(SplitKey::from_bytes([7; 16]), list.collect())
}

fn any_of<T: Clone + Eq + std::hash::Hash + std::fmt::Debug + 'static>(
    values: Vec<T>,
) -> impl Strategy<Value = AnyOf<T>> {
    vec(select(values), 1..4).prop_map(|items| AnyOf::new(items, Condition::MAX_ITEMS).unwrap())
}

fn parsed<T>(texts: &[&str], parse: impl Fn(&str) -> Result<T, crate::FieldError>) -> Vec<T> {
    texts.iter().map(|text| parse(text).unwrap()).collect()
}

prop_compose! {
    fn any_hours()(
        zone in select(vec!["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "America/St_Johns"]),
        days in vec(1..=7_i64, 1..=7),
        (from, until) in (0..24_u16, 0..24_u16),
    ) -> Hours {
        let time = |hour: u16| TimeOfDay::parse(&format!("{hour:02}:30")).unwrap();
        let days: Vec<Weekday> = days.into_iter().map(|day| Weekday::parse(day).unwrap()).collect();
        Hours {
            timezone: ZoneName::from_stored(zone.to_owned()).unwrap(),
            days: Weekdays::new(&days).unwrap(),
            from: time(from),
            until: time(until),
        }
    }
}

prop_compose! {
    fn any_query_test()(
        name in select(vec!["a", "b c", "utm_source"]),
        is in prop_oneof![
            Just(QueryIs::Present),
            Just(QueryIs::Absent),
            select(vec!["", "1", "x y"]).prop_map(|value| QueryIs::Equals(QueryText::parse_value(value).unwrap())),
        ],
    ) -> QueryTest {
        QueryTest { name: QueryText::parse_name(name).unwrap(), is }
    }
}

fn any_instant() -> impl Strategy<Value = Timestamp> {
    (1_700_000_000_000..1_900_000_000_000_i64).prop_map(|millis| Timestamp::from_unix_millis(millis).unwrap())
}

fn any_date() -> impl Strategy<Value = DateRange> {
    (option::of(any_instant()), option::of(any_instant()))
        .prop_filter_map("a range", |(from, until)| DateRange::new(from, until).ok())
}

fn any_test() -> impl Strategy<Value = Test> {
    let countries = parsed(&["DE", "AT", "US", "JP"], CountryCode::parse);
    let languages = parsed(&["de", "de-AT", "en", "zh-Hant"], LanguageTag::parse);
    let systems = parsed(&["iOS", "android", "Windows"], AgentName::parse);
    let browsers = parsed(&["Chrome", "firefox"], AgentName::parse);
    let hosts = parsed(&["", "example.com", "www.example.com", "example.net"], ReferrerHost::parse);
    let networks = parsed(&["192.0.2.0/25", "192.0.2.200", "2001:db8::/33", "::/0"], Network::parse);
    prop_oneof![
        any_of(countries).prop_map(Test::Country),
        any_of(Device::ALL.to_vec()).prop_map(Test::Device),
        any_of(systems).prop_map(Test::Os),
        any_of(browsers).prop_map(Test::Browser),
        any_of(languages).prop_map(Test::Language),
        any_date().prop_map(Test::Date),
        any_hours().prop_map(Test::Hours),
        any_query_test().prop_map(Test::Query),
        any_of(hosts).prop_map(Test::Referrer),
        any_of(networks).prop_map(Test::Network),
    ]
}

prop_compose! {
    fn any_condition()(test in any_test(), is_negated: bool) -> Condition {
        Condition { test, is_negated }
    }
}

fn any_leads_to() -> impl Strategy<Value = RuleTargetDraft> {
    let split = vec(1..=1_000_i64, Split::MIN..=Split::MAX).prop_map(|weights| {
        let variants = weights.into_iter().enumerate();
        RuleTargetDraft::Split(
            variants.map(|(number, weight)| variant(&format!("v{number}"), weight)).collect(),
        )
    });
    prop_oneof![
        select(vec!["https://example.com/", "https://bücher.example/ü?a=1#b"])
            .prop_map(|text| RuleTargetDraft::Target(target(text))),
        split,
    ]
}

/// Valid rules in a request, perhaps none.
pub(crate) fn any_drafts() -> impl Strategy<Value = Vec<Option<RuleDraft>>> {
    let rule = (vec(any_condition(), 1..=3), any_leads_to(), any::<bool>());
    (vec(rule, 0..6), any::<bool>()).prop_map(|(rules, is_last_for_all)| {
        let count = rules.len();
        let drafts = rules.into_iter().enumerate().map(|(number, (conditions, leads_to, is_named))| {
            let is_for_all = is_last_for_all && number + 1 == count;
            let conditions = if is_for_all { vec![] } else { conditions };
            Some(RuleDraft {
                id: None,
                name: is_named.then(|| name(&format!("rule-{number}"))),
                conditions: conditions.into_iter().map(Some).collect(),
                leads_to: Some(leads_to),
            })
        });
        drafts.collect()
    })
}

#[cfg(feature = "json")]
/// Valid rules, perhaps none.
pub(crate) fn any_rules() -> impl Strategy<Value = Rules> {
    any_drafts().prop_map(rules)
}

#[cfg(feature = "routing")]
prop_compose! {
    /// A visit of which anything may be unknown.
    pub(crate) fn any_facts()(
        country in option::of(select(parsed(&["DE", "AT", "US", "FR"], CountryCode::parse))),
        device in option::of(select(Device::ALL.to_vec())),
        os in option::of(select(vec!["iOS", "Android", "Linux"])),
        browser in option::of(select(vec!["Chrome", "Firefox", "Safari"])),
        language in option::of(select(vec!["de", "DE-at", "en-GB", "fr", "zh-Hant-TW"])),
        now in option::of(any_instant()),
        query in option::of(select(vec!["", "a=1", "a", "b+c=x%20y&a=", "utm_source=1&b%20c", "%zz=%&a=2&a=1"])),
        referrer in option::of(select(vec!["", "example.com", "www.example.com", "a.example.net", "other.example"])),
        address in option::of(select(vec!["192.0.2.1", "192.0.2.200", "::ffff:192.0.2.7", "2001:db8::1"])),
        agent in select(vec!["", "Mozilla/5.0", "curl/8"]),
    ) -> Facts<'static> {
        Facts {
            country,
            device,
            os,
            browser,
            language,
            now,
            query: query.map(str::as_bytes),
            referrer,
            address: address.map(|text| text.parse().unwrap()),
            agent: agent.as_bytes(),
        }
    }
}
