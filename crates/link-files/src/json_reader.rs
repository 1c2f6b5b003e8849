//! Reads JSON lines one by one.

use std::io::{self, Read};

use signpost_app::transfer::{Field, FieldForm, FieldValue, ImportRow, Record};
use signpost_strict_json::{Json, JsonObject};

use crate::MAX_ROW_BYTES;
use crate::input::Input;

/// How many characters of an unknown field's name are kept.
const NAME_CHARS: usize = 100;

/// The object of the next line; `None` at the end. Blank lines are skipped.
pub(crate) fn next_object<R: Read>(input: &mut Input<R>) -> io::Result<Option<ImportRow>> {
    loop {
        input.skip_line_ends()?;
        let line = input.line();
        if input.peek()?.is_empty() {
            return Ok(None);
        }
        let record = match input.read_line(MAX_ROW_BYTES)? {
            Some(text) if text.iter().all(u8::is_ascii_whitespace) => continue,
            Some(text) => parse(&text),
            None => Err("The row is longer than 1 MiB.".to_owned()),
        };
        return Ok(Some(ImportRow { line, record }));
    }
}

fn parse(line: &[u8]) -> Result<Record, String> {
    match signpost_strict_json::parse(line) {
        Ok(Json::Object(members)) => Ok(record(members, line)),
        Ok(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::List(_)) => {
            Err("The line is not a JSON object.".to_owned())
        }
        Err(error) => {
            let (what, column) = (error.what(), error.column());
            Err(format!("The line is not valid JSON: {what}, at column {column}."))
        }
    }
}

/// The record of the object in a line.
fn record(members: JsonObject, line: &[u8]) -> Record {
    let mut record = Record::default();
    for (name, value) in members {
        match Field::named(&name) {
            Some(field) if field.form() == FieldForm::Countries => record.set(field, countries(value)),
            Some(field) if field.form() == FieldForm::Names => record.set(field, names(value)),
            Some(field) if matches!(field.form(), FieldForm::Number | FieldForm::NullableNumber) => {
                record.set(field, number(value));
            }
            Some(field) if field.form() == FieldForm::Json => record.set(field, json(&value, line, &name)),
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
        Json::Number(_) | Json::List(_) | Json::Object(_) => FieldValue::Unfit,
    }
}

/// A whole number.
fn number(value: Json) -> FieldValue {
    match value {
        Json::Number(Some(number)) => FieldValue::Number(number),
        other => plain(other),
    }
}

/// `{"countries": ["DE", …]}`, as in the API.
fn countries(value: Json) -> FieldValue {
    let mut members = match value {
        Json::Null => return FieldValue::Null,
        Json::Object(members) => members,
        Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::List(_) => {
            return FieldValue::Unfit;
        }
    };
    let countries = match members.remove("countries") {
        Some(Json::List(countries)) if members.is_empty() => countries,
        Some(_) | None => return FieldValue::Unfit,
    };
    texts(countries).map_or(FieldValue::Unfit, FieldValue::Countries)
}

/// `["Sale", …]`, as in the API.
fn names(value: Json) -> FieldValue {
    match value {
        Json::Null => FieldValue::Null,
        Json::List(names) => texts(names).map_or(FieldValue::Unfit, FieldValue::Names),
        Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::Object(_) => FieldValue::Unfit,
    }
}

/// An array as it stands in the line: the use case reads what is in it.
fn json(value: &Json, line: &[u8], name: &str) -> FieldValue {
    match value {
        Json::List(_) => signpost_strict_json::member_text(line, name)
            .map_or(FieldValue::Unfit, |text| FieldValue::Json(text.to_owned())),
        Json::Null => FieldValue::Null,
        Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::Object(_) => FieldValue::Unfit,
    }
}

/// The items of a list of texts.
fn texts(list: Vec<Json>) -> Option<Vec<String>> {
    let text = |value| match value {
        Json::Text(text) => Some(text),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::List(_) | Json::Object(_) => None,
    };
    list.into_iter().map(text).collect()
}
