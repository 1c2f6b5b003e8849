//! Random values that match a schema, and values that may violate it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::string::string_regex;
use serde_json::{Map, Value, json};

use crate::document::Document;

/// Existing ids by their prefix, such as `rdr_`.
pub type KnownIds = BTreeMap<String, Vec<String>>;

/// The document, and the ids that generated values use.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    pub(crate) document: &'static Document,
    pub(crate) ids: &'a KnownIds,
}

impl World<'_> {
    /// A value that matches the schema.
    pub(crate) fn value(self, schema: &'static Value) -> BoxedStrategy<Value> {
        let schema = self.document.resolve(schema);
        if let Some(only) = schema.get("const") {
            return Just(only.clone()).boxed();
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return prop::sample::select(values.clone()).boxed();
        }
        for combination in ["anyOf", "oneOf"] {
            if let Some(schemas) = schema.get(combination).and_then(Value::as_array) {
                return proptest::strategy::Union::new(schemas.iter().map(|schema| self.value(schema)))
                    .boxed();
            }
        }
        let types: Vec<&str> = match &schema["type"] {
            Value::String(only) => vec![only],
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            _ => return junk().boxed(),
        };
        let of_types =
            types.into_iter().map(|name| (if name == "null" { 1 } else { 4 }, self.of_type(name, schema)));
        proptest::strategy::Union::new_weighted(of_types.collect()).boxed()
    }

    fn of_type(self, name: &str, schema: &'static Value) -> BoxedStrategy<Value> {
        match name {
            "null" => Just(Value::Null).boxed(),
            "boolean" => any::<bool>().prop_map(Value::from).boxed(),
            "integer" => {
                let bound = |name: &str, otherwise: i64| schema[name].as_i64().unwrap_or(otherwise);
                (bound("minimum", -1_000)..=bound("maximum", 1_000)).prop_map(Value::from).boxed()
            }
            "string" => self.text(schema).prop_map(Value::from).boxed(),
            "array" => {
                let bound = |name: &str, otherwise: usize| {
                    schema[name].as_u64().map_or(otherwise, |bound| usize::try_from(bound).expect("a length"))
                };
                let least = bound("minItems", 0);
                let most = bound("maxItems", 8).min(least + 6);
                prop::collection::vec(self.value(&schema["items"]), least..=most)
                    .prop_map(Value::from)
                    .boxed()
            }
            "object" => self.object(schema),
            unknown => panic!("the document has the type {unknown}"),
        }
    }

    fn text(self, schema: &'static Value) -> BoxedStrategy<String> {
        let examples = schema["examples"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let examples: Vec<String> = examples.map(str::to_owned).collect();
        let pattern = schema["pattern"].as_str().unwrap_or_default();
        let known = self.ids.iter().find(|(prefix, _)| pattern.starts_with(&format!("^{prefix}")));
        let bound = |name: &str| schema[name].as_u64().and_then(|bound| usize::try_from(bound).ok());
        let least = bound("minLength").unwrap_or(0);
        let most = bound("maxLength").unwrap_or(usize::MAX);
        let made_up = match string_regex(pattern.trim_start_matches('^').trim_end_matches('$')) {
            Ok(matching) if !pattern.is_empty() => {
                let fits = move |text: &String| (least..=most).contains(&text.chars().count());
                match examples.first().cloned() {
                    // Few of the texts that match the pattern of a language are short enough, and too many refusals end a test.
                    Some(example) => matching
                        .prop_map(move |text| if fits(&text) { text } else { example.clone() })
                        .boxed(),
                    None => matching.prop_filter("its length is out of bounds", fits).boxed(),
                }
            }
            // The generator cannot read every pattern.
            _ => {
                let any = prop::collection::vec(prop::char::range(' ', '~'), least..=most.min(least.max(20)));
                any.prop_map(String::from_iter).boxed()
            }
        };
        let mut sources = vec![(2, made_up)];
        if !examples.is_empty() {
            sources.push((2, prop::sample::select(examples).boxed()));
        }
        if let Some((_, ids)) = known.filter(|(_, ids)| !ids.is_empty()) {
            sources.push((6, prop::sample::select(ids.clone()).boxed()));
        }
        proptest::strategy::Union::new_weighted(sources).boxed()
    }

    fn object(self, schema: &'static Value) -> BoxedStrategy<Value> {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut members = Just(Map::new()).boxed();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let member = self.value(property);
            let member = if required.contains(&name.as_str()) {
                member.prop_map(Some).boxed()
            } else {
                prop::option::weighted(0.35, member).boxed()
            };
            let name = name.clone();
            members = (members, member)
                .prop_map(move |(mut members, member)| {
                    if let Some(member) = member {
                        members.insert(name.clone(), member);
                    }
                    members
                })
                .boxed();
        }
        members.prop_map(Value::Object).boxed()
    }
}

/// Any JSON value.
pub(crate) fn junk() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        "\\PC{0,12}".prop_map(Value::from),
        "[a-z]{3}_[0-9a-f]{32}".prop_map(Value::from),
        Just(json!("\u{0}\u{202e}\r\n")),
        (100..3_000_usize).prop_map(|length| json!("x".repeat(length))),
    ];
    leaf.prop_recursive(3, 16, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The value with one change: a replaced value, or one member less or more.
pub(crate) fn malformed(value: Value) -> impl Strategy<Value = Value> {
    let places = places(&value);
    (prop::sample::select(places), junk(), 0..4_u8).prop_map(move |(place, junk, way)| {
        let mut value = value.clone();
        match value.pointer_mut(&place) {
            Some(Value::Object(members)) if way == 0 => {
                members.insert("unheard_of".to_owned(), junk);
            }
            Some(Value::Object(members)) if way == 1 && !members.is_empty() => {
                let first = members.keys().next().cloned();
                first.and_then(|name| members.remove(&name));
            }
            Some(Value::Array(items)) if way < 2 => {
                let first = items.first().cloned().unwrap_or(junk);
                items.extend(std::iter::repeat_n(first, 101));
            }
            Some(place) => *place = junk,
            None => {}
        }
        value
    })
}

/// The JSON pointers of all values within a value, including itself.
fn places(value: &Value) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut add = |name: &str, inner: &Value| {
        let name = name.replace('~', "~0").replace('/', "~1");
        all.extend(places(inner).into_iter().map(|place| format!("/{name}{place}")));
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, inner)| add(name, inner)),
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                add(&index.to_string(), inner);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    all
}
