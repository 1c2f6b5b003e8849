//! JSON values, read more strictly than JSON itself asks: as the API reads bodies (D10).

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use signpost_app::transfer::{Field, FieldValue, Record};

/// A JSON value. Numbers are not told apart: no field is one.
#[derive(Debug, PartialEq)]
pub(crate) enum JsonValue {
    Null,
    Flag(bool),
    Number,
    Text(String),
    List(Vec<Self>),
    /// A name stands in it once.
    Object(BTreeMap<String, Self>),
}

impl<'de> Deserialize<'de> for JsonValue {
    /// The parser bounds how deep values may stand in one another.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = JsonValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<JsonValue, E> {
        Ok(JsonValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<JsonValue, E> {
        Ok(JsonValue::Flag(value))
    }

    fn visit_i64<E>(self, _: i64) -> Result<JsonValue, E> {
        Ok(JsonValue::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<JsonValue, E> {
        Ok(JsonValue::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<JsonValue, E> {
        Ok(JsonValue::Number)
    }

    fn visit_str<E>(self, value: &str) -> Result<JsonValue, E> {
        Ok(JsonValue::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<JsonValue, E> {
        Ok(JsonValue::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<JsonValue, A::Error> {
        let mut list = vec![];
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(JsonValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<JsonValue, A::Error> {
        let mut object = BTreeMap::new();
        while let Some((name, value)) = members.next_entry::<String, _>()? {
            if object.contains_key(&name) {
                let name: String = name.chars().take(100).collect();
                return Err(A::Error::custom(format_args!("the name {name:?} stands twice in one object")));
            }
            object.insert(name, value);
        }
        Ok(JsonValue::Object(object))
    }
}

/// How much of the name of an unknown field is repeated.
const NAME_CHARS: usize = 100;

/// The record that an object holds.
pub(crate) fn record(members: BTreeMap<String, JsonValue>) -> Record {
    let mut record = Record::default();
    for (name, value) in members {
        match Field::named(&name) {
            Some(Field::GeoBlocklists) => record.set(Field::GeoBlocklists, countries(value)),
            Some(field) => record.set(field, plain(value)),
            None => record.set_unknown(name.chars().take(NAME_CHARS).collect::<String>()),
        }
    }
    record
}

fn plain(value: JsonValue) -> FieldValue {
    match value {
        JsonValue::Null => FieldValue::Null,
        JsonValue::Flag(flag) => FieldValue::Flag(flag),
        JsonValue::Text(text) => FieldValue::Text(text),
        JsonValue::Number | JsonValue::List(_) | JsonValue::Object(_) => FieldValue::Unfit,
    }
}

/// `{"countries": ["DE", …]}`, as in the API.
fn countries(value: JsonValue) -> FieldValue {
    let mut members = match value {
        JsonValue::Null => return FieldValue::Null,
        JsonValue::Object(members) => members,
        JsonValue::Flag(_) | JsonValue::Number | JsonValue::Text(_) | JsonValue::List(_) => {
            return FieldValue::Unfit;
        }
    };
    let countries = match members.remove("countries") {
        Some(JsonValue::List(countries)) if members.is_empty() => countries,
        Some(_) | None => return FieldValue::Unfit,
    };
    let text = |value| match value {
        JsonValue::Text(text) => Some(text),
        JsonValue::Null
        | JsonValue::Flag(_)
        | JsonValue::Number
        | JsonValue::List(_)
        | JsonValue::Object(_) => None,
    };
    countries.into_iter().map(text).collect::<Option<_>>().map_or(FieldValue::Unfit, FieldValue::Countries)
}
