use proptest::prelude::*;
use serde_json::json;

use super::super::samples::any_rules;
use super::*;
use crate::violation::{Violation, ViolationCode as Code};

fn violations_of(value: &Value) -> Vec<(String, Code)> {
    let mut violations = Violations::new();
    let _ = read_rules(value, "rules", &mut violations);
    violations.iter().map(|violation| (violation.field().to_owned(), violation.code())).collect()
}

/// The violations of a rule with this condition.
fn of_condition(condition: &Value) -> Vec<(String, Code)> {
    violations_of(&json!([{ "conditions": [condition], "target_url": "https://example.com/" }]))
        .into_iter()
        .map(|(field, code)| (field.replace("rules[0].conditions[0]", "~"), code))
        .collect()
}

fn expected(found: &[(&str, Code)]) -> Vec<(String, Code)> {
    found.iter().map(|(field, code)| ((*field).to_owned(), *code)).collect()
}

#[test]
fn d133_all_violations_are_found_with_their_paths() {
    let rules = json!([
        { "id": "any", "name": "Mobile", "conditions": [{ "type": "country", "in": ["DE", "XX", 7] }], "target_url": "ftp://x" },
        { "conditions": 1, "target": "https://example.com/", "split": [] , "target_url": null },
        7,
        { "conditions": [{ "type": "age" , "from": 18 }, { "in": [] }, null] },
        { "split": [{ "name": "a", "target_url": "x", "weight": 0 }, { "weight": "1" }, 1], "target_url": "https://example.com/" },
    ]);
    let found = violations_of(&rules);
    assert_eq!(
        found,
        expected(&[
            ("rules[0].name", Code::InvalidFormat),
            ("rules[0].conditions[0].in[1]", Code::InvalidValue),
            ("rules[0].conditions[0].in[2]", Code::InvalidType),
            ("rules[0].target_url", Code::InvalidFormat),
            ("rules[1].conditions", Code::InvalidType),
            ("rules[1].split", Code::TooFewItems),
            ("rules[1].target", Code::UnknownField),
            ("rules[2]", Code::InvalidType),
            ("rules[3].conditions[0].type", Code::InvalidValue),
            ("rules[3].conditions[1].type", Code::Required),
            ("rules[3].conditions[2]", Code::InvalidType),
            ("rules[3]", Code::Required),
            ("rules[4].conditions", Code::Required),
            ("rules[4].split[0].target_url", Code::InvalidFormat),
            ("rules[4].split[0].weight", Code::OutOfRange),
            ("rules[4].split[1].name", Code::Required),
            ("rules[4].split[1].target_url", Code::Required),
            ("rules[4].split[1].weight", Code::InvalidType),
            ("rules[4].split[2]", Code::InvalidType),
            ("rules[4].split", Code::InvalidValue),
        ])
    );
    assert_eq!(violations_of(&json!({})), expected(&[("rules", Code::InvalidType)]));
    let mut violations = Violations::new();
    assert_eq!(read_rules_text("[", "rules", &mut violations), None);
    assert_eq!(violations.iter().map(Violation::code).collect::<Vec<_>>(), [Code::InvalidJson]);
}

/// A list of conditions that is left out must not send every visitor to the rule's target.
#[test]
fn d133_conditions_are_required() {
    let target = "https://example.com/";
    for (rule, found) in [
        (json!({ "target_url": target }), ("rules[0].conditions", Code::Required)),
        (json!({ "conditions": null, "target_url": target }), ("rules[0].conditions", Code::NotNullable)),
        (json!({ "id": null, "conditions": [], "target_url": target }), ("rules[0].id", Code::NotNullable)),
    ] {
        assert_eq!(violations_of(&json!([rule.clone()])), expected(&[found]), "{rule}");
        let mut violations = Violations::new();
        let drafts = read_rules_text(&json!([rule]).to_string(), "rules", &mut violations).unwrap();
        assert_eq!((drafts.len(), violations.count()), (1, 1));
    }
}

/// Items beyond the largest number cost no memory, whatever they are.
#[test]
fn d133_of_a_list_that_is_too_long_no_more_items_are_kept() {
    let mut violations = Violations::new();
    let drafts = read_rules(&json!(vec![7; 10_000]), "rules", &mut violations).unwrap();
    assert_eq!((drafts.len(), violations.count()), (Rules::MAX, Rules::MAX + 1));
}

#[test]
fn d133_each_type_of_conditions_has_its_bounds() {
    let many = |item: &str, count: usize| json!(vec![item; count]);
    let too_many = [vec![""], vec!["Chrome"; 19], vec![""]].concat();
    for (condition, found) in [
        (json!({ "type": "country", "in": ["de", "AT"] }), vec![]),
        (json!({ "type": "country", "in": [] }), vec![("~.in", Code::TooFewItems)]),
        (json!({ "type": "country", "in": many("DE", 251) }), vec![("~.in", Code::TooManyItems)]),
        (json!({ "type": "country" }), vec![("~.in", Code::Required)]),
        (json!({ "type": "country", "in": null }), vec![("~.in", Code::NotNullable)]),
        (json!({ "type": "country", "in": "DE" }), vec![("~.in", Code::InvalidType)]),
        (json!({ "type": "country", "in": ["DE"], "not": true }), vec![]),
        (json!({ "type": "country", "in": ["DE"], "not": 1 }), vec![("~.not", Code::InvalidType)]),
        (json!({ "type": "country", "in": ["DE"], "not": null }), vec![("~.not", Code::NotNullable)]),
        (json!({ "type": "country", "in": ["DE"], "is": "x" }), vec![("~.is", Code::UnknownField)]),
        (
            json!({ "type": "moon", "in": ["full"], "days": [], "phase": 1 }),
            vec![("~.type", Code::InvalidValue), ("~.phase", Code::UnknownField)],
        ),
        (
            json!({ "type": "browser", "in": too_many }),
            vec![("~.in", Code::TooManyItems), ("~.in[0]", Code::TooShort)],
        ),
        (json!({ "type": "device", "in": ["mobile", "phone"] }), vec![("~.in[1]", Code::InvalidValue)]),
        (json!({ "type": "os", "in": ["iOS", ""] }), vec![("~.in[1]", Code::TooShort)]),
        (json!({ "type": "browser", "in": many("Chrome", 21) }), vec![("~.in", Code::TooManyItems)]),
        (json!({ "type": "language", "in": ["de-AT", "german"] }), vec![("~.in[1]", Code::InvalidFormat)]),
        (json!({ "type": "date", "from": "2026-11-27T08:00:00+01:00" }), vec![]),
        (json!({ "type": "date" }), vec![("~", Code::Required)]),
        (json!({ "type": "date", "from": "soon" }), vec![("~.from", Code::InvalidFormat)]),
        (
            json!({ "type": "date", "from": "2026-11-27T08:00:00Z", "until": "2026-11-27T08:00:00Z" }),
            vec![("~.until", Code::InvalidValue)],
        ),
        (
            json!({ "type": "hours", "timezone": "europe/berlin", "days": [1, 5], "from": "22:00", "until": "04:00" }),
            vec![],
        ),
        (
            json!({ "type": "hours", "timezone": "Mars", "days": [0, "1"], "from": "9", "until": null }),
            vec![
                ("~.timezone", Code::InvalidValue),
                ("~.days[0]", Code::OutOfRange),
                ("~.days[1]", Code::InvalidType),
                ("~.from", Code::InvalidFormat),
                ("~.until", Code::NotNullable),
            ],
        ),
        (json!({ "type": "query", "name": "a", "is": "present" }), vec![]),
        (
            json!({ "type": "query", "name": "a", "is": "present", "value": "" }),
            vec![("~.value", Code::InvalidValue)],
        ),
        (
            json!({ "type": "query", "name": "", "is": "equals" }),
            vec![("~.name", Code::TooShort), ("~.value", Code::Required)],
        ),
        (
            json!({ "type": "query", "name": "a", "is": "equals", "value": "x".repeat(256) }),
            vec![("~.value", Code::TooLong)],
        ),
        (json!({ "type": "referrer", "in": ["", "Bücher.example"] }), vec![]),
        (json!({ "type": "referrer", "in": ["https://example.com"] }), vec![("~.in[0]", Code::InvalidValue)]),
        (
            json!({ "type": "network", "in": ["10.0.0.0/8", "::1", "10.0.0.0/33"] }),
            vec![("~.in[2]", Code::InvalidFormat)],
        ),
    ] {
        assert_eq!(of_condition(&condition), expected(&found), "{condition}");
    }
}

/// ADR 87: rows of today must stay readable for ever.
#[test]
fn the_stored_form_never_changes() {
    let stored = json!({ "key": "000102030405060708090a0b0c0d0e0f", "list": [
        { "id": "rul_019b5a3c6e2d7f4880112233445566aa", "name": "app", "conditions": [
            { "type": "country", "not": false, "in": ["DE"] },
            { "type": "device", "not": true, "in": ["mobile"] },
            { "type": "date", "not": false, "from": "2026-11-27T08:00:00.000Z", "until": null },
            { "type": "hours", "not": false, "timezone": "Europe/Berlin", "days": [1, 7], "from": "22:00", "until": "04:30" },
            { "type": "query", "not": false, "name": "a b", "is": "equals", "value": "" },
        ], "target_url": "https://example.com/" },
        { "id": "rul_ffffffffffffffffffffffffffffffff", "name": null, "conditions": [
            { "type": "os", "not": false, "in": ["iOS"] },
            { "type": "browser", "not": false, "in": ["Chrome"] },
            { "type": "language", "not": false, "in": ["de-AT"] },
            { "type": "referrer", "not": false, "in": ["", "example.com"] },
            { "type": "network", "not": false, "in": ["192.0.2.0/24", "2001:db8::1/128"] },
        ], "split": [
            { "name": "a", "target_url": "https://example.com/a", "weight": 1 },
            { "name": "b", "target_url": "https://example.com/b", "weight": 1000 },
        ] },
    ] });
    let rules = Rules::from_stored_json(stored.as_object().unwrap().clone()).unwrap();
    assert_eq!(rules.to_stored().to_string(), stored.to_string());
    assert_eq!(rules.split_key().map(SplitKey::to_hex).as_deref(), Some("000102030405060708090a0b0c0d0e0f"));
}

/// ADR 35: values that today's rules refuse are read, unless they are not safe.
#[test]
fn stored_values_are_checked_for_safety_only() {
    let read = |list: Value| {
        let stored = json!({ "key": "000102030405060708090a0b0c0d0e0f", "list": list });
        Rules::from_stored_json(stored.as_object().unwrap().clone()).is_ok()
    };
    let rule = |condition: Value| json!([{ "id": "rul_019b5a3c6e2d7f4880112233445566aa", "conditions": [condition], "target_url": "https://example.com/" }]);
    assert!(read(rule(json!({ "type": "country", "in": ["XX"] }))));
    let atlantis = json!({ "type": "hours", "timezone": "Europe/Atlantis", "days": [1], "from": "00:00", "until": "00:00" });
    assert!(read(rule(atlantis)));
    for unsafe_or_unknown in [
        json!({ "type": "country", "in": [] }),
        json!({ "type": "country", "in": ["de"] }),
        json!({ "type": "moon", "in": ["full"] }),
        json!({ "type": "country", "in": ["DE"], "at_least": 2 }),
        json!({ "type": "os", "in": ["a\nb"] }),
        json!({ "type": "network", "in": ["x"] }),
    ] {
        assert!(!read(rule(unsafe_or_unknown.clone())), "{unsafe_or_unknown}");
    }
    assert!(!read(json!([])));
    assert!(!read(json!([{ "conditions": [], "target_url": "https://example.com/" }])), "no id");
    let id = "rul_019b5a3c6e2d7f4880112233445566aa";
    assert!(!read(json!([{ "id": id, "target_url": "https://example.com/" }])), "not for every visitor");
    let script = json!([{ "id": "rul_019b5a3c6e2d7f4880112233445566aa", "conditions": [], "target_url": "javascript:alert(1)" }]);
    assert!(!read(script));
    assert!(Rules::from_stored_json(Map::new()).is_err());
}

proptest! {
    #[test]
    fn d133_d134_every_rule_reads_back_from_a_row_and_from_an_answer(rules in any_rules()) {
        if !rules.is_empty() {
            let stored = rules.to_stored().as_object().unwrap().clone();
            prop_assert_eq!(Rules::from_stored_json(stored), Ok(rules.clone()));
        }
        let mut violations = Violations::new();
        let drafts = read_rules(&rules.to_value(), "rules", &mut violations).unwrap_or_default();
        prop_assert!(violations.is_empty(), "{violations}");
        let list: Option<Vec<Rule>> = drafts.into_iter().map(stored_rule).collect();
        prop_assert_eq!(list.as_deref(), Some(rules.as_slice()));
    }

    #[test]
    fn no_text_in_the_place_of_rules_breaks_the_reader(text in ".{0,200}") {
        let mut violations = Violations::new();
        let _ = read_rules_text(&text, "rules", &mut violations);
        let _ = read_rules(&Value::String(text), "rules", &mut violations);
    }
}
