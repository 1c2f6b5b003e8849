//! What the objects of JSON lines say of links.

use signpost_app::transfer::{Field, FieldValue, Record};
use signpost_strict_json::{Json, JsonObject};

/// How much of the name of an unknown field is repeated.
const NAME_CHARS: usize = 100;

/// The record that an object holds.
pub(crate) fn record(members: JsonObject) -> Record {
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

fn plain(value: Json) -> FieldValue {
    match value {
        Json::Null => FieldValue::Null,
        Json::Bool(flag) => FieldValue::Flag(flag),
        Json::Text(text) => FieldValue::Text(text),
        Json::Number | Json::List(_) | Json::Object(_) => FieldValue::Unfit,
    }
}

/// `{"countries": ["DE", …]}`, as in the API.
fn countries(value: Json) -> FieldValue {
    let mut members = match value {
        Json::Null => return FieldValue::Null,
        Json::Object(members) => members,
        Json::Bool(_) | Json::Number | Json::Text(_) | Json::List(_) => {
            return FieldValue::Unfit;
        }
    };
    let countries = match members.remove("countries") {
        Some(Json::List(countries)) if members.is_empty() => countries,
        Some(_) | None => return FieldValue::Unfit,
    };
    let text = |value| match value {
        Json::Text(text) => Some(text),
        Json::Null | Json::Bool(_) | Json::Number | Json::List(_) | Json::Object(_) => None,
    };
    countries.into_iter().map(text).collect::<Option<_>>().map_or(FieldValue::Unfit, FieldValue::Countries)
}
