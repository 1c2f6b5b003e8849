//! Rules as JSON: as requests and answers have them, and in the form in which stores keep them (ADR 87).
//!
//! The stored form is an object of the key of the splits and the list of rules as answers have it. One reader serves requests of the
//! API, files of links, and rows. Of a request or a file it collects all violations, each with its path, by the current rules (D8). Of a
//! row it accepts whatever is safe to use (ADR 35).

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::condition::{AnyOf, Condition, DateRange, QueryIs, QueryTest, Test};
use super::hours::{Hours, TimeOfDay, Weekday, Weekdays, ZoneName};
use super::json_reader::{Form, Mode, Object, lax};
use super::names::{AgentName, Device, QueryText, RuleName, Weight};
use super::places::{Network, ReferrerHost};
use super::request::{RuleDraft, RuleTargetDraft, VariantDraft, too_few_variants};
use super::split::{Split, SplitKey, Variant};
use super::{Rule, RuleTarget, Rules};
use crate::country_code::CountryCode;
use crate::language_tag::LanguageTag;
use crate::reference::IdReference;
use crate::stored::MalformedStored;
use crate::target_url::TargetUrl;
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode, Violations};

const KEY: &str = "key";
const LIST: &str = "list";

/// Reads the rules of a request in the field at `path`. Adds a violation for each mistake. An item of the answer is missing if it is not
/// an object, and so are the parts of rules that could not be read. Of a list that is too long, the answer has as many items as are
/// allowed. `None` if the value is no array.
#[cfg(feature = "routing")]
#[must_use]
pub fn read_rules(value: &Value, path: &str, violations: &mut Violations) -> Option<Vec<Option<RuleDraft>>> {
    list_of_rules(value, path, Mode::Request, violations)
}

/// As [`read_rules`], of a JSON text. A text that is not JSON is `invalid_json`.
#[cfg(feature = "routing")]
#[must_use]
pub fn read_rules_text(
    json: &str,
    path: &str,
    violations: &mut Violations,
) -> Option<Vec<Option<RuleDraft>>> {
    if let Ok(value) = serde_json::from_str(json) {
        return read_rules(&value, path, violations);
    }
    violations.push(FieldError::new(ViolationCode::InvalidJson, "must be a JSON array").at(path));
    None
}

impl Rules {
    /// The rules as answers have them: a JSON array.
    #[must_use]
    pub fn to_value(&self) -> Value {
        self.as_slice().iter().map(rule_to_value).collect()
    }

    /// The stored form.
    pub(crate) fn to_stored(&self) -> Value {
        object([(KEY, self.split_key().unwrap_or_default().to_hex().into()), (LIST, self.to_value())])
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// It is not of this form, has something that this version does not know, or a value is not safe to use.
    pub(crate) fn from_stored_json(fields: Map<String, Value>) -> Result<Self, MalformedStored> {
        const MALFORMED: MalformedStored = MalformedStored("does not have rules");
        let (mut key, mut list) = (None, None);
        for (name, value) in fields {
            match (name.as_str(), value) {
                (KEY, Value::String(hex)) => key = SplitKey::from_hex(&hex),
                (LIST, value @ Value::Array(_)) => {
                    let mut violations = Violations::new();
                    let drafts = list_of_rules(&value, LIST, Mode::Stored, &mut violations);
                    list = drafts.filter(|drafts| violations.is_empty() && !drafts.is_empty());
                }
                _ => return Err(MALFORMED),
            }
        }
        let list: Option<Vec<Rule>> = list.ok_or(MALFORMED)?.into_iter().map(stored_rule).collect();
        Self::from_stored(key.ok_or(MALFORMED)?, list.ok_or(MALFORMED)?)
    }
}

/// The rule of a draft in which nothing is missing.
fn stored_rule(draft: Option<RuleDraft>) -> Option<Rule> {
    let RuleDraft { id, name, conditions, leads_to } = draft?;
    let leads_to = match leads_to? {
        RuleTargetDraft::Target(target) => RuleTarget::Target(target),
        RuleTargetDraft::Split(variants) => {
            let variants = variants.into_iter().map(|VariantDraft { name, target_url, weight }| {
                Some(Variant { name: name?, target_url: target_url?, weight: weight? })
            });
            let variants: Vec<Variant> = variants.collect::<Option<_>>()?;
            RuleTarget::Split(Split::from_stored(variants).ok()?)
        }
    };
    Some(Rule { id: id?.id()?, name, conditions: conditions.into_iter().collect::<Option<_>>()?, leads_to })
}

fn object(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn rule_to_value(rule: &Rule) -> Value {
    let Rule { id, name, conditions, leads_to } = rule;
    let leads_to = match leads_to {
        RuleTarget::Target(target) => ("target_url", target.as_str().into()),
        RuleTarget::Split(split) => {
            let variants = split.as_slice().iter().map(|Variant { name, target_url, weight }| {
                object([
                    ("name", name.as_str().into()),
                    ("target_url", target_url.as_str().into()),
                    ("weight", weight.get().into()),
                ])
            });
            ("split", variants.collect())
        }
    };
    object([
        ("id", id.to_string().into()),
        ("name", name.as_ref().map(RuleName::as_str).into()),
        ("conditions", conditions.iter().map(condition_to_value).collect()),
        leads_to,
    ])
}

fn condition_to_value(condition: &Condition) -> Value {
    fn texts<T>(items: &AnyOf<T>, text: impl Fn(&T) -> String) -> Vec<(&'static str, Value)> {
        vec![(AnyOf::<T>::FIELD, items.iter().map(text).collect())]
    }
    let Condition { test, is_negated } = condition;
    let own = match test {
        Test::Country(items) => texts(items, ToString::to_string),
        Test::Device(items) => texts(items, ToString::to_string),
        Test::Os(items) | Test::Browser(items) => texts(items, ToString::to_string),
        Test::Language(items) => texts(items, |tag| tag.as_str().to_owned()),
        Test::Referrer(items) => texts(items, |host| host.as_str().to_owned()),
        Test::Network(items) => texts(items, ToString::to_string),
        Test::Date(range) => {
            let text = |instant: Option<Timestamp>| instant.map(|instant| instant.to_string()).into();
            vec![(DateRange::FROM, text(range.from())), (DateRange::UNTIL, text(range.until()))]
        }
        Test::Hours(Hours { timezone, days, from, until }) => vec![
            ("timezone", timezone.as_str().into()),
            ("days", days.iter().map(Weekday::number).collect()),
            ("from", from.to_string().into()),
            ("until", until.to_string().into()),
        ],
        Test::Query(QueryTest { name, is }) => {
            let mut fields = vec![("name", name.as_str().into()), ("is", is.name().into())];
            if let QueryIs::Equals(value) = is {
                fields.push(("value", value.as_str().into()));
            }
            fields
        }
    };
    object([("type", test.type_name().into()), ("not", (*is_negated).into())].into_iter().chain(own))
}

fn list_of_rules(
    value: &Value,
    path: &str,
    mode: Mode,
    violations: &mut Violations,
) -> Option<Vec<Option<RuleDraft>>> {
    let Value::Array(items) = value else {
        violations.push(FieldError::new(ViolationCode::InvalidType, "must be an array").at(path));
        return None;
    };
    Some(Object::read_items(items, path, Rules::MAX, mode, violations, rule))
}

fn rule(object: &mut Object<'_>) -> RuleDraft {
    let id = object.optional_text(
        "id",
        &Form::new(|text| Ok(IdReference::parse(text)), |text| Ok(IdReference::parse(text))),
    );
    let name =
        object.text("name", &Form::new(RuleName::parse, |text| lax(RuleName::from_stored(text.to_owned()))));
    // A list that is missing or could not be read is not one without conditions, which only the last rule may have.
    let conditions = object.required_objects("conditions", Rule::MAX_CONDITIONS, condition);
    let conditions = conditions.unwrap_or_else(|| vec![None]).into_iter().map(Option::flatten).collect();
    let split = object.objects("split", Split::MAX, variant);
    let split = split.filter(|variants| {
        let are_enough = variants.len() >= Split::MIN || !object.is_of_request();
        if !are_enough {
            object.refuse_with("split", too_few_variants());
        }
        are_enough
    });
    let target = object.text("target_url", &TARGET);
    let leads_to = match (object.has("target_url"), object.has("split")) {
        (true, false) => target.map(RuleTargetDraft::Target),
        (false, true) => split
            .map(|split| RuleTargetDraft::Split(split.into_iter().map(Option::unwrap_or_default).collect())),
        (true, true) => {
            object.refuse("split", ViolationCode::InvalidValue, "must be absent beside `target_url`");
            None
        }
        (false, false) => {
            let message = "must have `target_url` or `split`";
            object.refuse_whole(FieldError::new(ViolationCode::Required, message));
            None
        }
    };
    RuleDraft { id, name, conditions, leads_to }
}

const TARGET: Form<TargetUrl> =
    Form::new(TargetUrl::parse, |text| lax(TargetUrl::from_stored(text.to_owned())));

fn variant(object: &mut Object<'_>) -> VariantDraft {
    let name = Form::new(RuleName::parse, |text| lax(RuleName::from_stored(text.to_owned())));
    VariantDraft {
        name: object.required_text("name", &name),
        target_url: object.required_text("target_url", &TARGET),
        weight: object.required_number("weight", Weight::parse),
    }
}

fn condition(object: &mut Object<'_>) -> Option<Condition> {
    let is_negated = object.flag("not").unwrap_or_default();
    let kind = Form::new(type_name, type_name);
    let Some(kind) = object.required_text("type", &kind) else {
        // Without a type, only the fields of no type are certainly unknown.
        object.skip(fields_of_types());
        return None;
    };
    test(kind, object).map(|test| Condition { test, is_negated })
}

fn type_name(text: &str) -> Result<&'static str, FieldError> {
    Test::TYPES.into_iter().find(|name| *name == text).ok_or_else(|| {
        let message = format!("must be one of {}", Test::TYPES.join(", "));
        FieldError::new(ViolationCode::InvalidValue, message)
    })
}

/// The fields of all types of conditions.
fn fields_of_types() -> BTreeSet<&'static str> {
    Test::TYPES.into_iter().flat_map(|kind| Object::field_names(|object| drop(test(kind, object)))).collect()
}

/// Takes the fields of one type of conditions.
fn test(kind: &'static str, object: &mut Object<'_>) -> Option<Test> {
    const AGENT: Form<AgentName> =
        Form::new(AgentName::parse, |text| lax(AgentName::from_stored(text.to_owned())));
    const TAG: Form<LanguageTag> =
        Form::new(LanguageTag::parse, |text| lax(LanguageTag::from_stored(text.to_owned())));
    const HOST: Form<ReferrerHost> =
        Form::new(ReferrerHost::parse, |text| lax(ReferrerHost::from_stored(text.to_owned())));
    const COUNTRY: Form<CountryCode> =
        Form::new(CountryCode::parse, |text| lax(CountryCode::from_stored(text)));
    const NETWORK: Form<Network> = Form::new(Network::parse, |text| lax(Network::from_stored(text)));
    const DEVICE: Form<Device> = Form::new(Device::parse, Device::parse);
    let most = Condition::MAX_ITEMS;
    match kind {
        "country" => object.any_of(&COUNTRY, Condition::MAX_COUNTRIES).map(Test::Country),
        "device" => object.any_of(&DEVICE, most).map(Test::Device),
        "os" => object.any_of(&AGENT, most).map(Test::Os),
        "browser" => object.any_of(&AGENT, most).map(Test::Browser),
        "language" => object.any_of(&TAG, most).map(Test::Language),
        "referrer" => object.any_of(&HOST, most).map(Test::Referrer),
        "network" => object.any_of(&NETWORK, most).map(Test::Network),
        "date" => date(object).map(Test::Date),
        "hours" => hours(object).map(Test::Hours),
        "query" => query(object).map(Test::Query),
        _ => None,
    }
}

fn date(object: &mut Object<'_>) -> Option<DateRange> {
    let instant = Form::new(Timestamp::parse, Timestamp::parse);
    let before = object.count();
    let from = object.text(DateRange::FROM, &instant);
    let until = object.text(DateRange::UNTIL, &instant);
    if object.count() > before {
        return None;
    }
    if from.is_none() && until.is_none() {
        object.refuse_whole(FieldError::new(ViolationCode::Required, "must have `from` or `until`"));
        return None;
    }
    DateRange::new(from, until).map_err(|(field, error)| object.refuse_with(field, error)).ok()
}

fn hours(object: &mut Object<'_>) -> Option<Hours> {
    let time = Form::new(TimeOfDay::parse, TimeOfDay::parse);
    let timezone = object.required_text("timezone", &ZONE);
    let days = object.numbers("days", Weekdays::MAX, Weekday::parse);
    let days =
        days.and_then(|days| Weekdays::new(&days).map_err(|error| object.refuse_with("days", error)).ok());
    let from = object.required_text("from", &time);
    let until = object.required_text("until", &time);
    Some(Hours { timezone: timezone?, days: days?, from: from?, until: until? })
}

#[cfg(feature = "routing")]
const ZONE: Form<ZoneName> = Form::new(ZoneName::parse, |text| lax(ZoneName::from_stored(text.to_owned())));
#[cfg(not(feature = "routing"))]
const ZONE: Form<ZoneName> = Form::stored(|text| lax(ZoneName::from_stored(text.to_owned())));

fn query(object: &mut Object<'_>) -> Option<QueryTest> {
    let stored = |text: &str| lax(QueryText::from_stored(text.to_owned()));
    let name = object.required_text("name", &Form::new(QueryText::parse_name, stored));
    let is = object.required_text("is", &Form::new(query_is, query_is));
    let has_value = object.has("value");
    let value = object.text("value", &Form::new(QueryText::parse_value, stored));
    let is = match (is?, has_value) {
        ("equals", true) => QueryIs::Equals(value?),
        ("equals", false) => {
            object.refuse("value", ViolationCode::Required, "is required with `equals`");
            return None;
        }
        (_, true) => {
            object.refuse("value", ViolationCode::InvalidValue, "must be absent, unless `is` is `equals`");
            return None;
        }
        ("present", false) => QueryIs::Present,
        (_, false) => QueryIs::Absent,
    };
    Some(QueryTest { name: name?, is })
}

fn query_is(text: &str) -> Result<&'static str, FieldError> {
    QueryIs::NAMES.into_iter().find(|name| *name == text).ok_or_else(|| {
        let message = format!("must be one of {}", QueryIs::NAMES.join(", "));
        FieldError::new(ViolationCode::InvalidValue, message)
    })
}

#[cfg(test)]
#[cfg(feature = "routing")]
#[path = "json_tests.rs"]
mod tests;
